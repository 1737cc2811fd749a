"""Corroboration as a test reads it, once nothing is at work any more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.pages.application import until

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = "corroboration.py"


def shown(test: AppTest, until_shown: str) -> AppTest:
    """The page once nothing is at work any more."""
    test.switch_page(PAGE)

    def ready() -> bool:
        test.run()
        told = {metric.label: metric.delta for metric in test.metric}
        waiting = {"being looked for", "being read", "measuring width"} & set(told.values())
        return bool(getattr(test, until_shown)) and not test.get("progress") and not waiting

    until(ready, limit=60)
    assert not test.exception
    return test


def figures(test: AppTest) -> dict[str, tuple[str, str]]:
    return {metric.label: (metric.value, metric.delta) for metric in test.metric}


def said(test: AppTest) -> str:
    kinds = (test.caption, test.info, test.warning, test.markdown, test.text, test.error, test.success)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def charts(test: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in test.get("plotly_chart")]


def table(test: AppTest, column: str) -> Any:  # noqa: ANN401 - a frame
    return next(frame.value for frame in test.dataframe if column in frame.value.columns)

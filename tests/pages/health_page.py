"""Health as a test opens and reads it."""

from __future__ import annotations

import base64
import json
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from queries.scope import EVERYTHING, Scope
from tests.health_store import NOW
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

# the column that no other table of the page has
OWN_COLUMN = {
    "checks": "limits", "organizations": "act", "top": "content", "budget": "work", "passes": "finished",
    "writers": "written", "findings": "sentence", "server_checks": "bands",
}  # fmt: skip
SCOPE = Scope.of_days(EVERYTHING, NOW.date() - timedelta(days=29), NOW.date(), "org_a")


@contextmanager
def health(address: str, **said: str) -> Iterator[AppTest]:
    with application(address, **said) as test:
        test.run()
        test.switch_page("health.py")
        for name, value in said.items():
            test.query_params[name] = value
        yield test.run()


def alerts(test: AppTest) -> list[str]:
    return [alert.value for kind in (test.error, test.warning, test.info) for alert in kind]


def table(test: AppTest, key: str) -> Any:  # noqa: ANN401 - a frame
    return next(each.value for each in test.dataframe if OWN_COLUMN[key] in each.value.columns)


def spec(test: AppTest) -> dict[str, Any]:
    """The picture of the part; that of the days stands before the checks."""
    found: dict[str, Any] = json.loads(test.get("plotly_chart")[-1].proto.spec)
    return found


def days(test: AppTest) -> dict[str, Any]:
    """The picture by day."""
    found: dict[str, Any] = json.loads(test.get("plotly_chart")[0].proto.spec)
    return found


def numbers(sent: Any) -> list[float]:  # noqa: ANN401 - plotly sends numbers as a list or packed
    return sent if isinstance(sent, list) else np.frombuffer(base64.b64decode(sent["bdata"]), sent["dtype"]).tolist()

"""The Inspector as a test opens and reads it, and the memories behind it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.pages.application import application
from tests.retrieval.planted import TEXTS, TWINS, plant

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

WEIGHTS = (0.2, 1.0, 0.9, 1.0, 0.5)
# about 130 tokens each: three fit 500, five fit 750
LONG = tuple(f"{text} {'It was seen more than once. ' * 16}"[:520] for text in TEXTS)
NO_WEIGHTING = '{"feedback_weighting_disabled": true}'


def plant_long(owner: Owner) -> None:
    """Acme; the same with weighting off; and twins, who say nearly the same."""
    plant(owner, "acme", LONG, weights=WEIGHTS)
    plant(owner, "off", LONG, weights=WEIGHTS, features=NO_WEIGHTING)
    plant(owner, "twins", TWINS)


def opened(address: str, **said: str) -> AppTest:
    with application(address, **said) as test:
        test.switch_page("inspector.py").run()
    assert not test.exception
    return test


def param(test: AppTest, name: str) -> str:
    """What the address says; the harness keeps what it was given and what the page wrote in two shapes."""
    found = test.query_params[name]
    return found if isinstance(found, str) else found[0]


def titles(test: AppTest) -> list[str]:
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in test.get("plotly_chart")]


def said(test: AppTest) -> str:
    kinds = (test.error, test.warning, test.info, test.caption, test.text, test.markdown)
    return "\n".join(str(element.value) for kind in kinds for element in kind)

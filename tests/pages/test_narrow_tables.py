"""What a table is read for is in sight in a window of 900 pixels: a memory, a question, a reason, both sides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from controls.grid import WRAPPED
from tests.browser.test_wrapped import LINES
from tests.conftest import NOW
from tests.pages.application import application, until

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

ROOM = 544  # pixels that a window of 900 leaves a table beside the menu
BOXES = 33  # of which the boxes of rows that can be chosen take so many
NAMED = {"small": 75, "medium": 200, "large": 400, None: 200}
TEXTS = {"reason", "worse", "content", "older", "newer", "memory", "words", "text", "diff", "query", "upper", "lower"}
LEAST = 250  # pixels of a text, about 36 characters
LEAST_BROKEN = 340  # and of one in several lines, which end between words
WORDS = {"means": 91}  # pixels of the longest words that are not to be broken, with the cell's edges: against no-go
TIDEWATER = {"org": "org_tidewater", "window": "custom", "from": "2025-12-01", "to": NOW.date().isoformat()}
ASKED = {"org": "org_tidewater", "q": "paging through shipments skips entries", "preset": "INTENDED", "v": "1"}
ANY = {"why": ("id", "observations"), "retrieval": ("retrieval_id", "retrieval_ab_logs")}


def shown(test: AppTest, columns: tuple[str, ...]) -> Any:  # noqa: ANN401 - a table
    """The first table with these columns, once whoever computes it has answered."""

    def found() -> list[Any]:
        return [each for each in test.run().dataframe if set(columns) <= set(each.value.columns)]

    until(found, limit=60)
    assert not test.exception
    return found()[0]


def spans(table: Any) -> dict[str, tuple[int, int]]:  # noqa: ANN401 - a table
    """Where each column begins and ends."""
    config = json.loads(table.proto.columns)
    names = sorted(table.value.columns, key=lambda name: not config.get(name, {}).get("pinned"))
    found, at = {}, BOXES if table.proto.selection_mode else 0
    for name in names:
        width = config.get(name, {}).get("width")
        found[name] = (at, at + NAMED.get(width, width))
        at = found[name][1]
    return found


@pytest.mark.parametrize(
    ("page", "address", "columns"),
    [
        ("feature_flags.py", {}, ("feedback_weighting_disabled", "corroboration_boost_enabled")),
        ("feature_flags.py", {}, ("means", "reason")),
        ("feature_flags.py", {}, ("days", "reason")),
        ("health.py", {**TIDEWATER, "org": ""}, ("worse", "act")),
        ("health.py", {**TIDEWATER, "part": "top"}, ("content", "weight", "retrieved", "injected")),
        ("drift_alerts.py", TIDEWATER, ("older", "newer")),
        ("inspector.py", ASKED, ("memory", "block", "score")),
        ("inspector.py", {**ASKED, "show": "why", "why": "any"}, ("result", "words")),
        ("corroboration.py", TIDEWATER, ("kind", "text", "size")),
        ("corroboration.py", {**TIDEWATER, "cluster": "first"}, ("role", "diff", "text")),
        ("feedback_impact.py", {**TIDEWATER, "retrieval": "any"}, ("weighted_rank", "injected", "text")),
        ("what_if.py", {**TIDEWATER, "show": "worst", "w": "off"}, ("query", "rbo")),
        ("what_if.py", {**TIDEWATER, "show": "fragile"}, ("query", "upper", "lower")),
    ],
)
def test_what_it_is_read_for_is_in_sight(
    cluster: Cluster, demo_database: str, page: str, address: dict[str, str], columns: tuple[str, ...]
) -> None:
    said = {name: value for name, value in address.items() if value not in ("", "first")}
    for name in set(said) & set(ANY):
        what = "select min({}::text) from {} where org_id = 'org_tidewater'".format(*ANY[name])  # noqa: S608 - our own names
        said[name] = str(cluster.run(what, demo_database)[0][0])
    with application(cluster.plain_url("dash_read", demo_database), **said) as test:
        test.run().switch_page(page)
        if address.get("cluster") == "first":
            test.query_params["cluster"] = shown(test, ("canonical",)).value["canonical"][0]
        table = shown(test, columns)
    placed = spans(table)
    assert {name: placed[name][1] for name in columns if placed[name][1] > ROOM} == {}
    assert {name for name in set(columns) & set(WORDS) if placed[name][1] - placed[name][0] < WORDS[name]} == set()
    lines, least = (LINES, LEAST_BROKEN) if table.proto.row_height == WRAPPED else (1, LEAST)
    seen = {name: lines * (placed[name][1] - placed[name][0]) for name in columns if name in TEXTS}
    assert {name: pixels for name, pixels in seen.items() if pixels < least} == {}

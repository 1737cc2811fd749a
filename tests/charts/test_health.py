"""The picture of Health: every check once, and a tail where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from charts.health import LOOKS, SEEN, UNKNOWN, bands
from charts.look import DOWN, NEUTRAL, UP

if TYPE_CHECKING:
    from collections.abc import Sequence


def checks(*rows: tuple[str, float | None, float | None], senses: Sequence[str] = ()) -> pd.DataFrame:
    """Checks by label, place now and place before."""
    labels, places, were = zip(*rows, strict=True)
    return pd.DataFrame(
        {
            "label": labels,
            "place": pd.Series(places, dtype="float64"),
            "band": ["good" if place is not None and place <= 1 else "red" for place in places],
            "shown": "1 %",
            "limits": "in order up to 1 %",
            "was": pd.Series(were, dtype="float64"),
            "change": "= no change",
            "sense": senses or ["off"] * len(rows),
        }
    )


def test_a_tail_leads_from_where_a_check_stood_in_the_colour_of_its_sense() -> None:
    rows = (("worse", 2.5, 0.5), ("better", 0.2, 0.9), ("still", 0.5, 0.5), ("new", 0.5, None), ("a little", 0.6, 0.5))
    drawn = bands(checks(*rows, senses=("red", "green", "off", "off", "off")), "t")
    tails = {trace.line.color: trace for trace in drawn.data if trace.mode == "lines+markers"}
    assert list(tails[DOWN].x) == [0.5, 2.5, None]
    assert list(tails[DOWN].y) == ["worse", "worse", None]
    assert list(tails[UP].x) == [0.9, 0.2, None]
    assert list(tails[NEUTRAL].y) == ["a little", "a little", None]
    # the open mark stands at the past alone
    assert list(tails[UP].marker.size) == [9, 0, 0]


@pytest.mark.parametrize(("moved", "tails"), [(SEEN / 2, 0), (SEEN * 2, 1)])
def test_a_tail_that_its_own_mark_would_hide_is_not_drawn(moved: float, tails: int) -> None:
    drawn = bands(checks(("one", 0.5 + moved, 0.5)), "t")
    assert sum(bool(trace.x) for trace in drawn.data if trace.mode == "lines+markers") == tails


def test_what_cannot_be_known_has_words_and_no_mark() -> None:
    drawn = bands(checks(("known", 0.5, None), ("unknown", None, 0.7)), "t")
    assert [list(trace.y) for trace in drawn.data if trace.mode == "markers+text" and len(trace.y)] == [["known"]]
    assert [list(trace.text) for trace in drawn.data if trace.mode == "text"] == [["cannot be known here"]]


def test_what_cannot_be_known_stands_in_no_band() -> None:
    """From below, rows 0 to 3: known, unknown, known, known; each colour has the known rows, grey the other."""
    rows = (("a", 0.5, None), ("b", 2.5, None), ("unknown", None, None), ("d", 0.1, None))
    shapes = bands(checks(*rows), "t").layout.shapes
    behind = {
        (shape.fillcolor, shape.x0, shape.x1): {(other.y0, other.y1) for other in shapes if same(shape, other)}
        for shape in shapes
    }
    assert behind == {
        **{(wash, place, place + 1): {(-0.5, 0.5), (1.5, 3.5)} for place, (_, _, wash) in enumerate(LOOKS.values())},
        (UNKNOWN, 0, 3): {(0.5, 1.5)},
    }
    assert UNKNOWN not in {wash for _, _, wash in LOOKS.values()}


def same(one: Any, other: Any) -> bool:  # noqa: ANN401 - plotly's own
    return (one.fillcolor, one.x0) == (other.fillcolor, other.x0)


def test_a_long_title_is_broken_and_has_the_room() -> None:
    """One of 76 letters fits in a window of 900 pixels."""
    whole = "11 of 12 checks are in order; watch log-queue drops; 1 organization to watch"
    assert bands(checks(("a", 0.5, None)), whole).layout.title.text == whole
    title = "9 of 12 checks are in order; watch log coverage, permutation integrity and log-queue drops"
    short, long = (bands(checks(("a", 0.5, None)), each) for each in ("t", title))
    lines = long.layout.title.text.split("<br>")
    assert " ".join(lines) == title
    assert len(lines) == 2
    assert max(map(len, lines)) <= 76
    assert long.layout.margin.t - short.layout.margin.t == long.layout.height - short.layout.height == 20

"""Lists side by side: who is joined with whom, in which colour, and what a hover says."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd
import pytest

from charts.compared import literal, shortened, side_by_side
from charts.look import DOWN, NEUTRAL, UP
from tests.hostile import TEXTS

COLUMNS = ["column", "rank", "id", "text", "in_block"]


def frame(*lists: str, block: int = 1) -> pd.DataFrame:
    """Lists of one-letter ids, the first ``block`` of each in the block."""
    rows = [
        (column, rank, id_, f"text {id_}", rank <= block)
        for column, ids in enumerate(lists)
        for rank, id_ in enumerate(ids, 1)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def strokes(figure: Any) -> dict[str, list[tuple[int, int]]]:  # noqa: ANN401 - plotly publishes no types
    """Per colour, the ranks that a line joins."""
    found = {}
    for trace in figure.data:
        if trace.mode == "lines":
            ys = list(trace.y)
            found[trace.line.color] = list(zip(ys[::3], ys[1::3], strict=True))
    return found


def test_lines_join_the_same_observation_and_say_whether_it_rose() -> None:
    figure = side_by_side(frame("abc", "acb"), ["A", "B"], {}, 10, "title")
    assert strokes(figure) == {NEUTRAL: [(1, 1)], DOWN: [(2, 3)], UP: [(3, 2)]}


def test_only_the_best_k_are_drawn_but_a_hover_knows_every_rank() -> None:
    figure = side_by_side(frame("abc", "cab"), ["A", "B"], {}, 1, "title")
    places = figure.data[-1]
    assert (list(places.x), list(places.y)) == ([0, 1], [1, 1])
    assert strokes(figure) == {}
    assert places.hovertext[0].split("<br>") == ["text a", "A: rank 1, in the block", "B: rank 2 ▼1"]
    assert places.hovertext[1].split("<br>") == ["text c", "A: rank 3", "B: rank 1 ▲2, in the block"]


def test_marks_tell_block_and_newcomers_by_shape() -> None:
    figure = side_by_side(frame("ab", "bz"), ["A", "B"], {}, 2, "title")
    assert list(figure.data[-1].marker.symbol) == ["circle", "circle-open", "circle", "diamond-open"]
    assert figure.data[-1].hovertext[3].split("<br>")[1:] == ["A: not in its list", "B: rank 2"]


def test_a_list_that_is_missing_says_why_and_joins_nothing() -> None:
    figure = side_by_side(frame("ab", "", "ab"), ["A", "B", "C"], {1: "could not be run"}, 5, "title")
    assert "could not be run" in [note.text for note in figure.layout.annotations]
    assert strokes(figure) == {}
    assert figure.data[-1].hovertext[0].split("<br>")[2] == "B: no list"


def test_without_any_list_there_is_still_a_picture() -> None:
    figure = side_by_side(frame("", ""), ["A", "B"], {0: "found nothing", 1: "could not be run"}, 5, "title")
    assert [note.text for note in figure.layout.annotations][1] == "found nothing"


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_are_literal(text: str) -> None:
    """Plotly makes markup of tags alone: what it gets holds none but our line ends, and reads as what was written."""
    rows = pd.DataFrame([(0, 1, "a", text, True)], columns=COLUMNS)
    places = side_by_side(rows, [text, "B"], {1: text}, 5, text).data[-1]
    assert "<" not in places.text[0]
    assert "<" not in places.hovertext[0].replace("<br>", "")
    assert html.unescape(literal(text)) == text or "&" in text


def test_a_long_text_ends_in_an_ellipsis() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"

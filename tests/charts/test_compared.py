"""Lists side by side: who is joined with whom, in which colour, and what a hover says."""

from __future__ import annotations

import html
import textwrap
from typing import Any

import pandas as pd
import pytest

from charts.compared import HOVER, LONGEST, shortened, side_by_side
from charts.look import DOWN, NEUTRAL, UP
from queries.scope import marked
from tests.hostile import TEXTS

COLUMNS = ["column", "rank", "id", "name", "text", "in_block"]


def frame(*lists: str, block: int = 1) -> pd.DataFrame:
    """Lists of one-letter ids, the first ``block`` of each in the block."""
    rows = [
        (column, rank, id_, f"text {id_}", f"text {id_}", rank <= block)
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


def places(figure: Any, column: int) -> Any:  # noqa: ANN401 - same
    """The marks and texts of one list."""
    return next(trace for trace in figure.data if trace.name == f"list {column}")


def test_lines_join_the_same_observation_and_say_whether_it_rose() -> None:
    figure = side_by_side(frame("abc", "acb"), ["A", "B"], {}, 10, "title")
    assert strokes(figure) == {NEUTRAL: [(1, 1)], DOWN: [(2, 3)], UP: [(3, 2)]}


def test_only_the_best_k_are_drawn_but_a_hover_knows_every_rank() -> None:
    figure = side_by_side(frame("abc", "cab"), ["A", "B"], {}, 1, "title")
    assert [list(places(figure, column).y) for column in (0, 1)] == [[1], [1]]
    assert strokes(figure) == {}
    assert places(figure, 0).hovertext[0].split("<br>") == ["text a", "A: rank 1, in the block", "B: rank 2 ▼1"]
    assert places(figure, 1).hovertext[0].split("<br>") == ["text c", "A: rank 3", "B: rank 1 ▲2, in the block"]


def test_marks_tell_block_and_newcomers_by_shape() -> None:
    figure = side_by_side(frame("ab", "bz"), ["A", "B"], {}, 2, "title")
    assert list(places(figure, 0).marker.symbol) == ["circle", "circle-open"]
    assert list(places(figure, 1).marker.symbol) == ["circle", "diamond-open"]
    assert places(figure, 1).hovertext[1].split("<br>")[1:] == ["A: not in its list", "B: rank 2"]


def test_a_list_that_is_missing_says_why_and_joins_nothing() -> None:
    figure = side_by_side(frame("ab", "", "ab"), ["A", "B", "C"], {1: "could not be run"}, 5, "title")
    assert [(note.text, note.xref) for note in figure.layout.annotations] == [("could not be run", "x2")]
    assert strokes(figure) == {}
    assert places(figure, 0).hovertext[0].split("<br>")[2] == "B: no list"


def test_without_any_list_there_is_still_a_picture() -> None:
    figure = side_by_side(frame("", ""), ["A", "B"], {0: "found nothing", 1: "could not be run"}, 5, "title")
    assert [note.text for note in figure.layout.annotations] == ["found nothing", "could not be run"]


@pytest.mark.parametrize("lists", [2, 3, 4])
def test_texts_end_where_the_lines_begin(lists: int) -> None:
    """Whatever the width: a list's texts are cut off at the end of its column, and lines run between two columns."""
    figure = side_by_side(frame(*["ab", "ba", "ab", "ba"][:lists]), list("ABCD"[:lists]), {}, 5, "title")
    axes = {trace.xaxis: figure.layout["xaxis" + trace.xaxis[1:]].domain for trace in figure.data}
    for trace in figure.data:
        texts = trace.mode != "lines"
        assert trace.cliponaxis is (True if texts else None)
        for other, (start, end) in axes.items():
            if other != trace.xaxis:
                assert end < axes[trace.xaxis][0] or start > axes[trace.xaxis][1]
    assert len(axes) == 2 * lists - 1


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_are_literal(text: str) -> None:
    """Plotly makes markup of tags alone: what it gets holds none but our line ends, and reads as what was written."""
    rows = pd.DataFrame([(0, 1, "a", text, text, True)], columns=COLUMNS)
    figure = side_by_side(rows, [text, "B"], {1: text}, 5, text)
    name = next(trace for trace in figure.data if trace.name == "name 0")
    told = places(figure, 0).hovertext[0].split("<br>")
    wrapped = textwrap.wrap(text, HOVER)
    given = {
        "title": (figure.layout.title.text, text),
        "note": (figure.layout.annotations[0].text, text),
        "name": (name.text[0].removeprefix("<b>").removesuffix("</b>"), shortened(text, LONGEST)),
        "name in full": (name.hovertext, text),
        "text": (places(figure, 0).text[0], f" 1  {shortened(text, LONGEST)}"),
        "text in full": ("\n".join(told[: len(wrapped)]), "\n".join(wrapped)),
        "its place": (told[len(wrapped)], f"{shortened(text, HOVER)}: rank 1, in the block"),
    }
    for place, (markup, meant) in given.items():
        assert "<" not in markup, place
        assert html.unescape(markup) == marked(meant), place


def test_a_long_text_ends_in_an_ellipsis() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"

"""The map of work types: the frontier, where it is divided, and each mark with its interval."""

from __future__ import annotations

import pandas as pd
import pytest

from charts.budget import LONGEST_LABEL, LOOKS, pareto
from charts.look import LONGEST_LINE, NEUTRAL, UP

CENTRE = (250.0, 0.6)


def points(*rows: tuple[str, str, float, float], told_apart: bool = True) -> pd.DataFrame:
    """Work types by name, zone, tokens and share; intervals of ten tokens and ten points to either side."""
    return pd.DataFrame(
        [
            {
                "name": name,
                "zone": zone,
                "told_apart": told_apart,
                "judged": 40,
                "tokens": tokens,
                "tokens_low": tokens - 10,
                "tokens_high": tokens + 10,
                "share": share,
                "share_low": share - 0.1,
                "share_high": share + 0.1,
            }
            for name, zone, tokens, share in rows
        ]
    )


FOUR = points(
    ("chore", "efficient", 100, 0.7), ("feature", "generous", 400, 0.9), ("fix", "starved", 200, 0.5),
    ("<b>x</b>", "wasteful", 500, 0.4),
)  # fmt: skip


def test_the_frontier_is_a_staircase_from_the_cheapest() -> None:
    (line,) = [trace for trace in pareto(FOUR, [(100, 0.7), (400, 0.9)], CENTRE).data if trace.mode == "lines"]
    assert list(line.x) == [100, 400]
    assert list(line.y) == pytest.approx([70, 90])
    assert line.line.shape == "hv"


def test_the_map_is_divided_at_the_mean_of_all_sessions() -> None:
    upright, level = pareto(FOUR, [], CENTRE).layout.shapes
    assert (upright.x0, upright.x1, upright.yref) == (250, 250, "y domain")
    assert (level.y0, level.y1, level.xref) == (60, 60, "x domain")


def test_each_zone_is_named_in_its_quarter_and_the_frontier_beside_its_line() -> None:
    """Few tokens are left, the larger share on top; of the line's first step, 100 to 400, 200 to 400 has no mark."""
    drawn = pareto(FOUR, [(100, 0.7), (400, 0.9)], CENTRE)
    named = {note.text: (note.xref, note.x, note.yref, note.y) for note in drawn.layout.annotations}
    x, y = "x domain", "y domain"
    assert named == {
        "efficient": (x, 0, y, 1), "generous": (x, 1, y, 1), "starved": (x, 0, y, 0), "wasteful": (x, 1, y, 0),
        "frontier": (None, 300, None, pytest.approx(70)),  # by the axes' own numbers
    }  # fmt: skip
    assert drawn.layout.showlegend is False
    alone = pareto(FOUR, [(100, 0.7)], CENTRE)
    assert "frontier" not in {note.text for note in alone.layout.annotations}


@pytest.mark.parametrize("ended", ["without rework", "accepted"])
def test_axis_and_marks_say_which_share_it_is(ended: str) -> None:
    drawn = pareto(FOUR, [], CENTRE, ended=ended)
    assert drawn.layout.yaxis.title.text == f"percent of sessions {ended}"
    assert all(f"%{{y:.3g}} % {ended}" in trace.hovertemplate for trace in drawn.data if "markers" in trace.mode)


def test_each_zone_has_its_own_mark_with_both_whiskers() -> None:
    marks = {trace.name: trace for trace in pareto(FOUR, [], CENTRE).data if "markers" in trace.mode}
    assert list(marks) == ["efficient", "generous", "starved", "wasteful"]
    assert len({tuple(trace.marker.symbol) for trace in marks.values()}) == 4
    for zone, (colour, symbol) in LOOKS.items():
        assert (marks[zone].marker.color, *marks[zone].marker.symbol) == (colour, symbol)
    fix = marks["starved"]
    assert (list(fix.x), list(fix.y)) == ([200], [50])
    assert (list(fix.error_x.array), list(fix.error_x.arrayminus)) == ([10], [10])
    assert [*fix.error_y.array, *fix.error_y.arrayminus] == pytest.approx([10, 10])
    assert list(fix.customdata[0]) == ["fix", 190, 210, pytest.approx(40), pytest.approx(60), 40, ""]


def test_a_name_is_shown_literally_and_cut_where_it_is_long() -> None:
    drawn = pareto(points(("<b>x</b>", "wasteful", 1, 0.4), ("n" * 30, "wasteful", 2, 0.5)), [], CENTRE)
    (marks,) = [trace for trace in drawn.data if trace.name == "wasteful"]
    assert marks.text[0].startswith("&lt;b>")
    assert marks.text[1] == "n" * (LONGEST_LABEL - 1) + "…"
    assert marks.customdata[1][0] == "n" * 30


@pytest.mark.parametrize(
    ("cut_at", "said"),
    [
        (None, "2 of 4 work types are on the frontier"),
        (40, "Of the 40 most frequent work types: 2 of 4 drawn are on the frontier"),
    ],
)
def test_the_title_says_of_how_many_it_speaks(cut_at: int | None, said: str) -> None:
    title = pareto(FOUR, [(100, 0.7), (400, 0.9)], CENTRE, cut_at).layout.title.text
    beyond = "with more tokens and fewer sessions without rework than the mean: 1"
    assert title.replace("<br>", " ") == f"{said}; {beyond}"


def test_nothing_is_drawn_beyond_the_edges_of_a_share() -> None:
    """From 100 − 10 to 500 + 10 tokens with 12 % of room; shares end at 104 so that a mark at 100 stays whole."""
    drawn = pareto(points(("a", "efficient", 100, 0.7), ("b", "generous", 500, 1.0)), [], CENTRE)
    assert list(drawn.layout.xaxis.range) == pytest.approx([90 - 0.12 * 420, 510 + 0.12 * 420])
    assert drawn.layout.yaxis.range[1] == 104


def test_a_zone_that_is_not_told_apart_is_an_open_mark_and_not_in_the_title() -> None:
    sure, unsure = (points(("fix", "wasteful", 500, 0.4), told_apart=told) for told in (True, False))
    told = pareto(sure, [], CENTRE, ended="accepted").layout.title.text.replace("<br>", " ")
    assert told.endswith("; with more tokens and fewer sessions accepted than the mean: 1")
    drawn = pareto(unsure, [], CENTRE)
    assert drawn.layout.title.text == "None of 1 work types is told apart from the mean of all sessions"
    (mark,) = [trace for trace in drawn.data if trace.name == "wasteful"]
    assert list(mark.marker.symbol) == ["x-open"]
    assert mark.customdata[0][6] == ", not told apart from the others"


def test_what_is_not_told_apart_has_no_colour_of_a_verdict_nor_has_a_frontier_through_it() -> None:
    sure = points(("chore", "efficient", 100, 0.7), ("feature", "generous", 400, 0.9))
    unsure = points(("fix", "wasteful", 500, 0.4), ("old", "starved", 50, 0.5), told_apart=False)
    mixed = pd.concat([sure, unsure], ignore_index=True)
    drawn = pareto(mixed, [(50, 0.5), (100, 0.7), (400, 0.9)], CENTRE)
    colours = {trace.name: trace.marker.color for trace in drawn.data if "markers" in trace.mode}
    assert colours == {"efficient": UP, "generous": NEUTRAL, "starved": NEUTRAL, "wasteful": NEUTRAL}
    assert drawn.layout.title.text == "3 of 4 work types are on the frontier; 2 not told apart"
    notes = {note.text: note.font.color for note in drawn.layout.annotations}
    assert notes == {
        "efficient": UP, "generous": NEUTRAL, "starved": NEUTRAL, "wasteful": NEUTRAL,
        "frontier,<br>not told apart": NEUTRAL,
    }  # fmt: skip
    certain = pareto(mixed, [(100, 0.7), (400, 0.9)], CENTRE)
    assert [trace.line.color for trace in certain.data if trace.mode == "lines"] == [UP]
    assert [trace.line.color for trace in drawn.data if trace.mode == "lines"] == [NEUTRAL]


def test_the_longest_title_is_broken_where_a_narrow_window_would_cut_it_off() -> None:
    unsure = points(*((f"type {number}", "starved", number, 0.5) for number in range(20)), told_apart=False)
    mixed = pd.concat([FOUR, unsure], ignore_index=True)
    told = pareto(mixed, [(100, 0.7), (400, 0.9)], CENTRE, 40).layout.title.text.split("<br>")
    assert " ".join(told) == (
        "Of the 40 most frequent work types: 2 of 24 drawn are on the frontier; 20 not told apart; "
        "with more tokens and fewer sessions without rework than the mean: 1"
    )
    assert max(map(len, told)) <= LONGEST_LINE

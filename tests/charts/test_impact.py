"""Feedback Impact's charts: titles say the finding, cells carry their ranks, tenant text stays text."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from charts.impact import MOST_RANKS, delta_histogram, outside_the_map, rank_map, weighted_median
from charts.impact_parts import outcome_mix, weight_histogram
from charts.look import LINE, LONGEST_LINE
from charts.slope import MOST, slope, without_a_line

MOVES = pd.DataFrame(
    {
        "unweighted_rank": pd.array([0, 1, 2, 2], dtype="Int64"),
        "weighted_rank": pd.array([0, 2, 1, 2], dtype="Int64"),
        "weight_bin": pd.array([20, 3, None, 19], dtype="Int64"),
        "injected": pd.array([True, False, True, None], dtype="boolean"),
        "candidates": pd.array([6, 2, 2, 2], dtype="Int64"),
    }
)


def test_the_map_counts_cells_and_each_names_its_ranks() -> None:
    figure = rank_map(MOVES, (2, 1))
    assert figure.layout.title.text.startswith("Feedback moved 33.3 % of candidates")
    targets = figure.data[-1]
    assert [list(each) for each in targets.customdata] == [
        [0, 0, 6, "kept"], [1, 2, 2, "▼1"], [2, 1, 2, "▲1"], [2, 2, 2, "kept"],
    ]  # fmt: skip
    outline = figure.layout.shapes[0]
    assert (outline.x0, outline.y0) == (2.5, 1.5)


def test_every_cell_of_the_map_has_the_size_of_a_rank_also_between_ranks_that_nobody_has() -> None:
    """Plotly takes a cell's width from the next coordinate there is: ranks 3 and 6 alone would be three ranks wide."""
    ranks = {"unweighted_rank": [0, 2, 5, 1, 4], "weighted_rank": [0, 5, 2, 1, 4], "candidates": [9, 4, 1, 1, 1]}
    *maps, _ = rank_map(pd.DataFrame(ranks)).data
    assert [(each.x0, each.dx, each.y0, each.dy) for each in maps] == [(1, 1, 1, 1)] * 3
    assert [np.shape(each.z) for each in maps] == [(6, 6)] * 3
    drawn = [{(int(x), int(y)): float(each.z[y, x]) for y, x in np.argwhere(~np.isnan(each.z))} for each in maps]
    assert drawn == [{(5, 2): 1}, {(2, 5): 2}, {(0, 0): 3, (1, 1): 1, (4, 4): 1}]  # up, down, kept


def test_what_is_pointed_at_is_told_in_the_singular_where_it_is_one() -> None:
    """The map's words are of every cell: ``candidate`` is sent once, and what makes it many by cell."""
    moves = MOVES.assign(candidates=[6, 1, 2, 2])
    cells = rank_map(moves).data[-1]
    assert cells.hovertemplate.endswith(": %{customdata[2]:,} candidate%{hovertext}<extra></extra>")
    ends = dict(zip([each[2] for each in cells.customdata], cells.hovertext, strict=True))
    assert ends == {6: "s", 1: "", 2: "s"}
    assert list(delta_histogram(moves).data[0].hovertext) == ["1 candidate", "2 candidates"]
    weights = {trace.name: set(trace.hovertext) - {"0 candidates"} for trace in weight_histogram(moves).data}
    assert weights == {
        "in the block": {"6 candidates"}, "not in the block": {"1 candidate"}, "block not logged": {"2 candidates"},
    }  # fmt: skip


def test_the_deepest_map_stays_small() -> None:
    ranks = [(before, after) for before in range(MOST_RANKS) for after in range(MOST_RANKS)]
    moves = pd.DataFrame(ranks, columns=["unweighted_rank", "weighted_rank"]).assign(candidates=range(1, 901))
    *maps, _ = json.loads(rank_map(moves).to_json())["data"]
    assert [len(each["z"]["bdata"]) for each in maps] == [4 * 900 * 4 / 3] * 3  # four bytes a cell, in base64
    assert len(json.dumps(maps)) < 18_000  # as many as when only cells with candidates were sent


def test_what_the_map_is_too_small_for_is_counted() -> None:
    deep = MOVES.assign(weighted_rank=pd.array([0, MOST_RANKS - 1, MOST_RANKS, MOST_RANKS], dtype="Int64"))
    assert (outside_the_map(MOVES), outside_the_map(deep)) == (0, 2 + 2)
    assert sum(count for _, _, count, _ in rank_map(deep).data[-1].customdata) == 12 - 4


def test_the_histogram_of_deltas_is_mirrored_and_leaves_zero_to_the_title() -> None:
    figure = delta_histogram(MOVES)
    assert dict(zip(figure.data[0].x, figure.data[0].y, strict=True)) == {-1: 2, 1: 2}
    assert figure.layout.title.text == "66.7 % kept their rank; half the rest moved ≤ 1 place"
    assert delta_histogram(MOVES.head(1)).layout.title.text == "No candidate changed its rank"


def test_weights_stand_on_their_true_range_and_one_outside_it_nowhere() -> None:
    figure = weight_histogram(MOVES)
    drawn = {trace.name: sum(trace.y) for trace in figure.data}
    assert drawn == {"in the block": 6, "not in the block": 2, "block not logged": 2}
    assert figure.layout.xaxis.range[0] <= 0
    lines = figure.layout.title.text.split("<br>")
    assert " ".join(lines) == "60 % of candidates still have weight 1, 20 % fell below 0.5; 2 outside 0 to 1 not drawn"
    assert max(map(len, lines)) <= LONGEST_LINE, "a narrow window would cut it off"


def test_a_side_without_enough_sessions_is_not_drawn() -> None:
    bars = {"accepted": (0.5, 0.4, 0.6), "rework": (0.3, 0.2, 0.4), "rejected": (0.2, 0.1, 0.3)}
    figure = outcome_mix({"feedback kept the block": bars}, "Collecting data")
    assert len(figure.data) == 1
    assert list(figure.data[0].y) == pytest.approx([50, 30, 20])
    assert list(figure.data[0].error_y.array) == pytest.approx([10, 10, 10])


def test_the_longest_finding_over_outcomes_is_read_to_its_end() -> None:
    """Its 81 letters measured 549 pixels on one line, where a window of 900 has 544."""
    told = "Sessions whose block changed were accepted more often (+20.5 pt, +0.876 to +38.7)"
    mix = outcome_mix({"changed": {"accepted": (0.5, 0.4, 0.6)}}, told)
    lines = mix.layout.title.text.split("<br>")
    assert " ".join(lines) == told
    assert max(map(len, lines)) <= LONGEST_LINE
    assert mix.layout.height == outcome_mix({}, "Collecting data").layout.height + LINE


def test_a_candidate_that_moved_by_nothing_has_no_sign() -> None:
    moves = pd.DataFrame({"unweighted_rank": [2, 0, 0], "weighted_rank": [0, 0, 2], "candidates": [3, 1, 3]})
    assert delta_histogram(moves).layout.xaxis.tickformat == "+d"
    assert delta_histogram(moves).layout.xaxis.labelalias == {"+0": "0"}


@pytest.mark.parametrize(
    ("values", "counts", "expected"), [([1], [1], 1), ([3, 1], [1, 1], 1), ([1, 2, 9], [1, 1, 3], 9)]
)
def test_the_median_of_counted_values(values: list[int], counts: list[int], expected: int) -> None:
    assert weighted_median(values, counts) == expected


class TestSlope:
    def rows(self, **changed: object) -> pd.DataFrame:
        columns = {
            "unweighted_rank": pd.array([1, 0, 2], dtype="Int64"),
            "weighted_rank": pd.array([0, 1, 2], dtype="Int64"),
            "text": pd.array(["<b>bold</b> & more", None, "third\nline"], dtype="string"),
            "injected": pd.array([True, False, False], dtype="boolean"),
        }
        return pd.DataFrame(columns | changed)

    def test_the_cut_lies_below_the_block_and_the_title_counts_who_entered(self) -> None:
        figure = slope(self.rows(), 1)
        assert figure.layout.shapes[0].y0 == 1.5
        # the line ends at the dots, for it would strike through the texts beside them, and its name stands left of it
        assert figure.layout.shapes[0].x1 < 1.05
        (named,) = (note for note in figure.layout.annotations if note.text == "cut")
        assert (named.x, named.xanchor, named.y) == (figure.layout.shapes[0].x0, "right", 1.5)
        assert figure.layout.title.text == "Feedback moved 2 of 3 candidates and brought 1 into the block of 1"

    def test_an_unlogged_block_has_no_cut_and_says_so(self) -> None:
        figure = slope(self.rows(injected=pd.array([None, None, None], dtype="boolean")), None)
        assert not figure.layout.shapes
        assert "who was in the block is not logged" in figure.layout.title.text

    def test_text_is_shown_as_it_is_written(self) -> None:
        labels = [trace.text[1] for trace in slope(self.rows(), 1).data]
        assert labels == ["▲1  &lt;b>bold&lt;/b> &amp; more", "▼1  (no longer stored)", "=  third line"]

    def test_a_long_text_is_cut_beside_its_line_and_read_further_under_the_pointer(self) -> None:
        trace = slope(self.rows(text=["word " * 100, "second", "third"]), 1).data[0]
        assert trace.text[1] == f"▲1  {'word ' * 7}…"
        assert [list(each) for each in trace.customdata] == [[f"{'word ' * 23}word…"]] * 2
        assert trace.hovertemplate.startswith("%{customdata[0]}<br>rank 2 without, 1 with feedback (▲1)")

    @pytest.mark.parametrize("rank", [None, -1, MOST, 2**31 - 1])
    def test_a_rank_without_a_place_has_no_line_and_is_counted(self, rank: int | None) -> None:
        rows = self.rows(weighted_rank=pd.array([0, 1, rank], dtype="Int64"))
        figure = slope(rows, 1)
        assert (len(figure.data), without_a_line(rows)) == (2, 1)
        assert figure.layout.height < 2000

    def test_the_title_speaks_of_every_ranked_candidate_drawn_or_not(self) -> None:
        rows = self.rows(weighted_rank=pd.array([0, 1, MOST], dtype="Int64"))
        assert slope(rows, 1).layout.title.text.startswith("Feedback moved 3 of 3 candidates")
        assert without_a_line(self.rows()) == 0

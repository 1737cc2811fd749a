"""The map and the bars of a replay: what they say, and that tenant text stays text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from charts.flips import around_the_switch, movers
from charts.sensitivity import sensitivity
from tests.hostile import TEXTS

LAMBDAS, BOOSTS = ["off", "0.9"], ["as logged", "0.1"]


def cells(flips: list[float | None], kept: list[float | None]) -> pd.DataFrame:
    places = [(lam, boost) for boost in BOOSTS for lam in LAMBDAS]
    return pd.DataFrame(
        {"lam": [lam for lam, _ in places], "boost": [boost for _, boost in places], "flips": flips, "kept": kept}
    )


class TestMap:
    def test_cells_stand_where_their_labels_say(self) -> None:
        figure = sensitivity(cells([0, 10, 20, 345.6], [1, 0.96, 0.5, 0.1]), LAMBDAS, BOOSTS, ("0.9", "0.1"), 0.95)
        heat, border, faint, strong, marks = figure.data
        assert heat.z.tolist() == [[0, 10], [20, 345.6]]
        assert (list(faint.text), list(strong.text)) == (["0", "10", "20"], ["346"])
        assert (list(strong.x), list(strong.y)) == ([1], [1])
        assert [list(entry[:2]) for entry in marks.customdata] == [
            ["off", "as logged"], ["0.9", "as logged"], ["off", "0.1"], ["0.9", "0.1"],
        ]  # fmt: skip
        told = "2 of 4 settings keep 95 % of the top fives, 1 of them by changing nothing"
        assert figure.layout.title.text == told
        assert figure.layout.title.subtitle.text == "the number in a cell: flips per 100 retrievals"
        # the lower row is safe: an outline of six edges around two cells
        assert len([x for x in border.x if x is None]) == 6
        assert max(y for y in border.y if y is not None) == 0.5
        ring = figure.layout.shapes[0]
        assert (ring.x0 + ring.x1, ring.y0 + ring.y1) == (2, 2)

    @pytest.mark.parametrize(
        ("flips", "kept", "told"),
        [
            (
                [1, 0, 0, 9],
                [1, 0.99, 1, 0.1],
                "3 of 4 settings keep 95 % of the top fives, 1 of them by changing nothing",
            ),
            ([1, 2, 3, 9], [1, 0.99, 0.5, 0.1], "2 of 4 settings keep 95 % of the top fives"),
            ([0, 0, 3, 9], [1, 1, 0.5, 0.1], "2 of 4 settings keep 95 % of the top fives, both by changing nothing"),
            ([0, 0, 0, 9], [1, 1, 1, 0.1], "3 of 4 settings keep 95 % of the top fives, all by changing nothing"),
            ([0, 2, 3, 9], [1, 0.5, 0.5, 0.1], "1 of 4 settings keeps 95 % of the top fives, by changing nothing"),
            ([1, 2, 3, 9], [1, 0.5, 0.5, 0.1], "1 of 4 settings keeps 95 % of the top fives"),
            ([1, 2, 3, 9], [0.2, 0.5, 0.5, 0.1], "None of 4 settings keeps 95 % of the top fives"),
            ([1, 2, 3, 9], [1, 1, 1, 1], "All 4 settings keep 95 % of the top fives"),
            ([0, 0, 0, 0], [1, 1, 1, 1], "All 4 settings keep 95 % of the top fives, all by changing nothing"),
        ],
    )
    def test_the_title_counts_what_the_frame_encloses(
        self, flips: list[float | None], kept: list[float | None], told: str
    ) -> None:
        """What only repeats the log cannot but keep it: it is among those counted, and said apart."""
        figure = sensitivity(cells(flips, kept), LAMBDAS, BOOSTS, ("off", "0.1"), 0.95)
        assert figure.layout.title.text == told

    def test_a_cell_that_could_not_be_replayed_is_no_zero(self) -> None:
        figure = sensitivity(cells([0, None, 20, None], [1, None, 0.5, None]), LAMBDAS, BOOSTS, ("0.5", "0.1"), 0.95)
        assert [*figure.data[2].text, *figure.data[3].text] == ["0", "—", "—", "20"]
        assert np.isnan(figure.data[0].z[0][1])
        assert not figure.layout.shapes


class TestMovers:
    def test_in_to_the_right_out_to_the_left(self) -> None:
        frame = pd.DataFrame({"text": ["one", "two"], "entered": [5, 1], "left": [0, 7]})
        left, entered = movers(frame, "title").data
        assert (list(left.x), list(entered.x)) == ([0, -7], [5, 1])

    def test_tenant_text_is_shown_as_it_is_written(self) -> None:
        frame = pd.DataFrame({"text": list(TEXTS), "entered": 1, "left": 0})
        figure = movers(frame, "title")
        shown = [*figure.layout.yaxis.ticktext, *(entry[0] for entry in figure.data[0].customdata)]
        assert not [label for label in shown if "<" in label]


def test_weeks_around_a_switch_are_shares() -> None:
    weeks = pd.DataFrame(
        {
            "begins": ["2026-01-01", "2026-01-08"],
            "on": [True, False],
            "sessions": [10, 4],
            "accepted": [9, 1],
        }
    )
    line, *legend = around_the_switch(weeks, "2026-01-08", "title").data
    assert list(line.y) == [90, 25]
    assert list(line.marker.symbol) == ["circle", "circle-open"]
    shown = [(each.name, each.marker.symbol) for each in legend]
    assert shown == [("before the switch: on", "circle"), ("after it: off", "circle-open")]

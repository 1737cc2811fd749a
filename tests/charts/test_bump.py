from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analysis.inspector.inspection import Bar, StagePlace
from charts.bump import bump
from charts.look import DOWN, UP, literal
from charts.waterfall import waterfall
from queries.frames import frame
from tests.hostile import TEXTS

if TYPE_CHECKING:
    import pandas as pd


def standing(label: str, places: list[int | None], title: str = "", *, injected: bool = False) -> list[StagePlace]:
    names = ("recall", "relevance", "budget")
    return [
        StagePlace(label, title or label, step, names[step], place, 0.5, f"{label} {step}", injected)
        for step, place in enumerate(places)
    ]


def drawn(*lines: list[StagePlace]) -> pd.DataFrame:
    return frame([tuple(vars(row).values()) for line in lines for row in line], StagePlace)


THREE = drawn(
    standing("up", [2, 1, 1], injected=True),
    standing("down", [1, 2, 2], injected=True),
    standing("lost", [3, 3, None]),
)


class TestBump:
    def test_a_line_per_candidate_with_a_cross_where_it_was_dropped(self) -> None:
        traces = {trace.name: trace for trace in bump(THREE, None, 2, 3).data}
        assert set(traces) == {"up", "down", "dropped", "labels"}
        assert list(traces["up"].y) == [2, 1, 1, None]
        assert list(traces["down"].y) == [1, 2, 2, None]
        assert list(traces["dropped"].y) == [3, 3, 3, None]
        assert traces["dropped"].marker.symbol[2] == "x"
        assert (traces["up"].line.color, traces["down"].line.color) == (UP, DOWN)
        assert list(traces["labels"].text) == ["  1 ▲1 up", "  2 ▼1 down"]

    def test_who_kept_its_place_is_not_said_to_equal_it(self) -> None:
        figure = bump(drawn(standing("a", [1, 1, 1], "The drawing")), None, 1, 1)
        assert list(figure.data[-1].text) == ["  1 · The drawing"]

    def test_every_point_carries_its_id(self) -> None:
        for trace in bump(THREE, None, 2, 3).data:
            if trace.name != "labels":
                assert {facts[0] for facts in trace.customdata} == {
                    "lost" if trace.name == "dropped" else trace.name,
                    "",
                }

    def test_the_cut_lies_below_the_block(self) -> None:
        (cut,) = bump(THREE, None, 2, 3).layout.shapes
        assert (cut.y0, cut.y1) == (2.5, 2.5)

    def test_the_line_opened_is_thick_drawn_last_and_named_though_dropped(self) -> None:
        figure = bump(THREE, "lost", 2, 3)
        assert figure.data[-2].name == "dropped opened"
        assert figure.data[-2].line.width > figure.data[0].line.width
        assert "  3 × lost" in figure.data[-1].text

    @pytest.mark.parametrize(
        ("block", "candidates", "title"),
        [
            (2, 3, ("The 2 in the block are the first 2 recalled", "3 candidates")),
            (2, 80, ("The 2 in the block are the first 2 recalled", "3 of 80 candidates")),
            (0, 3, ("Nothing fits the block", "3 candidates")),
        ],
    )
    def test_the_title_says_the_finding(self, block: int, candidates: int, title: tuple[str, str]) -> None:
        found = bump(THREE, None, block, candidates).layout.title
        assert (found.text, found.subtitle.text) == title

    def test_who_entered_is_counted(self) -> None:
        found = drawn(standing("a", [1, 2, None]), standing("b", [2, 1, 1], injected=True))
        title = bump(found, None, 1, 2).layout.title.text
        assert title == "1 of 1 in the block were not among the first 1 recalled"

    def test_deep_places_are_drawn_closer_and_labelled_truly(self) -> None:
        figure = bump(drawn(standing("a", [75, 1, 1], injected=True)), None, 1, 80)
        assert next(trace for trace in figure.data if trace.name == "up").y[0] == 25 + 50 / 5
        ticks = dict(zip(figure.layout.yaxis.ticktext, figure.layout.yaxis.tickvals, strict=True))
        assert (ticks[25], ticks[60]) == (25, 25 + 35 / 5)

    def test_beyond_the_25th_place_lines_are_too_close_to_be_named(self) -> None:
        found = drawn(standing("a", [1, 25, 25], injected=True), standing("b", [2, 26, 26], injected=True))
        assert [*bump(found, None, 26, 30).data[-1].text] == ["  25 ▼24 a"]
        assert [*bump(found, "b", 26, 30).data[-1].text] == ["  25 ▼24 a", "  26 ▼24 b"]


@pytest.mark.parametrize("text", TEXTS[:20])
def test_no_text_becomes_markup(text: str) -> None:
    shown = bump(drawn(standing("a", [1, 1, 1], text)), None, 1, 1).to_json()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "<" not in literal(text)
    assert literal(text).replace("&lt;", "<").replace("&amp;", "&") == text


class TestWaterfall:
    BARS = frame(
        [
            ("relevance", "recalled with relevance 0.9000", "+0.9000", "0.9000", 1, 0.9, 0.9),
            ("head", "among the best 4", "+0.0000", "0.9000", 1, 0.0, 0.9),
            ("feedback", "multiplied by feedback weight 0.500", "-0.4500", "0.4500", 3, -0.45, 0.45),
        ],
        Bar,
    )

    def test_a_bar_per_stage_and_the_sum(self) -> None:
        (trace,) = waterfall(self.BARS).data
        assert list(trace.y) == [0.9, 0.0, -0.45, 0]
        assert list(trace.text) == ["+0.9000", "0", "−0.4500", "0.4500"]
        assert list(trace.measure) == ["relative", "relative", "relative", "total"]
        assert [facts[1] for facts in trace.customdata][2] == "multiplied by feedback weight 0.500"

    def test_the_title_names_the_stage_that_mattered_most(self) -> None:
        assert waterfall(self.BARS).layout.title.text == "Score 0.4500: feedback changed it most, by −0.4500"
        assert waterfall(self.BARS.head(2)).layout.title.text == "Score 0.9000: no stage after the first changed it"

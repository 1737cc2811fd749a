"""Days with the flags that were turned: where marks stand and which words they have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd

from charts.health_days import shares_and_marks

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DAYS = pd.DataFrame(
    {"day": [BEGIN + number * DAY for number in range(14)], "share": 80.0, "part": 4.0, "whole": 5.0, "of_week": 75.0}
)


def test_marks_are_lines_in_their_order_whose_words_do_not_meet() -> None:
    late, early = (BEGIN + 12 * DAY, "13 Mar: boost on"), (BEGIN + 2 * DAY, "3 Mar: weighting off")
    drawn = shares_and_marks({"accepted": ("#123456", DAYS)}, [late, early], BEGIN + 7 * DAY, "t")
    _, *lines = drawn.layout.shapes
    assert [line.x0 for line in lines] == [early[0], late[0]]
    _, *words = drawn.layout.annotations
    assert [(each.text, each.xanchor) for each in words] == [(early[1], "left"), (late[1], "right")]
    assert words[0].yshift != words[1].yshift


def test_the_window_before_lies_on_a_wash_up_to_this_one() -> None:
    drawn = shares_and_marks({"accepted": ("#123456", DAYS)}, [], BEGIN + 7 * DAY, "t")
    (wash,) = drawn.layout.shapes
    assert (wash.x0, wash.x1) == (BEGIN, BEGIN + 7 * DAY)
    assert [each.text for each in drawn.layout.annotations] == ["window before"]


def test_a_line_is_of_seven_days_together_and_a_day_of_more_sessions_is_a_larger_dot() -> None:
    days = DAYS.assign(whole=[5.0, 20.0, *[0.0] * 12])
    dots, line = shares_and_marks({"accepted": ("#123456", days)}, [], BEGIN + 7 * DAY, "t").data
    assert (dots.name, list(dots.y), dots.mode) == ("accepted, each day", [80.0] * 14, "markers")
    assert dots.marker.size[0] < dots.marker.size[1] == 9
    assert (line.name, list(line.y), line.mode) == ("accepted, 7 days", [75.0] * 14, "lines")


def test_days_before_the_first_that_has_any_take_no_room() -> None:
    """But one on which a flag was turned does."""
    days = DAYS.assign(whole=[*[0.0] * 8, *[5.0] * 6])
    drawn = shares_and_marks({"accepted": ("#123456", days)}, [], BEGIN + 7 * DAY, "t")
    assert drawn.layout.xaxis.range[0] == BEGIN + 8 * DAY
    assert not drawn.layout.shapes
    marked = shares_and_marks({"accepted": ("#123456", days)}, [(BEGIN + DAY, "w")], BEGIN + 7 * DAY, "t")
    assert marked.layout.xaxis.range[0] == BEGIN + DAY / 2
    assert [each.text for each in marked.layout.annotations] == ["window before", "w"]


def test_a_flag_stands_among_the_points_of_the_day_it_was_turned_on() -> None:
    """In the evening of the window's last day, and of the last before it, too."""
    evenings = [BEGIN + 6.8 * DAY, BEGIN + 13.8 * DAY]
    drawn = shares_and_marks({"accepted": ("#123456", DAYS)}, [(at, "w") for at in evenings], BEGIN + 7 * DAY, "t")
    wash, *_ = drawn.layout.shapes
    points = pd.to_datetime(drawn.data[0].x, utc=True)
    assert points[6] < evenings[0] < wash.x1 < points[7]
    assert points[13] < evenings[1] < drawn.layout.xaxis.range[1]


def test_the_scale_fits_what_is_drawn_hides_no_point_and_is_told() -> None:
    for lowest, begins in ((47.0, 40), (3.0, 0), (100.0, 80)):
        days = DAYS.assign(share=[lowest, *[100.0] * 13], of_week=100.0)
        drawn = shares_and_marks({"accepted": ("#123456", days)}, [], BEGIN + 7 * DAY, "t")
        assert drawn.layout.yaxis.tickvals[0] == begins
        assert drawn.layout.yaxis.range[0] < min(begins, lowest)
        assert drawn.layout.yaxis.range[1] > 100
        assert drawn.layout.title.text == f"t<br><sup>scale from {begins} to 100 %</sup>"


def test_days_of_two_measures_differ_in_shape_and_both_are_in_the_legend() -> None:
    lines = {"accepted": ("#123456", DAYS), "log coverage": ("#123456", DAYS)}
    drawn = shares_and_marks(lines, [], BEGIN + 7 * DAY, "t")
    dots = [trace for trace in drawn.data if trace.mode == "markers"]
    assert len({trace.marker.symbol for trace in dots}) == 2
    assert all(trace.showlegend is not False for trace in drawn.data)
    assert drawn.layout.legend.y < 0


def test_a_second_measure_stands_in_a_strip_above_with_its_own_scale_so_that_no_dot_hides_another() -> None:
    """Both 100 % on every day but one, on which they differ."""
    days = [DAYS.assign(share=[lowest, *[100.0] * 13], of_week=100.0) for lowest in (47.0, 93.0)]
    lines = {"accepted": ("#123456", days[0]), "log coverage": ("#654321", days[1])}
    turned = BEGIN + 9 * DAY
    drawn = shares_and_marks(lines, [(turned, "w")], BEGIN + 7 * DAY, "t")
    assert [(trace.name.split(",")[0], trace.yaxis) for trace in drawn.data] == [
        ("accepted", "y"), ("accepted", "y"), ("log coverage", "y2"), ("log coverage", "y2"),
    ]  # fmt: skip
    below, above = drawn.layout.yaxis, drawn.layout.yaxis2
    assert below.domain[0] == 0
    assert below.domain[1] < above.domain[0] < above.domain[1] == 1
    assert (list(below.tickvals), list(above.tickvals)) == ([40, 60, 80, 100], [80, 100])
    assert [list(axis.ticktext) for axis in (below, above)] == [["40 %", "60 %", "80 %", "100 %"], ["80 %", "100 %"]]
    assert above.range[0] < 93
    assert above.range[1] > 100
    assert drawn.layout.title.text == (
        "t<br><sup>accepted: scale from 40 to 100 %; above it log coverage: from 80</sup>"
    )
    # the wash and the flag are of both
    assert [(shape.yref, shape.y0, shape.y1) for shape in drawn.layout.shapes] == [("paper", 0, 1)] * 2


def test_two_scales_are_named_where_they_stand() -> None:
    lines = {"accepted": ("#123456", DAYS), "log coverage": ("#123456", DAYS)}
    _, *names = shares_and_marks(lines, [], BEGIN + 7 * DAY, "t").layout.annotations
    assert [(each.text, each.yref) for each in names] == [
        ("<b>accepted</b>", "y domain"), ("<b>log coverage</b>", "y2 domain"),
    ]  # fmt: skip


def test_two_days_are_named_once_each_and_have_no_line_of_seven() -> None:
    drawn = shares_and_marks({"accepted": ("#123456", DAYS[:2])}, [], BEGIN + DAY, "t")
    assert [trace.name for trace in drawn.data] == ["accepted, each day"]
    assert (drawn.layout.xaxis.tick0, drawn.layout.xaxis.dtick) == (BEGIN, 86_400_000)
    longer = shares_and_marks({"accepted": ("#123456", DAYS)}, [], BEGIN + 7 * DAY, "t")
    assert longer.layout.xaxis.dtick is None

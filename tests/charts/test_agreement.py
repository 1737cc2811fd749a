"""Corroboration's pictures: what they count, what they mark, and that tenant text stays text."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import pandas as pd
import pytest

from charts.agreement import boost_curve, cluster_sizes, threshold_sweep
from charts.fingerprints import bit_strips, distance_matrix
from charts.observation_map import observation_map

POINTS = pd.DataFrame(
    {"label": list("0123"), "clusters": [0, 4, 9, 2], "alone": [90, 70, 40, 1], "largest": [0, 3, 5, 80]}
).assign(share=[0.0, 0.25, math.nan, 1.0])
CLUSTERS = pd.DataFrame(
    {
        "size": [2, 2, 3, 15, 2_000],
        "kind": ["independent", "repeated", "disputed", "independent", "repeated"],
        "others": [1, 1, 2, 14, 1_999],
        "other_agents": [1, 0, 1, 3, 0],
    }
)


def test_a_sweep_marks_where_it_stands_and_where_chaining_starts() -> None:
    figure = threshold_sweep(POINTS, 1, 3, "bits", "4 clusters at 1")
    told = {trace.name: [point[1] for point in trace.customdata] for trace in figure.data}
    assert told["clusters"] == [0, 4, 9, 2]
    assert told["largest"] == [0, 3, 5, 80]
    assert told["boosted"][:2] == [0.0, 25.0]
    assert told["boosted"][2] is None  # missing is a gap and no zero
    heights = {trace.name: list(trace.y) for trace in figure.data}
    assert heights["clusters"][0] == 0.5  # none has a place of its own on a logarithmic axis
    words = {note.text: note.x for note in figure.layout.annotations}
    names = dict.fromkeys(("alone", "clusters", "largest", "boosted"), 3)  # at the end of each line
    assert figure.layout.yaxis2.title.text == "% of retrievals"
    assert words == {"clusters run together": 2.5, "now 1": 1} | names
    assert {note.font.color for note in figure.layout.annotations if note.text in names} == {None}  # the theme's own
    unknown = threshold_sweep(POINTS.assign(share=math.nan), 1, 3, "bits", "4 clusters at 1")
    assert "boosted" not in {note.text for note in unknown.layout.annotations}
    assert "clusters run together" not in {
        note.text for note in threshold_sweep(POINTS, 1, None, "", "").layout.annotations
    }


@pytest.mark.parametrize(
    ("clusters", "alone", "largest"), [(0, 11, 0), (2, 90, 2), (30, 90, 31), (80, 90, 85), (0, 0, 0), (9, 1, 80)]
)
def test_names_of_lines_that_end_together_stand_apart(clusters: int, alone: int, largest: int) -> None:
    """They are 14 pixels high, in a picture whose upper part has at least 160."""
    points = POINTS.assign(clusters=clusters, alone=alone, largest=largest)
    figure = threshold_sweep(points, 1, None, "bits", "title")
    low, high = figure.layout.yaxis.range
    pixels = {
        note.text: 160 * (note.y - low) / (high - low)
        for note in figure.layout.annotations
        if note.text in {"clusters", "alone", "largest"}
    }
    ordered = sorted(pixels.values())
    assert min(above - below for below, above in pairwise(ordered)) >= 14 - 1e-9
    ends = {"clusters": clusters, "alone": alone, "largest": largest}
    for one, other in combinations(ends, 2):
        assert (ends[one] - ends[other]) * (pixels[one] - pixels[other]) >= 0, "a name stands beside another's line"


def test_a_name_that_overlaps_none_stands_at_the_end_of_its_line() -> None:
    figure = threshold_sweep(POINTS.assign(clusters=0, alone=90, largest=10), 1, None, "bits", "title")
    heights = {note.text: note.y for note in figure.layout.annotations}
    assert [heights[name] for name in ("clusters", "alone", "largest")] == pytest.approx(
        [math.log10(0.5), math.log10(90), 1]
    )


SIZES = ["2", "3", "4", "5", "6", "7", "8", "9", "10 or more"]


def test_sizes_are_counted_by_kind() -> None:
    figure = cluster_sizes(CLUSTERS, "sizes")
    assert all(list(trace.x) == SIZES for trace in figure.data)
    assert {trace.name: [point[1] for point in trace.customdata] for trace in figure.data[:-1]} == {
        "independent": [1, 0, 0, 0, 0, 0, 0, 0, 1],
        "self-repetition": [1, 0, 0, 0, 0, 0, 0, 0, 1],
        "✕ disputed": [0, 1, 0, 0, 0, 0, 0, 0, 0],
    }
    assert list(figure.data[-1].text) == ["40", "20", "0", "0", "0", "0", "0", "0", "40"]  # of five
    assert list(figure.data[-1].y) == [40, 20, 0, 0, 0, 0, 0, 0, 40]
    assert sum(sum(trace.y) for trace in figure.data[:-1]) == 100
    assert figure.layout.yaxis.title.text == "% of clusters"


@pytest.mark.parametrize("size", [2, 7, 9, 10, 60, 5_000])
def test_every_size_up_to_nine_has_its_place_and_all_larger_ones_share_the_last(size: int) -> None:
    """The axes are the same whatever there is: no ranges of unequal width, and none that is empty among them."""
    figure = cluster_sizes(CLUSTERS.head(1).assign(size=size), "sizes")
    assert list(figure.data[-1].y) == [100.0 if place == min(size, 10) else 0.0 for place in range(2, 11)]
    assert list(figure.layout.xaxis.categoryarray) == list(figure.layout.xaxis.tickvals) == SIZES
    assert [text.replace("<br>", " ") for text in figure.layout.xaxis.ticktext] == SIZES
    assert figure.layout.xaxis.range == (-0.6, 8.6)
    assert figure.layout.yaxis.range == (0, 108)


def test_the_last_place_tells_which_sizes_it_holds() -> None:
    told = [point[0] for point in cluster_sizes(CLUSTERS, "sizes").data[0].customdata]
    assert (told[0], told[-1]) == ("2 members", "15 to 2,000 members")
    for sizes, last in (([2], "10 or more members"), ([745, 745], "745 members")):
        some = cluster_sizes(CLUSTERS.head(len(sizes)).assign(size=sizes), "sizes")
        assert some.data[0].customdata[-1][0] == last


def test_one_cluster_and_one_other_are_told_in_the_singular() -> None:
    _, members, agents = boost_curve(CLUSTERS, 0.2, "boosts").data
    assert list(members.hovertext) == ["2 clusters", *["1 cluster"] * 3]
    assert list(agents.text) == ["0 others", "1 other", "3 others"]
    independent = cluster_sizes(CLUSTERS, "sizes").data[0]
    assert (independent.hovertext[0], independent.hovertext[1]) == ("1 cluster", "0 clusters")


def test_clusters_sit_on_the_boost_curve() -> None:
    figure = boost_curve(CLUSTERS, 0.2, "boosts")
    curve, members, agents = figure.data
    assert curve.y[-1] == pytest.approx(0.2 * math.log2(2_000))
    assert list(members.x) == [1, 2, 14, 1_999]
    assert list(members.y) == [pytest.approx(0.2 * math.log2(1 + others)) for others in (1, 2, 14, 1_999)]
    assert dict(zip(agents.x, agents.customdata, strict=True)) == {0: 2, 1: 2, 3: 1}
    for axis, last in ((figure.layout.xaxis, 1_999), (figure.layout.yaxis, curve.y[-1])):
        assert axis.range[0] < 0 < last < axis.range[1]  # a mark at an end covers no label
    unscaled = boost_curve(CLUSTERS, 0.0, "boosts").layout.yaxis.range
    assert unscaled[0] < 0 < unscaled[1]


def test_strips_cross_what_differs_from_the_first() -> None:
    one, other = [1] * 64, [1] * 63 + [0]
    figure = bit_strips([one, other], ["★ a", "b"], "bits")
    assert (list(figure.data[1].x), list(figure.data[1].y)) == ([63], [1])
    assert list(figure.layout.yaxis.ticktext) == ["★ a", "b"]


def test_a_matrix_marks_what_lies_beyond_the_threshold() -> None:
    figure = distance_matrix([[0, 2, 5], [2, 0, 3], [5, 3, 0]], ["a", "b", "c"], 3, "bits", "matrix")
    told = sorted(text for trace in figure.data[1:] for text in trace.text)
    assert told == ["2", "2", "3", "3", "5!", "5!"]


def test_a_map_counts_who_is_alone_and_rings_what_is_open() -> None:
    alone = pd.DataFrame({"x": [0.1, 0.1, 0.9], "y": [0.1, 0.1, 0.9]})
    marks = pd.DataFrame(
        {"x": [0.5], "y": [0.5], "count": [3], "kind": ["disputed"], "cluster": ["id-1"], "text": ["&lt;b>x"]}
    )
    figure = observation_map(alone, marks, "id-1", [(0, 0), (1, 0), (1, 1)], "map")
    by_name = {trace.name: trace for trace in figure.data}
    assert [point[1] for point in by_name["in no cluster"].customdata] == [2, 1]
    assert by_name["✕ disputed"].customdata[0] == ["id-1", 3, "&lt;b>x"]
    assert by_name["✕ disputed"].marker.symbol == "x"
    assert list(by_name["opened"].x) == [0.5]
    assert list(by_name["area"].x) == [0, 1, 1, 0]  # closed
    bare = observation_map(alone.head(0), marks.head(0), None, [], "map")
    assert [trace.name for trace in bare.data] == ["in no cluster"]

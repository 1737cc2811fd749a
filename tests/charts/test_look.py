"""Colours that carry meaning can be told from what they lie on, in both themes (WCAG 2.2, 1.4.3 and 1.4.11).

Axes of counts name each number once.
"""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from charts.activity import feedback_by_day
from charts.agreement import KINDS
from charts.drift import trends
from charts.flips import movers
from charts.impact import delta_histogram
from charts.impact_parts import weight_histogram
from charts.look import DEGRADED, DISPUTED, DOWN, NEUTRAL, UP, count_axis
from charts.observation_map import observation_map
from charts.statement import DARK_DISPUTED, LIGHT_DISPUTED
from tests.app_server import ROOT

if TYPE_CHECKING:
    from plotly.graph_objs.layout import XAxis, YAxis

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it, of a colour like #1B7F79."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def backgrounds(theme: str) -> list[str]:
    colours = THEME[theme]
    return [colours["backgroundColor"], colours["secondaryBackgroundColor"], colours["sidebar"]["backgroundColor"]]


def test_contrast_is_that_of_the_definition() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("colour", [UP, DOWN, DISPUTED, DEGRADED, NEUTRAL])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_mark_of_a_chart_stands_out(theme: str, colour: str) -> None:
    assert contrast(colour, THEME[theme]["backgroundColor"]) >= 3


def over(colour: str, ground: str, opacity: float) -> str:
    """What is seen of a colour through which the ground shines."""
    both = [(int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(opacity * one + (1 - opacity) * other):02X}" for one, other in both)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_mark_of_the_map_stands_out_as_it_is_drawn(theme: str, kind: str) -> None:
    alone = pd.DataFrame({"x": [], "y": []})
    marks = pd.DataFrame([(0.5, 0.5, 1, kind, "id", "text")], columns=["x", "y", "count", "kind", "cluster", "text"])
    drawn = observation_map(alone, marks, None, [], "map").data[1]
    ground = THEME[theme]["backgroundColor"]
    for opacity in (drawn.marker.opacity, drawn.selected.marker.opacity, drawn.unselected.marker.opacity):
        assert contrast(over(drawn.marker.color, ground, opacity), ground) >= 3


@pytest.mark.parametrize("colour", [DARK_DISPUTED, LIGHT_DISPUTED])
def test_disputed_words_can_be_read(colour: str) -> None:
    theme = "light" if colour == DARK_DISPUTED else "dark"
    assert contrast(colour, THEME[theme]["backgroundColor"]) >= 4.5


@pytest.mark.parametrize("name", ["textColor", "linkColor", "orangeTextColor"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_wherever_it_stands(theme: str, name: str) -> None:
    assert min(contrast(THEME[theme][name], ground) for ground in backgrounds(theme)) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_chosen_stands_out(theme: str) -> None:
    """The colour of the focus, of switches and of sliders."""
    assert min(contrast(THEME[theme]["primaryColor"], ground) for ground in backgrounds(theme)) >= 3


def axes_of_counts(count: int) -> dict[str, XAxis | YAxis]:
    """Every axis of counts, where the most is so many; places moved are counts as well."""
    since = datetime(2026, 11, 1, tzinfo=UTC)
    days = pd.DataFrame({"day": [since], "retrievals": [count], "measured": [count], "moved": [count]})
    moves = pd.DataFrame(
        {
            "unweighted_rank": [count - 1, 0],
            "weighted_rank": [0, 0],
            "weight_bin": [20, 3],
            "injected": pd.array([True, False], dtype="boolean"),
            "candidates": [count, 1],
        }
    )
    alerts = pd.DataFrame({"day": [since], "arisen": [count], "new": [count], "old": [0], "a": [0], "b": [0]})
    observations = pd.DataFrame({"text": ["text"], "entered": [count - 1], "left": [1]})
    by_place = delta_histogram(moves.assign(unweighted_rank=[count, 1])).layout
    return {
        "retrievals per day": feedback_by_day(days, since, since + timedelta(days=7)).layout.yaxis,
        "arose": trends(alerts, ("new", "old", "a", "b")).layout.yaxis,
        "open": trends(alerts, ("new", "old", "a", "b")).layout.yaxis2,
        "places": by_place.xaxis,
        "candidates by places": delta_histogram(moves.assign(unweighted_rank=[1, 0])).layout.yaxis,
        "candidates by weight": weight_histogram(moves).layout.yaxis,
        "blocks": movers(observations, "title").layout.xaxis,
    }


NAMES = list(axes_of_counts(1))


@pytest.mark.parametrize("count", [1, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_an_axis_of_few_names_each_number_once(name: str, count: int) -> None:
    """Plotly put halves between them, which whole numbers name twice: 0, 1, 1, 2, 2, 3, 3."""
    axis = axes_of_counts(count)[name]
    assert (axis.tick0, axis.dtick) == (0, 1)
    assert axis.tickformat == ("+d" if name == "places" else ",d")


@pytest.mark.parametrize("name", NAMES)
def test_an_axis_of_many_is_left_to_plotly(name: str) -> None:
    assert axes_of_counts(5)[name].dtick is None


def test_about_so_many_ticks_are_asked_for_where_there_are_many() -> None:
    assert count_axis(4, 3) == {"tickformat": ",d", "tick0": 0, "dtick": 1}
    assert count_axis(5, 3) == {"tickformat": ",d", "nticks": 3}

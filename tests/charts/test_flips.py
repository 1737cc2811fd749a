"""Who moves most, and how sessions ended around a switch: what stands over and beside it can be read."""

from __future__ import annotations

import pandas as pd

from charts.flips import around_the_switch, movers
from charts.look import LINE, LONGEST_LINE

WEEKS = pd.DataFrame(
    {"begins": ["2026-10-01", "2026-10-11"], "on": [True, False], "sessions": [40, 40], "accepted": [30, 26]}
)


def test_the_finding_around_a_switch_is_read_to_its_end_also_where_two_days_are_named() -> None:
    """On one line it measured 587 pixels where a window of 900 has 544."""
    told = "Accepted -10.5 pt (95 %: -15.7 to -5.42) since weighting went off"
    short, long = (
        around_the_switch(WEEKS, "2026-10-11", f"{told} {when}").layout
        for when in ("on 9 Oct", "between 9 Oct and 11 Oct")
    )
    assert short.title.text == f"{told} on 9 Oct"
    lines = long.title.text.split("<br>")
    assert lines == [f"{told} between", "9 Oct and 11 Oct"]  # and no day without its month
    assert max(map(len, lines)) <= LONGEST_LINE
    assert long.height - short.height == long.margin.t - short.margin.t == LINE  # the picture keeps its room


def test_one_block_is_told_in_the_singular() -> None:
    left, entered = movers(pd.DataFrame({"text": ["one", "two"], "entered": [1, 0], "left": [0, 2]}), "title").data
    assert (left.hovertext, entered.hovertext) == (("0 blocks", "2 blocks"), ("1 block", "0 blocks"))

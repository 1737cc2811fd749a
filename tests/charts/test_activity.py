"""Retrievals by day: the finding above them in a line where a window of 900 pixels holds it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd

from charts.activity import feedback_by_day
from charts.look import LINE

SINCE = datetime(2026, 11, 1, tzinfo=UTC)


def test_the_finding_is_broken_only_where_it_would_be_cut() -> None:
    """819 of 1 239 are 75 letters with the words around them, 112 345 of 223 456 are 81."""

    def picture(moved: int, measured: int) -> tuple[str, float]:
        daily = pd.DataFrame({"day": [SINCE], "retrievals": [measured], "measured": [measured], "moved": [moved]})
        layout = feedback_by_day(daily, SINCE, SINCE + timedelta(days=7)).layout
        return layout.title.text, layout.margin.t

    (short, over_short), (long, over_long) = picture(819, 1239), picture(112_345, 223_456)
    assert short == "Feedback changed the top 5 in 66.1 % of retrievals: 819 of 1,239 comparable"
    assert long == "Feedback changed the top 5 in 50.3 %<br>of retrievals: 112,345 of 223,456 comparable"
    assert over_long - over_short == LINE

"""Everything Feedback Impact asks of the store, from one snapshot; a part that is not shown is not asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from analysis.ratios import split
from controls.impact.filters import LEFT_OUT
from controls.loading import load
from queries.drawn import WHOLE
from queries.impact.left_out import LeftOut
from queries.impact.listed import ListedRetrievals
from queries.impact.measures import Measures
from queries.impact.moves import Movers, Moves
from queries.impact.opened import OpenedRetrieval
from queries.impact.outcomes import SessionOutcomes
from queries.impact.selection import Newest, Timeless

if TYPE_CHECKING:
    from datetime import datetime

    from queries.engine import Question
    from queries.impact.selection import Selection


@dataclass(frozen=True, eq=False)
class Impact:
    """The frames behind the page; ``part``, ``left_out`` and ``opened`` are absent where the page does not show them.

    ``share`` is that of the log which was read; ``newest`` is absent where nothing was logged.
    """

    days: pd.DataFrame
    now: pd.Series[float]
    then: pd.Series[float]
    timeless: int
    moves: pd.DataFrame
    listed: pd.DataFrame
    part: pd.DataFrame | None
    left_out: pd.DataFrame | None
    opened: pd.DataFrame | None
    newest: datetime | None
    as_of: datetime
    share: float = WHOLE

    @property
    def about(self) -> str:
        """The sign before an estimate."""
        return "" if self.share >= WHOLE else "≈ "

    @property
    def seen(self) -> float:
        """The share of the comparable retrievals that figures rest on, in the window that has less of them."""
        if self.share >= WHOLE:
            return WHOLE
        rests = (float(each["drawn"] / each["comparable"]) for each in (self.now, self.then) if each["comparable"])
        return min(self.share, *rests, WHOLE)


def ask(
    chosen: Selection, cell: tuple[int, int] | None, part: str, opened: str | None, reason: str | None = None
) -> Impact:
    """The page's questions at once, so that its figures agree with each other; ``reason`` is of what is left out."""
    asked: dict[str, Question] = {
        "daily": Measures(chosen),
        "timeless": Timeless(chosen.scope, chosen.shape),
        "moves": Moves(chosen),
        "listed": ListedRetrievals(chosen, cell),
    }
    if chosen.share < WHOLE:
        asked["newest"] = Newest(chosen.scope)
    if part == "movers":
        asked["part"] = Movers(chosen)
    if part == "outcomes":
        asked["part"] = SessionOutcomes(chosen)
    if part == LEFT_OUT:
        asked["left_out"] = LeftOut(chosen, reason)
    if opened is not None:
        asked["opened"] = OpenedRetrieval(chosen.scope, opened, chosen.shape)
    answers = load(*asked.values())
    found = dict(zip(asked, answers.frames, strict=True))
    days, now, then = split(found["daily"], chosen.scope.since)
    if now["retrievals"] and not now["comparable"] and part != LEFT_OUT:
        found["left_out"] = load(LeftOut(chosen, reason)).frames[0]  # all there is to see, as is only known by now
    newest = found["newest"]["at"].max() if "newest" in found else days["newest"].max()
    return Impact(
        days=days,
        now=now,
        then=then,
        timeless=int(found["timeless"]["log_rows"].iloc[0]),
        moves=found["moves"],
        listed=found["listed"],
        part=found.get("part"),
        left_out=found.get("left_out"),
        opened=found.get("opened"),
        newest=None if pd.isna(newest) else newest.to_pydatetime(),
        as_of=answers.as_of,
        share=chosen.share,
    )

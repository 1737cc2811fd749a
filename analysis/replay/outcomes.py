"""What outcomes say where an organization switched weighting or the boost: before and after, and the trend before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from analysis.intervals import FLOOR, difference, resampled
from queries.engine import AGGREGATE
from queries.flags.turned_by import TurnedBy
from queries.replay.outcomes import SwitchedSessions
from queries.shape import keeps, log_shape
from retrieval.pipelines import BOOST_ON, WEIGHTING_OFF

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from queries.engine import Store
    from queries.flags.turned_by import Turn
    from queries.replay.outcomes import SessionEndings
    from queries.scope import Scope

LOOKED_BACK = timedelta(days=90)
HELD = timedelta(hours=1)  # a platform may go by what it read of a flag for a while
WEEK = 7 * 86_400 * 1_000_000

NO_BOOST_LOGGED = "The log does not say which retrievals had the boost."

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Share:
    """Sessions that ended, and how many of them were accepted."""

    sessions: int
    accepted: int

    @property
    def share(self) -> float | None:
        """Accepted over all; nothing where there are none."""
        return self.accepted / self.sessions if self.sessions else None


@dataclass(frozen=True)
class Difference:
    """The later share less the earlier, with the interval in which 95 of 100 resamplings of the sessions lie."""

    earlier: Share
    later: Share
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Week:
    """One week of sessions, begun at a moment before or after the switch."""

    begins: str
    on: bool
    sessions: int
    accepted: int


@dataclass(frozen=True)
class NaturalExperiment:
    """An organization that switched something once: outcomes before and after, and whether they moved before it did.

    ``halves`` are the sessions of the first and the second half of the time before; ``before_it`` is their difference,
    where both have enough. ``straddling`` are sessions with retrievals of both kinds, which are on neither side;
    ``last_before`` is when the last session before it began, ``change`` the flag's change in the audit, where it is
    there.
    """

    switched_at: str
    to: bool
    effect: Difference
    halves: tuple[int, int]
    before_it: Difference | None
    weeks: tuple[Week, ...]
    straddling: int
    last_before: str
    change: int | None = None


@dataclass(frozen=True)
class Switched:
    """The natural experiment that a switch made, or why there is none; ``throughout``: how it was in all sessions."""

    experiment: NaturalExperiment | None
    why_none: str | None
    throughout: bool | None = None


@dataclass(frozen=True)
class Outcomes:
    """What came of switching weighting, and of switching the boost; ``unknown`` sessions are in no share of either."""

    weighting: Switched
    boost: Switched
    unknown: int = 0


def outcomes(store: Store, scope: Scope) -> Outcomes:
    """Both for one organization, over the 90 days that end with its window: a shorter one seldom holds a switch.

    A natural experiment is not a randomised one: whatever else changed at that time is in the difference too.
    """
    wide = replace(scope, since=min(scope.since, scope.until - LOOKED_BACK))
    with store.reading(scope.reach, AGGREGATE, name="outcomes") as snapshot:
        shape = log_shape(snapshot)
        weighting, boost = SwitchedSessions(wide, shape).read(snapshot)
        told = switched(boost, "The boost") if shape.corroboration_boost else Switched(None, NO_BOOST_LOGGED)
        found = Outcomes(switched(weighting, "Weighting"), told, weighting.unknown)
        return _with_changes(snapshot, wide, found) if keeps(snapshot, "flag_changes") else found


def _with_changes(snapshot: Connection, scope: Scope, found: Outcomes) -> Outcomes:
    """The same with the changes of flags that made the switches."""

    def of(made: Switched, flag: str, *, on: bool) -> Switched:
        if scope.org is None or (made.experiment is None and made.throughout is None):
            return made
        if made.experiment is None:
            return _since(made, TurnedBy(scope.org, flag, scope.until, on, scope.since).turn(snapshot))
        last, first = (datetime.fromisoformat(at) for at in (made.experiment.last_before, made.experiment.switched_at))
        by = TurnedBy(scope.org, flag, first, on, last - HELD)
        return replace(made, experiment=replace(made.experiment, change=by.ask(snapshot)))

    weighted, boosted = (
        each.experiment.to if each.experiment is not None else not each.throughout
        for each in (found.weighting, found.boost)
    )
    return replace(
        found,
        weighting=of(found.weighting, WEIGHTING_OFF, on=not weighted),
        boost=of(found.boost, BOOST_ON, on=boosted),
    )


def _since(made: Switched, turn: Turn | None) -> Switched:
    """Beside how it was in all sessions, since when it is otherwise: whoever turned it yesterday asks for that."""
    if turn is None:
        return made
    to = "off" if made.throughout else "on"
    return replace(
        made,
        why_none=f"{made.why_none} It was switched {to} {turn.at:%-d %b %Y %H:%M} UTC; in this window no session with "
        f"it {to} has ended since.",
    )


def switched(found: SessionEndings, what: str) -> Switched:
    """The natural experiment in sessions by time, if what they are told apart by was switched exactly once."""
    clear = found.always == found.ever
    on, at, accepted = found.always[clear], found.at[clear], found.accepted[clear]
    switches = np.flatnonzero(np.diff(on.astype(np.int8)))
    if not len(on) and found.unknown:
        return Switched(None, "No session with a retrieval has one of the three outcomes yet.")
    if not len(on):
        return Switched(None, "No session with a retrieval has ended yet.")
    if not len(switches):
        state = "on" if on[0] else "off"
        every = "the only session" if len(on) == 1 else f"all {len(on):,} sessions"
        return Switched(None, f"{what} was {state} in {every}: there is nothing to compare with.", bool(on[0]))
    if len(switches) > 1:
        return Switched(None, f"{what} was switched {len(switches)} times: no single before and after.")
    cut = int(switches[0]) + 1
    if min(cut, len(on) - cut) < FLOOR:
        return Switched(
            None,
            f"Collecting data: {cut} sessions before the switch and {len(on) - cut} after, {FLOOR} each are needed.",
        )
    middle = int(np.searchsorted(at[:cut], (at[0] + at[cut - 1]) // 2, side="right"))
    enough = min(middle, cut - middle) >= FLOOR
    return Switched(
        NaturalExperiment(
            switched_at=_moment(int(at[cut])),
            to=bool(on[cut]),
            effect=_difference(accepted[:cut], accepted[cut:]),
            halves=(middle, cut - middle),
            before_it=_difference(accepted[:middle], accepted[middle:cut]) if enough else None,
            weeks=_weeks(at, on, accepted, int(at[cut])),
            straddling=int((~clear).sum()),
            last_before=_moment(int(at[cut - 1])),
        ),
        None,
    )


def _difference(earlier: Flags, later: Flags) -> Difference:
    one, other = (Share(len(side), int(side.sum())) for side in (earlier, later))
    first, second = resampled(*((side.accepted, side.sessions - side.accepted) for side in (one, other)))
    before, now = ((side.accepted, side.sessions) for side in (one, other))
    found = difference(now, before, second[:, 0] - first[:, 0])
    return Difference(one, other, found.value, found.low, found.high)


def _weeks(at: npt.NDArray[np.int64], on: Flags, accepted: Flags, switch: int) -> tuple[Week, ...]:
    """Weeks counted from the switch, so that none lies on both sides of it."""
    week = (at - switch) // WEEK
    return tuple(
        Week(
            _moment(switch + int(number) * WEEK),
            bool(on[week == number][0]),
            int((week == number).sum()),
            int(accepted[week == number].sum()),
        )
        for number in np.unique(week)
    )


def _moment(microseconds: int) -> str:
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="seconds")

"""Outcomes under settings that were never live: reweighted where the log says how likely each order was."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.intervals import FLOOR, Interval, Z, wilson
from analysis.replay.replaying import Replayer, effects_of
from queries.engine import AGGREGATE
from queries.replay.outcomes import EndedSessions
from queries.shape import log_shape

if TYPE_CHECKING:
    from analysis.replay.orders import Flags, Scores
    from analysis.replay.settings import WhatIf
    from queries.engine import Store
    from queries.scope import Scope

CLIP = 50.0  # no session counts for more than so many

NOT_LOGGED = (
    "Not estimable. The ranker is deterministic: every order it did not choose had probability 0, and no "
    "propensities are logged, so no outcome can be reweighted to settings that were never live."
)
NOT_USABLE = (
    "Not estimable. The log has a column propensity, but no retrieval of a session that ended has in all its rows the "
    "same number above 0 and up to 1."
)
ALL_CERTAIN = (
    "Not estimable. Propensities are logged and all are 1: nothing was left to chance, so every order that was not "
    "chosen had probability 0."
)
NEVER_GIVEN = (
    "Not estimable. No session was given, in all its retrievals, what these settings would have chosen: the log never "
    "tried it."
)
WOULD_MAKE_IT_SO = (
    "Swapping two adjacent candidates at random in a small share of retrievals, and logging in a column propensity, in "
    "every row of a retrieval, how likely the order was that it got, would make it so."
)


@dataclass(frozen=True)
class Estimate:
    """The share of sessions that would have been accepted, with an interval of 95 %, and what it stands on.

    A session weighs 1 over how likely its orders were if the settings give every one of them, else nothing, and at most
    50. ``effective`` is how many sessions of equal weight would say as much; ``mean`` is 1 but for chance where the log
    could have tried all that the settings choose. ``clipped`` is the share of the ``matching`` that weigh less than
    they should. Of the sessions none is ``unknown``: those ended with a word of the platform's own.
    """

    sessions: int
    left_out: int
    matching: int
    was: float
    accepted: float
    low: float
    high: float
    effective: float
    largest: float
    clipped: float
    mean: float
    unknown: int = 0


@dataclass(frozen=True)
class Reweighted:
    """An estimate, or in words why there is none and what would make one."""

    estimate: Estimate | None
    why_none: str | None = None
    would_need: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Every field by name; ``from_json`` reads them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Reweighted:
        """What ``to_json`` wrote."""
        return cls(**{**said, "estimate": said["estimate"] and Estimate(**said["estimate"])})


def reweighted(store: Store, scope: Scope, settings: WhatIf) -> Reweighted:
    """How the scope's sessions would have ended under the settings; retrievals without a propensity say nothing.

    Sessions of which a retrieval cannot be replayed or has no propensity are left out, and counted.
    """
    with store.reading(scope.reach, AGGREGATE, name="propensities") as snapshot:
        shape = log_shape(snapshot)
        ended, unknown = EndedSessions(scope, shape).read(snapshot) if shape.propensity else ({}, 0)
    if not shape.propensity:
        return Reweighted(None, NOT_LOGGED, WOULD_MAKE_IT_SO)
    replayer = Replayer(store, scope, explored=True)
    effects = effects_of(list(replayer.under(settings)))
    likely = replayer.pool.propensity[effects.retrieval]
    names = [replayer.pool.session[place] for place in effects.retrieval.tolist()]
    usable = (likely > 0) & (likely <= 1) & np.array([name in ended for name in names], np.bool_)
    if not usable.any():
        return Reweighted(None, NOT_USABLE, WOULD_MAKE_IT_SO)
    if (likely[usable] == 1).all():
        return Reweighted(None, ALL_CERTAIN, WOULD_MAKE_IT_SO)
    sessions, codes = np.unique(np.array(names, np.str_)[usable], return_inverse=True)
    whole = np.bincount(codes) == [ended[name][1] for name in sessions.tolist()]
    differing = np.bincount(codes, effects.changed[usable])
    weights = np.where(differing == 0, np.exp(np.bincount(codes, -np.log(likely[usable]))), 0.0)[whole]
    accepted = np.array([ended[name][0] for name in sessions.tolist()], np.bool_)[whole]
    return _judged(weights, accepted, len(ended) - len(weights), unknown)


def snips(weights: Scores, accepted: Flags, left_out: int = 0) -> Estimate:
    """The self-normalised estimate of sessions with these weights, some of them above 0; its error is linearised.

    Where all or none of the sessions that count were accepted that error is none, and Wilson's interval of as many as
    they weigh stands for it.
    """
    kept = np.minimum(weights, CLIP)
    total, matching = kept.sum(), int((weights > 0).sum())
    share = float((kept * accepted).sum() / total)
    effective = float(total**2 / (kept**2).sum())
    half = Z * float(np.sqrt((kept**2 * (accepted - share) ** 2).sum()) / total)
    sure = len(set(accepted[weights > 0].tolist())) == 1
    around = (
        wilson(share * effective, effective) if sure else Interval(share, max(share - half, 0), min(share + half, 1))
    )
    return Estimate(
        sessions=len(weights),
        left_out=left_out,
        matching=matching,
        was=float(accepted.mean()),
        accepted=share,
        low=around.low,
        high=around.high,
        effective=effective,
        largest=float(weights.max()),
        clipped=float((weights > CLIP).sum() / matching),
        mean=float(weights.mean()),
    )


def _judged(weights: Scores, accepted: Flags, left_out: int, unknown: int) -> Reweighted:
    if not (weights > 0).any():
        return Reweighted(None, NEVER_GIVEN, WOULD_MAKE_IT_SO)
    found = snips(weights, accepted, left_out)
    if found.effective < FLOOR:
        words = f"Collecting data: the sessions that match weigh as much as {found.effective:.3g}, {FLOOR} are needed."
        return Reweighted(None, words)
    return Reweighted(replace(found, unknown=unknown))

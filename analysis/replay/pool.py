"""The logged retrievals that can be replayed, as aligned arrays, and why the others cannot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from analysis.replay.orders import Orders, block_sizes, in_order, ranks_of
from queries.replay.logged import READING, ReplayLog
from queries.replay.texts import Lengths
from ranking.budget import CHARACTERS_PER_TOKEN, context_budget

if TYPE_CHECKING:
    from queries.engine import Store
    from queries.replay.logged import Ids, LoggedRetrievals
    from queries.scope import Scope

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

# why a retrieval cannot be replayed; the first that holds is the one that is told
REASONS = {
    "no_time": "no time was logged",
    "beyond": "older than the newest 20,000 retrievals",
    "incomplete": "logged incompletely (a rank is missing or repeated)",
    "repeated": "an observation was logged twice",
    "not_finite": "a score or weight is missing or not finite",
    "deleted": "an observation was deleted since",
    "explored": "its order was drawn at random: it follows from no setting",
    "unexplained": "its ranks do not follow from its scores: logged under another pipeline",
    "other_block": "its block does not follow from its ranks: a text or the budget changed since",
    "no_vector": "an observation has no stored vector to compare",
}


@dataclass(frozen=True)
class Coverage:
    """How many of the logged retrievals could be replayed, and how many could not for each reason."""

    logged: int
    replayed: int
    reasons: tuple[tuple[str, int], ...]

    @property
    def share(self) -> float | None:
        """Replayed over logged; nothing where nothing was logged."""
        return self.replayed / self.logged if self.logged else None


@dataclass(frozen=True, eq=False)
class Group:
    """Retrievals with equally many candidates: columns of shape (retrievals, candidates), in candidate order.

    ``logged`` is the order they were logged with; ``block`` how many of the best were in the block.
    """

    retrieval: Whole
    id: Ids
    relevance: Scores
    weight: Scores
    boost: Scores
    tokens: Whole
    boosted: Flags
    weighting: Flags
    budget: Whole
    at: Whole
    logged: Orders

    @property
    def candidates(self) -> int:
        """How many each of them has."""
        return int(self.id.shape[1])

    def kept(self, keep: Flags) -> Group:
        """Only some of the retrievals."""
        if keep.all():
            return self
        columns = {
            name: getattr(self, name)[keep]
            for name in ("retrieval", "id", "relevance", "weight", "boost", "tokens", "boosted", "weighting", "budget")
        }
        return Group(**columns, at=self.at[keep], logged=self.logged.kept(keep))


@dataclass(frozen=True, eq=False)
class Pool:
    """Everything a replay reads of the log, read once: any number of settings can then be tried."""

    org_id: str
    retrieval: tuple[str, ...]
    session: tuple[str, ...]
    propensity: Scores
    groups: tuple[Group, ...]
    logged: int
    excluded: dict[str, int] = field(repr=False)

    def coverage(self, replayed: int, **more: int) -> Coverage:
        """The coverage of a replay of so many of these, with what it had to leave out itself."""
        reasons = self.excluded | more
        return Coverage(self.logged, replayed, tuple((name, reasons[name]) for name in REASONS if reasons.get(name)))


def read_pool(store: Store, scope: Scope, *, explored: bool = False) -> Pool:
    """The retrievals of one organization's scope, each checked: as logged it must come out as logged.

    ``explored`` keeps those whose order was drawn at random, with the order they were logged with: no setting gives it
    back, but how they ended can be weighed with how likely it was.
    """
    if scope.org is None:
        raise ValueError("a replay needs one organization; found none")
    with store.reading(scope.reach, READING, name="replay") as snapshot:
        log = ReplayLog(scope).read(snapshot)
        lengths = Lengths(scope.org).read(snapshot)
    place = np.searchsorted(lengths.id, log.candidates["id"]).clip(max=max(len(lengths.id) - 1, 0))
    known = lengths.id[place] == log.candidates["id"] if len(lengths.id) else np.zeros(len(log.candidates), np.bool_)
    characters = np.where(known, lengths.characters[place], 0) if len(lengths.id) else np.zeros_like(place)
    groups, excluded = [], dict.fromkeys(REASONS, 0)
    excluded |= {"no_time": log.timeless, "beyond": log.logged - len(log.retrieval)}
    starts = np.cumsum(log.size) - log.size
    for size in np.unique(log.size).tolist():
        mine = np.flatnonzero(log.size == size)
        cells = starts[mine][:, None] + np.arange(size)
        tokens = -(-characters[cells] // CHARACTERS_PER_TOKEN)
        group, reasons = _checked(log, mine, cells, known[cells], tokens, explored=explored)
        groups.append(group)
        for name, count in reasons.items():
            excluded[name] += count
    logged = log.logged + log.timeless
    return Pool(scope.org, log.retrieval, log.session, log.propensity, tuple(groups), logged, excluded)


def _checked(
    log: LoggedRetrievals, mine: Whole, cells: Whole, known: Flags, tokens: Whole, *, explored: bool
) -> tuple[Group, dict[str, int]]:
    """The retrievals of one size that can be replayed, and how many cannot for each reason."""
    found = log.candidates[cells]
    before, after = found["before"].astype(np.int64), found["after"].astype(np.int64)
    scores = {name: found[name].astype(np.float64) for name in ("relevance", "weight", "weighted", "boost")}
    every = np.arange(cells.shape[1])
    ids = np.sort(found["id"], axis=1)
    faults: dict[str, Any] = {
        "incomplete": ~((np.sort(before, axis=1) == every) & (np.sort(after, axis=1) == every)).all(axis=1),
        "repeated": (ids[:, 1:] == ids[:, :-1]).any(axis=1),
        "not_finite": ~np.logical_and.reduce([np.isfinite(each).all(axis=1) for each in scores.values()]),
        "deleted": (~known).any(axis=1),
    }
    sound = ~np.logical_or.reduce(list(faults.values()))
    # a row that is left out anyway is computed with zeros, so that no arithmetic warns
    relevance, weight, boost = (
        np.where(sound[:, None], scores[name], 0.0) for name in ("relevance", "weight", "boost")
    )
    plain = relevance + boost
    weighted = np.where(log.weighting[mine][:, None], plain * weight, plain)
    order = in_order(weighted)
    faults["unexplained"] = (ranks_of(in_order(plain)) != before).any(axis=1)
    elsewhere = (ranks_of(order) != after).any(axis=1)
    drawn = elsewhere & (log.propensity[mine] > 0) & (log.propensity[mine] < 1) & sound & ~faults["unexplained"]
    faults["unexplained"] |= elsewhere & ~drawn
    order = np.where(drawn[:, None], np.argsort(after, axis=1, kind="stable"), order)
    budget = np.array(
        [
            context_budget(work) if tokens_given < 0 else tokens_given
            for tokens_given, work in zip(log.budget[mine].tolist(), (log.work_type[n] for n in mine), strict=True)
        ],
        np.int64,
    )
    block = block_sizes(np.take_along_axis(tokens, order, axis=1), budget)
    told = found["injected"].astype(np.int64)
    faults["other_block"] = ((told >= 0) & ((after < block[:, None]) != (told == 1))).any(axis=1)
    if not explored:
        faults["explored"] = drawn
    left, counts = np.ones(len(mine), np.bool_), {}
    for name in REASONS:
        if name in faults:
            counts[name] = int((left & faults[name]).sum())
            left &= ~faults[name]
    group = Group(
        retrieval=mine,
        id=found["id"],
        relevance=relevance,
        weight=weight,
        boost=boost,
        tokens=tokens,
        boosted=log.boosted[mine],
        weighting=log.weighting[mine],
        budget=budget,
        at=log.at[mine],
        logged=Orders(order, weighted, block),
    )
    return group.kept(left), counts

"""Logged retrievals under other settings: what would have changed, exactly, for those that can be replayed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.replay.evidence import Evidence
from analysis.replay.fragile import Fragility, fragility
from analysis.replay.measures import Effects, overlap_of_ranks, tau_of_ranks, top_changed
from analysis.replay.orders import Orders, behind, block_sizes, diversified, in_order, minmax_rows
from analysis.replay.pool import Coverage, read_pool
from queries.replay.logged import id_text
from ranking.corroboration import corroboration_boost
from ranking.feedback import Normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analysis.replay.orders import Flags, Scores
    from analysis.replay.pool import Group, Pool
    from analysis.replay.settings import WhatIf
    from queries.engine import Store
    from queries.scope import Scope

WORST, FLIPS, MOVERS = 20, 500, 12  # listed; counts are always of all


@dataclass(frozen=True)
class Changed:
    """One retrieval whose order changed: how far it still agrees with the log, and its flips."""

    retrieval: str
    rbo: float
    top_changed: bool
    entered: int
    left: int


@dataclass(frozen=True)
class BlockFlip:
    """One observation that would have entered or left a block, with its ranks from 0 before and after."""

    retrieval: str
    observation: str
    entered: bool
    before: int
    after: int


@dataclass(frozen=True)
class Mover:
    """How often one observation would have entered and left blocks."""

    observation: str
    entered: int
    left: int


@dataclass(frozen=True)
class Replay:
    """What other settings would have done; means are over the replayed retrievals and None where there are none."""

    what_if: WhatIf
    coverage: Coverage
    changed: int
    top_changed: int
    rbo: float | None
    tau: float | None
    entered: int
    left: int
    flipped: int
    worst: tuple[Changed, ...]
    flips: tuple[BlockFlip, ...]
    movers: tuple[Mover, ...]
    fragile: Fragility | None

    def to_json(self) -> dict[str, Any]:
        """Every field by name, in values that JSON has."""
        return {**asdict(self), "what_if": self.what_if.to_json()}


@dataclass(frozen=True, eq=False)
class Replayed:
    """A group under other settings: the retrievals that could be replayed, as logged and as they would have been.

    ``base`` is what a weight is multiplied with, where weighting is ``on``.
    """

    group: Group
    order: Orders
    base: Scores
    on: Flags
    diversified: bool = False


class Replayer:
    """The replayable retrievals of one scope, read once; each settings then costs arithmetic alone."""

    def __init__(self, store: Store, scope: Scope, *, explored: bool = False) -> None:
        self.pool: Pool = read_pool(store, scope, explored=explored)
        self.evidence = Evidence(store, scope.reach, self.pool)

    def under(self, settings: WhatIf) -> Iterator[Replayed]:
        """Every group under the settings; where vectors are compared, only retrievals that have them all."""
        for number, group in enumerate(self.pool.groups):
            whole, alike = self.evidence.redundancy(number) if settings.diversifies else (None, None)
            boost = self._boost(number, settings)
            if whole is not None:
                group, boost = group.kept(whole), boost[whole]  # noqa: PLW2901 - the retrievals that can be replayed
            yield reordered(group, boost, alike, settings)

    def replay(self, settings: WhatIf) -> Replay:
        """The effects of the settings on what was logged."""
        groups = list(self.under(settings))
        return self._summed(settings, groups, effects_of(groups))

    def coverage(self, groups: list[Replayed]) -> Coverage:
        """How many of the logged retrievals these are."""
        replayed = sum(len(each.group.id) for each in groups)
        return self.pool.coverage(replayed, no_vector=sum(len(group.id) for group in self.pool.groups) - replayed)

    def _boost(self, number: int, settings: WhatIf) -> Scores:
        group = self.pool.groups[number]
        if settings.boost is None:
            return group.boost
        if not settings.recounts:
            return np.where(group.boosted[:, None] & settings.logged_boost_stays, group.boost, 0.0)
        recounted = corroboration_boost(self.evidence.corroborating(number, settings), settings.boost)
        return np.where(group.boosted[:, None] & settings.logged_boost_stays, group.boost, recounted)

    def _summed(self, settings: WhatIf, groups: list[Replayed], effects: Effects) -> Replay:
        names = self.pool.retrieval
        count, flips = len(effects.retrieval), effects.entered + effects.left
        # the id as the last word, so that equal stores give equal lists
        named = np.array([names[place] for place in effects.retrieval.tolist()], np.str_)
        order = np.lexsort((named, -flips, effects.rbo))
        worst = [place for place in order[: max(WORST, FLIPS)].tolist() if effects.changed[place]]
        listed = self._flips(groups, {int(effects.retrieval[place]) for place in worst})
        taus = effects.tau[np.isfinite(effects.tau)]
        return Replay(
            what_if=settings,
            coverage=self.coverage(groups),
            changed=int(effects.changed.sum()),
            top_changed=int(effects.top_changed.sum()),
            rbo=float(effects.rbo.mean()) if count else None,
            tau=float(taus.mean()) if taus.size else None,
            entered=int(effects.entered.sum()),
            left=int(effects.left.sum()),
            flipped=int((flips > 0).sum()),
            worst=tuple(
                Changed(
                    str(named[place]),
                    float(effects.rbo[place]),
                    bool(effects.top_changed[place]),
                    int(effects.entered[place]),
                    int(effects.left[place]),
                )
                for place in worst[:WORST]
            ),
            flips=tuple(flip for place in worst for flip in listed.get(int(effects.retrieval[place]), ()))[:FLIPS],
            movers=_movers(groups),
            fragile=fragility(groups, names),
        )

    def _flips(self, groups: list[Replayed], wanted: set[int]) -> dict[int, list[BlockFlip]]:
        """The flips of some retrievals, by new rank."""
        found: dict[int, list[BlockFlip]] = {}
        for each in groups:
            before, after = each.group.logged.ranks, each.order.ranks
            inside = each.order.inside
            listed = np.isin(each.group.retrieval, list(wanted))[:, None]
            for row, column in np.argwhere((each.group.logged.inside != inside) & listed).tolist():
                retrieval, cell = int(each.group.retrieval[row]), (row, column)
                id_ = id_text(bytes(each.group.id[cell]))
                flip = (bool(inside[cell]), int(before[cell]), int(after[cell]))
                found.setdefault(retrieval, []).append(BlockFlip(self.pool.retrieval[retrieval], id_, *flip))
        return {retrieval: sorted(flips, key=lambda flip: flip.after) for retrieval, flips in found.items()}


def replay(store: Store, scope: Scope, settings: WhatIf) -> Replay:
    """What the settings would have done to the logged retrievals of one organization's scope."""
    return Replayer(store, scope).replay(settings)


def reordered(group: Group, boost: Scores, alike: Scores | None, settings: WhatIf) -> Replayed:
    """The orders of a group under settings, stage by stage as ``WhatIf.stages`` says them."""
    size = group.candidates
    held = min(settings.head, size)
    among = in_order(group.relevance)[:, :held]
    kept = np.zeros(group.id.shape, np.bool_)
    np.put_along_axis(kept, among, values=True, axis=1)
    on = group.weighting if settings.weighting is None else np.full(len(group.id), settings.weighting)
    plain = group.relevance + boost
    base = minmax_rows(plain, kept) if settings.normalise is Normalise.MINMAX else plain
    scores = np.where(on[:, None], base * group.weight, plain)
    order = in_order(np.where(kept, scores, -np.inf))
    if alike is not None and settings.mmr is not None:
        order = diversified(order, scores, alike, held, settings.mmr)
        held = min(held, settings.chosen)
    order = behind(order[:, :held], size)
    budget = group.budget if settings.budget is None else np.full(len(group.id), settings.budget)
    block = block_sizes(np.take_along_axis(group.tokens, order, axis=1), budget, held)
    return Replayed(group, Orders(order, scores, block), base, on, diversified=alike is not None)


def effects_of(groups: list[Replayed]) -> Effects:
    """What happened to every retrieval, one entry each."""
    return Effects.joined([_effects(each) for each in groups])


def _effects(found: Replayed) -> Effects:
    before, after = found.group.logged.ranks, found.order.ranks
    was, is_ = found.group.logged.inside, found.order.inside
    return Effects(
        retrieval=found.group.retrieval,
        changed=(before != after).any(axis=1) | (was != is_).any(axis=1),
        top_changed=top_changed(before, after),
        rbo=overlap_of_ranks(before, after),
        tau=tau_of_ranks(before, after),
        entered=(is_ & ~was).sum(axis=1),
        left=(was & ~is_).sum(axis=1),
    )


def _movers(groups: list[Replayed]) -> tuple[Mover, ...]:
    """Who entered more often than they left, most first, then who left more often, most last."""
    nobody = np.empty(0, "S16")
    inside = [(each.group.id, each.group.logged.inside, each.order.inside) for each in groups]
    entered = np.concatenate([nobody, *(ids[is_ & ~was] for ids, was, is_ in inside)])
    left = np.concatenate([nobody, *(ids[was & ~is_] for ids, was, is_ in inside)])
    ids, codes = np.unique(np.concatenate((entered, left)), return_inverse=True)
    ins = np.bincount(codes[: len(entered)], minlength=len(ids))
    outs = np.bincount(codes[len(entered) :], minlength=len(ids))
    order = np.lexsort((ids, outs - ins))
    # half of them from either end: who gains most, who loses most
    ends = [*order[: MOVERS // 2].tolist(), *order[max(MOVERS // 2, len(order) - MOVERS // 2) :].tolist()]
    return tuple(Mover(id_text(bytes(ids[n])), int(ins[n]), int(outs[n])) for n in ends)

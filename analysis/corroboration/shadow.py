"""What a boost that is off would have done to logged retrievals, or one that is on did, and whether that is good."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from analysis.replay.measures import top_changed
from analysis.replay.pool import REASONS
from analysis.replay.replaying import Replayer, reordered
from analysis.replay.sensitivity import SAFE
from analysis.replay.settings import WhatIf
from queries.engine import LIST
from queries.flags.held import HeldOn
from queries.replay.last_before import LastBefore
from queries.replay.logged import id_text
from queries.shape import keeps, log_shape
from ranking.clusters import CountBy
from ranking.corroboration import SCALE, corroboration_boost
from retrieval.pipelines import BOOST_ON, read_flags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy.typing as npt

    from analysis.corroboration.agreement import HasStore
    from queries.engine import Store
    from queries.scope import Scope

    Report = Callable[[int, int, str], None]
    Packed = npt.NDArray[np.bytes_]

# published: what a boost may do and still be switched on (docs/pages/corroboration.md)
ENOUGH, MOST_FLIPS, LEAST_KEPT, MOST_REPEATED, MOST_DISPUTED = 50, 20.0, SAFE, 0.25, 0.05
REPLAYED = "retrievals replayed"  # the gate that says whether there is enough to judge at all
LISTED = 50  # retrievals that are named; counts are always of all


@dataclass(frozen=True)
class Shadow:
    """Counts over the replayed retrievals of a window, against the log.

    Off, they are of what switching the boost on would have done; ``on``, of what switching it off would have undone.
    ``boosted`` are the candidates that would have been lifted, or were; ``repeated`` those of them whose cluster only
    one agent wrote by then, ``disputed`` those in a cluster in which someone contradicts the canonical (None: not
    known). ``under`` are the replayed retrievals that were made with the boost; ``before`` is what was known when
    it was switched on, while too few were.
    """

    on: bool
    logged: int
    retrievals: int
    reasons: tuple[tuple[str, int], ...]
    changed: int
    top_changed: int
    entered: int
    left: int
    rbo: float | None
    boosted: int
    repeated: int
    disputed: int | None
    under: int
    before: Before | None = None

    @property
    def judged(self) -> int:
        """The retrievals that can speak for or against it: where it is on, only those that were made with it."""
        return self.under if self.on else self.retrievals

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Shadow:
        """What the worker's task returned."""
        reasons = tuple((words, count) for words, count in said["reasons"])
        before = said.get("before")
        if before is not None:
            told = before["told"]
            before = Before(**{**before, "told": None if told is None else cls.from_json(told)})
        return cls(**{**said, "reasons": reasons, "before": before})


@dataclass(frozen=True)
class Before:
    """What was foretold of a boost that is on: the window's retrievals until the change that switched it on.

    Where the window has none of them, ``last`` is when the last was made, if in the 90 days before the change.
    """

    change: int
    switched_at: str
    told: Shadow | None
    last: str | None = None


@dataclass(frozen=True)
class Gate:
    """One condition of switching on: what was measured, the published limit, and whether it holds (None: unknown)."""

    name: str
    value: float | None
    limit: float
    at_least: bool

    @property
    def holds(self) -> bool | None:
        """Whether the condition is met."""
        if self.value is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def gates(found: Shadow) -> tuple[Gate, ...]:
    """The conditions, in the order in which they are worth looking at."""
    return (
        *gates_of_ranks(found.judged, found.entered + found.left, found.top_changed),
        Gate("self-repetition among the boosted", _share(found.repeated, found.boosted), MOST_REPEATED, at_least=False),
        Gate("disputed among the boosted", _share(found.disputed, found.boosted), MOST_DISPUTED, at_least=False),
    )


GATES = 5


def gates_of_ranks(retrievals: int, flips: int, top_changed: int) -> tuple[Gate, ...]:
    """Those of them that a preview of the flag measures too, as it replays the same retrievals."""
    return (
        Gate(REPLAYED, float(retrievals), ENOUGH, at_least=True),
        Gate("flips per 100 retrievals", _share(100 * flips, retrievals), MOST_FLIPS, at_least=False),
        Gate("top 5 kept", _share(retrievals - top_changed, retrievals), LEAST_KEPT, at_least=True),
    )


def _share(part: float | None, whole: int) -> float | None:
    return None if part is None or not whole else part / whole


def verdict(found: tuple[Gate, ...]) -> bool | None:
    """Go where every gate holds, no-go where one does not; neither where one is unknown and none fails."""
    if any(gate.holds is False for gate in found):
        return False
    return None if any(gate.holds is None for gate in found) else True


def shadow(store: Store, scope: Scope, disputed: Iterable[str] | None) -> Shadow:
    """The window's retrievals with the boost as it would be live (3 bits, scale 0.1, members counted), or without it.

    The same settings as the preview of the flag, so that both say the same. A boost that is on lifted whom the log says
    it lifted; who of them only repeats is counted as of each retrieval either way. ``disputed`` are the observations
    of disputed clusters, as they are now.
    """
    with store.reading(scope.reach, LIST, name="flags") as snapshot:
        on = read_flags(snapshot, scope.org or "").boost
    against = None if disputed is None else _packed(disputed)
    found = _replayed(store, scope, against, on=on)
    return replace(found, before=_before(store, scope, against)) if on and found.under < ENOUGH else found


def _before(store: Store, scope: Scope, against: Packed | None) -> Before | None:
    """What the change that switched the boost on could know; none where the audit has nothing of it.

    It may have been made since the window: then all of the window's retrievals are those before it.
    """
    by_now = replace(scope, until=max(scope.until, datetime.now(UTC) + timedelta(days=1)))
    with store.reading(scope.reach, LIST, name="flags") as snapshot:
        kept = keeps(snapshot, "flag_changes")
        change = snapshot.execute(HeldOn(by_now, BOOST_ON).statement()).one_or_none() if kept else None
    if change is None or change.next_at is not None:
        return None
    id_, at = int(change.id), change.changed_at.astimezone(UTC)
    until = min(at, scope.until)
    told = _replayed(store, replace(scope, until=until), against, on=False) if until > scope.since else None
    if told is not None and told.logged:
        return Before(id_, at.isoformat(), told)
    with store.reading(scope.reach, LIST, name="flags") as snapshot:
        last = LastBefore(scope, at, log_shape(snapshot)).ask(snapshot)
    return Before(id_, at.isoformat(), None, None if last is None else last.astimezone(UTC).isoformat())


def _replayed(store: Store, scope: Scope, disputed: Packed | None, *, on: bool) -> Shadow:
    """The counts of a window, as if the boost were on or off."""
    replayer = Replayer(store, scope)
    settings = WhatIf(boost=0.0) if on else WhatIf(boost=SCALE, logged_boost_stays=True)
    found = replayer.replay(settings)
    boosted, repeated, quarrelled, under = 0, 0, 0, 0
    against = _packed(()) if disputed is None else disputed
    for number, group in enumerate(replayer.pool.groups):
        voices = replayer.evidence.corroborating(number, WhatIf(boost=SCALE)) > 0
        others = replayer.evidence.corroborating(number, WhatIf(boost=SCALE, count_by=CountBy.AGENTS)) > 0
        lifted = group.boost > 0 if on else voices
        boosted += int(lifted.sum())
        repeated += int((lifted & voices & ~others).sum())
        quarrelled += int((lifted & np.isin(group.id, against)).sum())
        under += int(group.boosted.sum())
    return Shadow(
        on=on,
        logged=found.coverage.logged,
        retrievals=found.coverage.replayed,
        reasons=tuple((REASONS[name], count) for name, count in found.coverage.reasons),
        changed=found.changed,
        top_changed=found.top_changed,
        entered=found.entered,
        left=found.left,
        rbo=found.rbo,
        boosted=boosted,
        repeated=repeated,
        disputed=None if disputed is None else quarrelled,
        under=under,
    )


@dataclass(frozen=True)
class Reordered:
    """One retrieval whose order a cluster's boost changes: its best member's ranks from 0 without and with it."""

    retrieval: str
    observation: str
    before: int
    after: int
    entered: int
    left: int


@dataclass(frozen=True)
class Effect:
    """What one cluster's boost does: retrievals that hold a member, those it reorders, and the ones it moves most."""

    replayed: int
    holding: int
    changed: int
    top_changed: int
    entered: int
    left: int
    listed: tuple[Reordered, ...]

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Effect:
        """What the worker's task returned."""
        return cls(**{**said, "listed": tuple(Reordered(**each) for each in said["listed"])})


def effect(store: Store, scope: Scope, members: Iterable[str], bits: int, scale: float) -> Effect:
    """The window's retrievals under a boost of this scale, with and without it on these members.

    Voices are counted as of each retrieval, among what existed then, as everywhere in a replay.
    """
    replayer, settings = Replayer(store, scope), WhatIf(boost=scale, bits=bits)
    mine = _packed(members)
    holding, listed = 0, []
    effects = []
    for number, group in enumerate(replayer.pool.groups):
        member = np.isin(group.id, mine)
        held = np.asarray(member.any(axis=1))
        holding += int(held.sum())
        counts = replayer.evidence.corroborating(number, settings)[held]
        group, member = group.kept(held), member[held]  # noqa: PLW2901 - the retrievals that hold one
        boost = corroboration_boost(counts, scale)
        with_it = reordered(group, boost, None, settings)
        without = reordered(group, np.where(member, 0.0, boost), None, settings)
        before, after = without.order.ranks, with_it.order.ranks
        was, is_ = without.order.inside, with_it.order.inside
        changed = (before != after).any(axis=1) | (was != is_).any(axis=1)
        effects.append((changed, top_changed(before, after), (is_ & ~was).sum(axis=1), (was & ~is_).sum(axis=1)))
        best = np.where(member, after, after.shape[1]).argmin(axis=1) if len(after) else np.empty(0, np.int64)
        for row in np.flatnonzero(changed).tolist():
            cell = (row, int(best[row]))
            name = replayer.pool.retrieval[int(group.retrieval[row])]
            flips = int((is_[row] & ~was[row]).sum()), int((was[row] & ~is_[row]).sum())
            listed.append(Reordered(name, id_text(bytes(group.id[cell])), int(before[cell]), int(after[cell]), *flips))
    changed_, top_, entered, left = (int(sum(part[place].sum() for part in effects)) for place in range(4))
    listed.sort(key=lambda each: (-each.entered - each.left, each.after - each.before, each.retrieval))
    replayed = sum(len(group.id) for group in replayer.pool.groups)
    return Effect(replayed, holding, changed_, top_, entered, left, tuple(listed[:LISTED]))


def _packed(ids: Iterable[str]) -> Packed:
    return np.array([UUID(id_).bytes for id_ in ids], "S16")


def shadow_in_worker(memory: HasStore, scope: Scope, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``corroboration_shadow``: ``disputed`` are ids, or None while nobody knows."""
    report(0, 1, "replaying the log")
    return asdict(shadow(memory.store, scope, params["disputed"]))


def effect_in_worker(memory: HasStore, scope: Scope, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``corroboration_effect``: ``members``, ``bits`` and ``scale``."""
    report(0, 1, "replaying the log")
    return asdict(effect(memory.store, scope, params["members"], int(params["bits"]), float(params["scale"])))

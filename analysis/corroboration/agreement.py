"""Who says the same in a scope: read once per data version, so that every threshold is a cut and not a search."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from analysis.corroboration.disputes import Dispute, standing
from analysis.corroboration.packed_arrays import pack, unpack
from queries.aggregation_input import READING, OppositionPairs
from queries.drift.kept import kept
from queries.drift.triage import DecidedAlerts
from queries.moments import BEGIN, END
from queries.newest import NewestOfScope
from queries.scope import Scope
from queries.shape import columns
from ranking import DEFAULT_PAIRS, Linkage, detect_contradictions, fingerprints, hash_linkage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from queries.engine import Store
    from queries.newest import Newest, NewestRow

    Report = Callable[[int, int, str], None]

MOST_BITS = 16  # the slider's last; one more is looked for, so that near misses are known there too
BITS = tuple(range(MOST_BITS + 1))
NO_TIME = np.iinfo(np.int64).min  # what NaT is

Whole = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]


class HasStore(Protocol):
    """What the tasks of this page are given: they read, and need no model."""

    @property
    def store(self) -> Store:
        """The store, in the caller's reach."""
        ...


def whole_time(scope: Scope) -> Scope:
    """The scope without its window: clusters are those of the newest observations, whatever window is looked at."""
    return Scope(scope.reach, BEGIN, END, scope.org, scope.project)


class SweepPoint(NamedTuple):
    """What one threshold finds: clusters, observations in them, and the members of the largest."""

    level: float
    clusters: int
    clustered: int
    largest: int


@dataclass(frozen=True, eq=False)
class Named:
    """A name per row as a number into the names there are; -1 where a row has none."""

    code: Whole
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[str | None]) -> Named:
        """Names numbered as they come."""
        known: dict[str, int] = {}
        code = [-1 if value is None else known.setdefault(value, len(known)) for value in values]
        return cls(np.array(code, np.int64), tuple(known))

    def listed(self) -> list[str | None]:
        """The name of every row."""
        names = (*self.names, None)
        return [names[code] for code in self.code.tolist()]

    def name(self, row: int) -> str | None:
        """The name of one row."""
        code = int(self.code[row])
        return None if code < 0 else self.names[code]

    def to_json(self) -> dict[str, Any]:
        """Numbers and names; ``from_json`` reads them back."""
        return {"code": pack(self.code.astype(np.int32)), "names": list(self.names)}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Named:
        """What ``to_json`` wrote."""
        return cls(unpack(said["code"]).astype(np.int64), tuple(said["names"]))


@dataclass(frozen=True, eq=False)
class Agreement:
    """The newest observations of a scope, newest first, with fingerprints and the links between near ones.

    Only observations of one project are ever linked: that is how aggregation finds clusters and retrieval boosts them.
    """

    ids: tuple[str, ...]
    project: Named
    agent: Named
    session: Named
    weight: Scores
    created: Whole
    hashes: Hashes
    tokens: Whole
    linkage: Linkage
    sweep: tuple[SweepPoint, ...]
    active: int
    set_apart: int
    as_of: str

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def truncated(self) -> bool:
        """Whether older observations were left out."""
        return self.active > len(self) + self.set_apart

    def to_json(self) -> dict[str, Any]:
        """Every column, packed."""
        return {
            "ids": list(self.ids),
            "project": self.project.to_json(),
            "agent": self.agent.to_json(),
            "session": self.session.to_json(),
            "weight": pack(self.weight),
            "created": pack(self.created),
            "hashes": pack(self.hashes),
            "tokens": pack(self.tokens.astype(np.int32)),
            "linkage": linkage_to_json(self.linkage),
            "sweep": [list(point) for point in self.sweep],
            "active": self.active,
            "set_apart": self.set_apart,
            "as_of": self.as_of,
        }

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Agreement:
        """What ``to_json`` wrote."""
        return cls(
            ids=tuple(said["ids"]),
            project=Named.from_json(said["project"]),
            agent=Named.from_json(said["agent"]),
            session=Named.from_json(said["session"]),
            weight=unpack(said["weight"]),
            created=unpack(said["created"]),
            hashes=unpack(said["hashes"]),
            tokens=unpack(said["tokens"]).astype(np.int64),
            linkage=linkage_from_json(said["linkage"]),
            sweep=tuple(SweepPoint(*point) for point in said["sweep"]),
            active=said["active"],
            set_apart=said["set_apart"],
            as_of=said["as_of"],
        )


def linkage_to_json(linkage: Linkage) -> dict[str, Any]:
    """A linkage as it travels."""
    ends = {"left": pack(linkage.left.astype(np.int32)), "right": pack(linkage.right.astype(np.int32))}
    return {**ends, "level": pack(linkage.level), "count": linkage.count, "most": linkage.most}


def linkage_from_json(said: dict[str, Any]) -> Linkage:
    """What ``linkage_to_json`` wrote."""
    left, right = (unpack(said[name]).astype(np.int64) for name in ("left", "right"))
    return Linkage(said["count"], left, right, unpack(said["level"]), said["most"])


def swept(linkage: Linkage, levels: Sequence[float]) -> tuple[SweepPoint, ...]:
    """What each level finds."""
    sizes = [linkage.sizes(level) for level in levels]
    return tuple(
        SweepPoint(float(level), len(found), int(found.sum()), int(found[0]) if len(found) else 0)
        for level, found in zip(levels, sizes, strict=True)
    )


def sound(found: Newest) -> list[NewestRow]:
    """The rows whose weight is a number: another would be compared with every other."""
    return list(compress(found.rows, np.isfinite(np.array([row.weight for row in found.rows], np.float64))))


def agree(store: Store, scope: Scope) -> Agreement:
    """The newest observations of one organization's scope and every near pair among them, up to 17 bits."""
    if scope.org is None:
        raise ValueError("clusters are one organization's; found none")
    with store.reading(scope.reach, READING, name="corroboration") as snapshot:
        found = NewestOfScope(scope).ask(snapshot)
    rows = sound(found)
    hashes = np.array([row.simhash or 0 for row in rows], np.int64).view(np.uint64)  # the store has signed numbers only
    tokens = np.array([row.tokens or 0 for row in rows], np.int64)
    fresh = [at for at, row in enumerate(rows) if row.simhash is None]
    hashes[fresh], tokens[fresh] = fingerprints([rows[at].content or "" for at in fresh])
    project = Named.of([row.project_id for row in rows])
    linkage = hash_linkage(hashes, MOST_BITS + 1, heard=tokens > 0, apart=project.code)
    return Agreement(
        ids=tuple(row.id for row in rows),
        project=project,
        agent=Named.of([row.agent_id for row in rows]),
        session=Named.of([row.session_id for row in rows]),
        weight=np.array([row.weight for row in rows], np.float64),
        created=np.array([NO_TIME if row.created_us is None else row.created_us for row in rows], np.int64),
        hashes=hashes,
        tokens=tokens,
        linkage=linkage,
        sweep=swept(linkage, BITS),
        active=found.active,
        set_apart=len(found.rows) - len(rows),
        as_of=found.as_of.isoformat(),
    )


def disputes(store: Store, scope: Scope) -> tuple[Dispute, ...]:
    """Pairs of the same observations that contradict each other, by the detector of Drift Alerts; older side first.

    Those that triage dismissed are left out, as on Overview.
    """
    if scope.org is None:
        raise ValueError("contradictions are one organization's; found none")
    with store.reading(scope.reach, READING, name="corroboration disputes") as snapshot:
        found = NewestOfScope(scope, texts=True).ask(snapshot)
        own = columns(snapshot, "rankscope")
        pairs = OppositionPairs(scope.org).ask(snapshot) if "opposition_pairs" in own else ()
        decided = DecidedAlerts(scope.org).ask(snapshot) if kept(own).states else {}
    rows = sound(found)
    projects = Named.of([row.project_id for row in rows]).code
    conflicts: list[tuple[str, str, str]] = []
    for project in np.unique(projects):
        mine = [rows[at] for at in np.flatnonzero(projects == project).tolist()]
        created = [NO_TIME if row.created_us is None else row.created_us for row in mine]
        given = {
            "ids": [row.id for row in mine],
            "content": [row.content or "" for row in mine],
            "created_at": np.array(created, np.int64).view("datetime64[us]"),
        }
        found_here = detect_contradictions(given, opposition_pairs=pairs or DEFAULT_PAIRS)
        conflicts += [(str(one.older), str(one.newer), one.fingerprint) for one in found_here]
    return tuple(standing(conflicts, decided))


def agree_in_worker(memory: HasStore, scope: Scope, _params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``corroboration``."""
    report(0, 1, "reading observations and comparing fingerprints")
    return agree(memory.store, scope).to_json()


def disputes_in_worker(memory: HasStore, scope: Scope, _params: Mapping[str, Any], report: Report) -> list[list[Any]]:
    """The worker's task ``corroboration_disputes``."""
    report(0, 1, "looking for contradictions")
    return [list(pair) for pair in disputes(memory.store, scope)]

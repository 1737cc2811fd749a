"""One aggregation pass over a scope: its newest observations in, clusters and contradictions out (000)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from analysis.observed_columns import observed_columns
from queries.aggregation_input import LIMIT, READING, NewestObservations, OppositionPairs, ScopeVersion
from queries.aggregation_runs import FinishRun
from ranking import DEFAULT_PAIRS, Clusters, cluster_near_duplicates, detect_contradictions, fingerprints
from ranking.contradictions.severity import PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from queries.aggregation_input import AggregationScope, InputRow, ObservationRow
    from queries.engine import Store
    from ranking import Contradiction
    from ranking.simhash import Fingerprints


@dataclass(frozen=True, eq=False)
class AggregationResult:
    """What a pass found: near-duplicates, conflicting claims, observations in a cluster, and the time it took."""

    clusters: Clusters
    contradictions: tuple[Contradiction, ...]
    corroborated_count: int
    elapsed_ms: float


@dataclass(frozen=True, eq=False)
class Pass:
    """A result with what it was found in: the data's version, how much was read, and which texts had to be hashed."""

    scope: AggregationScope
    result: AggregationResult
    seen: InputRow
    set_apart: int
    simhashes: tuple[dict[str, object], ...]

    def change(self) -> FinishRun:
        """The change that makes this the scope's standing result."""
        clusters = self.result.clusters
        return FinishRun(
            scope=self.scope,
            data_version=self.seen.version,
            active=self.seen.active,
            observations=clusters.considered,
            set_apart=self.set_apart,
            corroborated=self.result.corroborated_count,
            cluster_count=len(clusters),
            elapsed_ms=self.result.elapsed_ms,
            clusters=_cluster_rows(clusters),
            contradictions=[_contradiction_row(*found) for found in enumerate(self.result.contradictions)],
            simhashes=self.simhashes,
        )

    def in_words(self) -> str:
        """What was read and what was found, on one line."""
        clusters, active = self.result.clusters, self.seen.active
        read = f"the newest {clusters.considered:,} of {active:,}" if clusters.truncated else f"{active:,}"
        left_out = f", {self.set_apart:,} left out for a weight that is no number" if self.set_apart else ""
        return (
            f"{len(clusters):,} clusters with {self.result.corroborated_count:,} of {read} observations, "
            f"{len(self.result.contradictions):,} contradictions, {len(self.simhashes):,} texts hashed{left_out}, "
            f"{self.result.elapsed_ms:,.0f} ms"
        )


def aggregate(store: Store, scope: AggregationScope, *, unless: str | None = None) -> Pass | None:
    """One pass over the newest 10 000 of a scope; none where its data still have the version ``unless``.

    Version and observations come from one snapshot, so that a result is never filed under data it was not made from.
    """
    started = time.perf_counter()
    with store.reading(scope.reach, READING, name="aggregation") as snapshot:
        seen = ScopeVersion(scope).ask(snapshot)
        if seen.version == unless:
            return None
        pairs = OppositionPairs(scope.org_id).ask(snapshot)
        found = NewestObservations(scope).ask(snapshot)
    # A weight that is no number would be compared with every other: such a row is left out, and counted.
    sound = np.isfinite(np.array([row.weight for row in found], np.float64))
    rows = list(compress(found, sound))
    hashed, simhashes = _hashed(rows)
    # by whole days, as Drift Alerts has it: one severity wherever it stands, and a pass of yesterday is of other data
    now = np.datetime64(seen.now.astimezone(UTC).date(), "us")
    contradictions = tuple(
        detect_contradictions(observed_columns(rows[:LIMIT]), opposition_pairs=pairs or DEFAULT_PAIRS, now=now)
    )
    disputes = [(conflict.older, conflict.newer) for conflict in contradictions]
    clusters = cluster_near_duplicates(observed_columns(rows), disputes=disputes, limit=LIMIT, hashed=hashed)
    elapsed_ms = (time.perf_counter() - started) * 1000
    result = AggregationResult(clusters, contradictions, clusters.corroborated_count, elapsed_ms)
    return Pass(scope, result, seen, len(found) - len(rows), simhashes)


def _hashed(rows: Sequence[ObservationRow]) -> tuple[Fingerprints, tuple[dict[str, object], ...]]:
    """The fingerprint of every row, those that were kept taken as they are; and the others', to be kept."""
    # the store has signed numbers only
    hashes = np.array([row.simhash or 0 for row in rows], np.int64).view(np.uint64)
    tokens = np.array([row.tokens or 0 for row in rows], np.int64)
    fresh = [at for at, row in enumerate(rows) if row.simhash is None]
    hashes[fresh], tokens[fresh] = fingerprints([rows[at].content for at in fresh])
    kept = zip(fresh, hashes[fresh].view(np.int64).tolist(), tokens[fresh].tolist(), strict=True)
    return (hashes, tokens), tuple(
        {
            "observation_id": rows[at].id,
            "content_hash": rows[at].content_hash,
            "simhash": simhash,
            "tokens": voted,
        }
        for at, simhash, voted in kept
    )


def _cluster_rows(clusters: Clusters) -> list[dict[str, object]]:
    """One row per observation in a cluster."""
    if clusters.ids is None or clusters.agents is None or clusters.sessions is None:
        raise ValueError("expected clusters of observations with ids, agents and sessions, found some without")
    rows = np.flatnonzero(clusters.cluster >= 0)
    number = clusters.cluster[rows]
    columns = {
        "observation_id": clusters.ids[rows],
        "cluster": number,
        "canonical": clusters.canonical[number] == rows,
        "disputed": clusters.disputed[number],
        "contradicts": clusters.contradicts[rows],
        "corroboration_score": clusters.corroboration_score[number],
        "agents": clusters.agents[number],
        "sessions": clusters.sessions[number],
        "diameter": clusters.diameter[number].astype(np.int64),
    }
    listed = (column.tolist() for column in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*listed, strict=True)]


def _contradiction_row(place: int, found: Contradiction) -> dict[str, object]:
    return {
        "place": place,
        "fingerprint": found.fingerprint,
        "older": found.older,
        "newer": found.newer,
        "kind": str(found.kind),
        "rule": found.rule,
        "overlap": found.overlap,
        "severity": found.severity,
        "parts": {name: float(value) for name in PARTS if (value := getattr(found.parts, name)) is not None},
        "evidence": [
            {"side": str(word.side), "text": word.text, "start": int(word.start), "end": int(word.end)}
            for word in found.evidence
        ],
    }

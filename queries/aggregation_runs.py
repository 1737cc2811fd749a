"""Aggregation runs: who works on a scope, its standing result, and the one transaction that replaces it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, select, text
from sqlalchemy.dialects.postgresql import distinct_on

from queries import own_schema
from queries.aggregation_input import AggregationScope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Select, TextClause

    from queries.engine import Store
    from queries.scope import Reach

WRITING = 30.0  # seconds one statement that stores a result may take
KEPT = 2  # finished runs of a scope: whoever just read the older one's number still finds its rows
# The transaction that holds the claim waits while the pass is computed; a frozen one must not hold it for ever.
WAITING = {"idle_in_transaction_session_timeout": "600000", "lock_timeout": "20000"}

CLAIM = text("select pg_try_advisory_xact_lock(:lock)")

BEGIN = text(
    """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, active, observations, set_apart,
         hashed, clusters, contradictions, corroborated, elapsed_ms, started_at, finished_at, checked_at)
       values (:org, :project, 'done', :data_version, :active, :observations, :set_apart, :hashed, :clusters,
         :contradictions, :corroborated, :elapsed_ms, clock_timestamp() - :elapsed_ms * interval '1 millisecond',
         clock_timestamp(), clock_timestamp())
       returning id"""
)

# Row security does not go together with COPY: rows travel as one JSON text instead.
CLUSTERS = text(
    """insert into rankscope.clusters (org_id, run_id, observation_id, cluster, canonical, disputed, contradicts,
         corroboration_score, agents, sessions, diameter)
       select :org, :run, r.* from json_to_recordset(cast(:rows as json)) as r (observation_id uuid, cluster integer,
         canonical boolean, disputed boolean, contradicts boolean, corroboration_score integer, agents integer,
         sessions integer, diameter integer)"""
)
CONTRADICTIONS = text(
    """insert into rankscope.contradictions (org_id, run_id, place, fingerprint, older, newer, kind, rule, overlap,
         severity, parts, evidence)
       select :org, :run, r.* from json_to_recordset(cast(:rows as json)) as r (place integer, fingerprint text,
         older uuid, newer uuid, kind text, rule text, overlap double precision, severity double precision,
         parts jsonb, evidence jsonb)"""
)
PRUNE = text(
    """delete from rankscope.aggregation_runs r
        where org_id = :org and project_id is not distinct from :project and id <> all(array(
          select id from rankscope.aggregation_runs
           where org_id = :org and project_id is not distinct from :project and state = 'done'
           order by id desc limit :kept))"""
)
SIMHASHES = text(
    """insert into rankscope.simhashes (org_id, observation_id, content_hash, simhash, tokens)
       select :org, r.* from json_to_recordset(cast(:rows as json)) as r (observation_id uuid, content_hash text,
         simhash bigint, tokens integer)
       on conflict (org_id, observation_id) do update
         set content_hash = excluded.content_hash, simhash = excluded.simhash, tokens = excluded.tokens"""
)
# Of observations that no longer exist; those that are only archived may come back.
FORGET_SIMHASHES = text(
    """delete from rankscope.simhashes s where org_id = :org and not exists (
         select from observations o where o.org_id = :org and o.id = s.observation_id)"""
)

UNCHANGED = text(
    """update rankscope.aggregation_runs set checked_at = clock_timestamp()
        where org_id = :org and id = any(cast(:runs as bigint[]))"""
)
FAIL = text(
    """with earlier as (
         delete from rankscope.aggregation_runs
          where org_id = :org and project_id is not distinct from :project and state = 'failed')
       insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, error, finished_at)
       values (:org, :project, 'failed', '', :error, clock_timestamp())"""
)


@contextmanager
def writing(store: Store, reach: Reach) -> Iterator[Connection]:
    """A transaction in one reach, committed at the end, that may wait longer than a page's."""
    with store.writing(reach, WRITING, more=WAITING) as connection:
        yield connection


@contextmanager
def claimed(store: Store, scope: AggregationScope) -> Iterator[Connection | None]:
    """A transaction in which no one else aggregates the scope; none where someone else does.

    The lock lasts as long as the transaction does, whatever becomes of this process, and through any pooler.
    """
    with writing(store, scope.reach) as connection:
        taken = connection.execute(CLAIM, {"lock": scope.lock}).scalar_one()
        yield connection if taken else None


def newest_runs(where: ColumnElement[bool], *columns: ColumnElement[Any], state: str = "done") -> Select[Any]:
    """The newest run of each scope that finished, which is the scope's result; or that is in another ``state``."""
    runs = own_schema.aggregation_runs
    return (
        select(*columns)
        .where(where, runs.c.state == state)
        .ext(distinct_on(runs.c.org_id, runs.c.project_id))
        .order_by(runs.c.org_id, runs.c.project_id, runs.c.id.desc())
    )


@dataclass(frozen=True)
class StandingRun:
    """The newest finished run of a scope, which is the scope's result."""

    id: int
    data_version: str
    finished_at: datetime


@dataclass(frozen=True)
class StandingRuns:
    """Asks for the runs whose clusters and contradictions hold now: of one scope, or of every scope in reach."""

    reach: Reach
    scope: AggregationScope | None = None

    @classmethod
    def of(cls, scope: AggregationScope) -> StandingRuns:
        """The standing run of one scope."""
        return cls(scope.reach, scope)

    def statement(self) -> Select[Any]:
        """The newest finished one of each scope; a run that is not finished is nobody's result."""
        runs = own_schema.aggregation_runs
        whose = [self.reach.where(runs.c.org_id)]
        if self.scope is not None:
            whose.append(runs.c.project_id.is_not_distinct_from(self.scope.project_id))
        return newest_runs(
            and_(*whose), runs.c.org_id, runs.c.project_id, runs.c.id, runs.c.data_version, runs.c.finished_at
        )

    def ask(self, connection: Connection) -> dict[AggregationScope, StandingRun]:
        """The run of each scope that has one."""
        return {
            AggregationScope(row.org_id, row.project_id): StandingRun(row.id, row.data_version, row.finished_at)
            for row in connection.execute(self.statement())
        }


@dataclass(frozen=True, eq=False)
class FinishRun:
    """Make what a pass found the scope's result; the rows are named as the tables' columns are."""

    scope: AggregationScope
    data_version: str
    active: int
    observations: int
    set_apart: int
    corroborated: int
    cluster_count: int
    elapsed_ms: float
    clusters: Sequence[Mapping[str, object]]
    contradictions: Sequence[Mapping[str, object]]
    simhashes: Sequence[Mapping[str, object]]

    def statement(self) -> TextClause:
        """The run itself."""
        return BEGIN.bindparams(
            org=self.scope.org_id,
            project=self.scope.project_id,
            data_version=self.data_version,
            active=self.active,
            observations=self.observations,
            set_apart=self.set_apart,
            hashed=len(self.simhashes),
            clusters=self.cluster_count,
            contradictions=len(self.contradictions),
            corroborated=self.corroborated,
            elapsed_ms=self.elapsed_ms,
        )

    def apply(self, connection: Connection) -> int:
        """The number of the run; readers see the result before it or this one whole, for all of it is one commit."""
        run: int = connection.execute(self.statement()).scalar_one()
        named = {"org": self.scope.org_id, "run": run}
        for insert, rows in ((CLUSTERS, self.clusters), (CONTRADICTIONS, self.contradictions)):
            if rows:
                connection.execute(insert, {**named, "rows": _json(rows)})
        connection.execute(PRUNE, {"org": self.scope.org_id, "project": self.scope.project_id, "kept": KEPT})
        if self.simhashes:
            connection.execute(SIMHASHES, {"org": self.scope.org_id, "rows": _json(self.simhashes)})
        connection.execute(FORGET_SIMHASHES, {"org": self.scope.org_id})
        return run


@dataclass(frozen=True)
class NoteUnchanged:
    """Say that runs of one organization still hold."""

    org_id: str
    runs: tuple[int, ...]

    def apply(self, connection: Connection) -> None:
        """The time at which that was seen, by which a reader can tell a quiet scope from a dead job."""
        connection.execute(UNCHANGED, {"org": self.org_id, "runs": list(self.runs)})


@dataclass(frozen=True)
class NoteFailure:
    """Say why a scope's last pass came to nothing; its earlier result stands."""

    scope: AggregationScope
    error: str

    def apply(self, connection: Connection) -> None:
        """One failure per scope is kept, until the next pass that succeeds."""
        connection.execute(FAIL, {"org": self.scope.org_id, "project": self.scope.project_id, "error": self.error})


@dataclass(frozen=True)
class DropResults:
    """Take away every result of a scope that the platform no longer has."""

    scope: AggregationScope

    def apply(self, connection: Connection) -> None:
        """Runs with all that belongs to them, and the fingerprints of what is gone."""
        connection.execute(PRUNE, {"org": self.scope.org_id, "project": self.scope.project_id, "kept": 0})
        connection.execute(FORGET_SIMHASHES, {"org": self.scope.org_id})


def _json(rows: Sequence[Mapping[str, object]]) -> str:
    # Python would write NaN, which is no JSON: better an error here that names the place.
    return json.dumps(rows, allow_nan=False)

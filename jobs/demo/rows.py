"""A replayed history as records for COPY, table by table, streamed so that a large one is never held twice."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from jobs.demo.texts import identity
from queries import demo_truth, own_schema, schema
from queries.copy_format import encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from sqlalchemy import Table

    from jobs.demo.history import History, Retrieval
    from jobs.demo.vectors import Vectors

Record = tuple[object, ...]
DROPPED = 5  # retrievals that the process of a lossy log could not keep

# Every column that is written, in the order of a record; tables in an order that foreign keys accept.
COLUMNS: dict[Table, tuple[str, ...]] = {
    schema.organizations: ("id", "name", "features", "created_at"),
    schema.projects: ("org_id", "id", "name", "created_at"),
    schema.sessions: (
        "org_id", "id", "project_id", "agent_id", "work_type", "outcome", "created_at", "ended_at",
    ),
    schema.observations: (
        "org_id", "id", "project_id", "agent_id", "session_id", "kind", "reflection_depth", "granularity", "title",
        "content", "content_hash", "source", "weight", "importance", "memory_score", "tags", "task_tag", "created_at",
        "last_accessed_at",
    ),
    schema.observation_embeddings: ("org_id", "observation_id", "route", "embedding"),
    schema.retrieval_ab_logs: (
        "org_id", "retrieval_id", "session_id", "project_id", "query_text", "observation_id", "relevance_score",
        "feedback_weight", "weighted_score", "unweighted_rank", "weighted_rank", "weighting_enabled", "injected",
        "corroboration_boost", "pipeline", "created_at",
    ),
    schema.context_injection_logs: (
        "org_id", "retrieval_id", "session_id", "project_id", "work_type", "token_budget", "tokens_used", "candidates",
        "observation_ids", "created_at",
    ),
    schema.observation_weight_history: (
        "org_id", "project_id", "observation_id", "session_id", "outcome", "previous_weight", "new_weight", "alpha",
        "recorded_at",
    ),
    schema.session_diagnostics: (
        "org_id", "session_id", "outcome", "injected_observation_ids", "helpful_observation_ids",
        "misleading_observation_ids", "failure_category", "created_at",
    ),
    own_schema.flag_changes: (
        "org_id", "request_id", "flag", "old_state", "new_state", "reason", "actor", "source", "changed_at",
    ),
    own_schema.log_writers: (
        "org_id", "writer", "name", "queued", "written", "rows", "dropped", "failed", "last_failure", "started_at",
        "seen_at",
    ),
    demo_truth.families: ("org_id", "family", "observation_id", "project_id", "kind"),
    demo_truth.contradictions: ("org_id", "older", "newer", "project_id", "kind"),
    demo_truth.traps: ("org_id", "older", "newer", "project_id", "kind"),
    demo_truth.wrong: ("org_id", "observation_id", "reason"),
    demo_truth.lost_rows: ("org_id", "retrieval_id", "observation_id", "unweighted_rank", "weighted_rank"),
}  # fmt: skip


class Records:
    """The records of one organization; ``routes`` are its vectors other than the full ones, by memory and route."""

    def __init__(self, history: History, full: Vectors, routes: list[tuple[int, str]], others: Vectors) -> None:
        self.history, self.story, self.org = history, history.story, history.story.org
        self.full, self.routes, self.others = full, routes, others
        self.ids: list[UUID] = [entry.id for entry in self.story.placed]

    def of(self, table: Table) -> Iterator[Record]:
        """The records of one table."""
        makers: dict[str, Callable[[], Iterator[Record]]] = {
            "organizations": self._organization, "projects": self._projects, "sessions": self._sessions,
            "observations": self._observations, "observation_embeddings": self._embeddings,
            "retrieval_ab_logs": self._log, "context_injection_logs": self._injections,
            "observation_weight_history": self._weights, "session_diagnostics": self._diagnostics,
            "flag_changes": self._flags, "log_writers": self._writers, "families": self._families,
            "contradictions": self._contradictions, "traps": self._traps, "wrong": self._wrong, "lost_rows": self._lost,
        }  # fmt: skip
        return makers[table.name]()

    def encoded(self, table: Table) -> Iterator[bytes]:
        """The same as it is copied."""
        return encoded(table, COLUMNS[table], self.of(table))

    def _organization(self) -> Iterator[Record]:
        yield self.org.id, self.org.name, self.org.features, self.story.now - self.org.age

    def _projects(self) -> Iterator[Record]:
        for project, name in self.org.projects:
            yield self.org.id, project, name, self.story.now - self.org.age

    def _sessions(self) -> Iterator[Record]:
        for session in self.story.sessions:
            ending = self.history.endings.get(session.id)
            outcome, end = (ending.outcome, session.end) if ending else (None, None)
            yield (
                self.org.id, session.id, session.project, session.agent, session.work_type, outcome, session.begin, end,
            )  # fmt: skip

    def _observations(self) -> Iterator[Record]:
        history, org = self.history, self.org.id
        weights = history.weights.tolist()
        # what sessions made of it, with one good and one bad session assumed: 0.5 for what was never given to any
        scores = ((history.successes + 1) / (history.successes + history.failures + 2)).tolist()
        for row, (id_, memory, agent, session, created) in enumerate(self._fields):
            yield (
                org, id_, memory.project, agent, session, memory.kind, memory.depth, memory.granularity, memory.title,
                memory.text, hashlib.sha256(memory.text.encode()).hexdigest(), "agent", weights[row],
                memory.importance, scores[row], list(memory.tags), memory.tags[0], created, history.accessed.get(row),
            )  # fmt: skip

    @cached_property
    def _fields(self) -> list[tuple]:  # type: ignore[type-arg]
        return [(e.id, e.memory, e.agent, e.session, e.created) for e in self.story.placed]

    def _embeddings(self) -> Iterator[Record]:
        for id_, vector in zip(self.ids, self.full, strict=True):
            if vector.any():
                yield self.org.id, id_, "full", vector
        for (row, route), vector in zip(self.routes, self.others, strict=True):
            if vector.any():
                yield self.org.id, self.ids[row], route, vector

    def retrieval_id(self, retrieval: Retrieval) -> UUID:
        """The id a retrieval is logged under."""
        return identity(self.org.id, retrieval.recalled.session.id, "retrieval", retrieval.recalled.query)

    @cached_property
    def lossy(self) -> dict[int, range]:
        """The places of retrievals whose log lost rows, and which of their weighted ranks it lost."""
        if self.org.lossy is None:
            return {}
        # one, two or three rows, further down each time
        every = self._late[:: self.org.lossy[1]]
        return {n: range(turn % 9, turn % 9 + 1 + turn % 3) for turn, n in enumerate(every)}

    @cached_property
    def _late(self) -> list[int]:
        """The places of retrievals since the log began to lose."""
        if self.org.lossy is None:
            return []
        begin = self.story.now - self.org.lossy[0]
        return [n for n, found in enumerate(self.history.retrievals) if found.recalled.at >= begin]

    def _log(self) -> Iterator[Record]:
        pipeline = "INTENDED" if self.org.corroborates else "LIVE"
        for number, found in enumerate(self.history.retrievals):
            recalled, retrieval, lost = found.recalled, self.retrieval_id(found), self.lossy.get(number, range(0))
            before, after = found.unweighted_rank.tolist(), found.weighted_rank.tolist()
            columns = zip(
                recalled.rows.tolist(), recalled.relevance.tolist(), found.weight.tolist(), found.weighted.tolist(),
                before, after, [None] * len(before) if found.boost is None else found.boost.tolist(), strict=True,
            )  # fmt: skip
            for row, relevance, weight, weighted, unweighted_rank, weighted_rank, boost in columns:
                if weighted_rank not in lost:
                    yield (
                        self.org.id, retrieval, recalled.session.id, recalled.session.project, recalled.query,
                        self.ids[row], relevance, weight, weighted, unweighted_rank, weighted_rank, found.enabled,
                        weighted_rank < found.injected, boost, pipeline, recalled.at,
                    )  # fmt: skip

    def _lost(self) -> Iterator[Record]:
        for number, lost in self.lossy.items():
            found = self.history.retrievals[number]
            for rank in lost:
                if rank < len(found.order):
                    place = int(found.order[rank])
                    row = int(found.recalled.rows[place])
                    yield self.org.id, self.retrieval_id(found), self.ids[row], int(found.unweighted_rank[place]), rank

    def _injections(self) -> Iterator[Record]:
        for found in self.history.retrievals:
            session = found.recalled.session
            chosen = found.recalled.rows[found.order[: found.injected]].tolist()
            yield (
                self.org.id, self.retrieval_id(found), session.id, session.project, session.work_type, found.budget,
                found.tokens, len(found.order), [self.ids[row] for row in chosen], found.recalled.at,
            )  # fmt: skip

    def _weights(self) -> Iterator[Record]:
        for change in self.history.changes:
            session = change.session
            yield (
                self.org.id, session.project, self.ids[change.row], session.id, change.outcome, change.before,
                change.after, change.alpha, session.end,
            )  # fmt: skip

    def _diagnostics(self) -> Iterator[Record]:
        for ending in self.history.endings.values():
            given, helpful, misled = (
                [self.ids[row] for row in rows] for rows in (ending.given, ending.helpful, ending.misled)
            )
            failed = ending.outcome != "accepted"
            why = "misleading memory" if misled else "missing memory" if not helpful else "other"
            yield (
                self.org.id, ending.session.id, ending.outcome, given, helpful, misled, why if failed else None,
                ending.session.end,
            )  # fmt: skip

    def _flags(self) -> Iterator[Record]:
        if self.org.weighting_off is not None:
            flag = "feedback_weighting_disabled"
            yield (
                self.org.id, identity(self.org.id, "flag", flag), flag, "absent", "true",
                self.org.weighting_off_reason, "demo", "demo", self.story.now - self.org.weighting_off,
            )  # fmt: skip

    def _writers(self) -> Iterator[Record]:
        """The process that logs since the log began to lose; what it dropped is nowhere else, or it would not be."""
        logged = [self.history.retrievals[n] for n in self._late]
        if self.org.lossy is None or not logged:
            return
        held = sum(len(found.order) for found in logged) - sum(1 for _ in self._lost())
        yield (
            self.org.id, identity(self.org.id, "writer", "agents"), "agents", 0, len(logged), held, DROPPED, 0,
            "unreachable", self.story.now - self.org.lossy[0], max(found.recalled.at for found in logged),
        )  # fmt: skip

    def _families(self) -> Iterator[Record]:
        for number, family in enumerate(self.story.families):
            for memory in family.members:
                yield self.org.id, number, self.story.id(memory), memory.project, family.kind

    def _contradictions(self) -> Iterator[Record]:
        for pair in self.story.contradictions:
            yield self.org.id, self.story.id(pair.older), self.story.id(pair.newer), pair.older.project, pair.kind

    def _traps(self) -> Iterator[Record]:
        for pair in self.story.traps:
            yield self.org.id, self.story.id(pair.older), self.story.id(pair.newer), pair.older.project, pair.kind

    def _wrong(self) -> Iterator[Record]:
        reasons = {self.story.id(pair.older): "outdated" for pair in self.story.contradictions}
        reasons |= {entry.id: "misleading" for entry in self.story.placed if entry.memory.misleading}
        for id_, reason in reasons.items():
            yield self.org.id, id_, reason

"""What a replay needs of the log: one row per retrieval, its candidates packed as fixed-width bytes, best first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import numpy.typing as npt
from sqlalchemy import Boolean, Double, Integer, and_, case, cast, func, literal, null, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.types import LargeBinary, Text

from queries import schema
from queries.moments import microseconds
from queries.scores import best_first
from queries.shape import LogShape, columns

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, Connection, Select, Subquery

    from queries.scope import Scope

READING = 30.0  # seconds one statement may take: a replay is asked for, not stumbled upon
MOST = 20_000  # retrievals of one replay, the newest
UNKNOWN = -1
NO_NUMBER = cast(literal("NaN"), Double)

# as ``uuid_send``, ``float8send`` and ``int4send`` write them
CANDIDATE = np.dtype(
    [
        ("id", "S16"), ("relevance", ">f8"), ("weight", ">f8"), ("weighted", ">f8"), ("boost", ">f8"),
        ("before", ">i4"), ("after", ">i4"), ("injected", ">i4"),
    ]
)  # fmt: skip

Ids = npt.NDArray[np.bytes_]
Candidates = npt.NDArray[np.void]
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LoggedRetrievals:
    """Aligned columns, newest first, and the candidates of all of them one after the other, each by relevance, then id.

    ``budget`` is -1 where no injection was logged, ``injected`` -1 where the log does not say. ``propensity`` is how
    likely the order was, no number where the log does not say or its rows differ. ``logged`` counts those beyond the
    newest 20 000 too; ``timeless`` those without a time, which no window can hold.
    """

    retrieval: tuple[str, ...]
    session: tuple[str, ...]
    work_type: tuple[str | None, ...]
    at: Whole
    weighting: Flags
    boosted: Flags
    budget: Whole
    propensity: npt.NDArray[np.float64]
    size: Whole
    candidates: Candidates
    logged: int
    timeless: int


@dataclass(frozen=True)
class ReplayLog:
    """The newest retrievals of an organization's scope, in one pass over its rows; numbers, no texts."""

    scope: Scope

    def read(self, connection: Connection) -> LoggedRetrievals:
        """The retrievals inside a snapshot that is already open."""
        found = columns(connection)
        log, has_injections = found.get("retrieval_ab_logs", frozenset()), "context_injection_logs" in found
        rows = connection.execute(self.statement(log, injections=has_injections)).all()
        listed = list(zip(*rows, strict=True)) or [()] * 11
        retrieval, session, work_type, at, weighting, boosted, budget, propensity, size, packed, logged = listed
        return LoggedRetrievals(
            retrieval=retrieval,
            session=session,
            work_type=work_type,
            at=np.array(at, np.int64),
            weighting=np.array(weighting, np.bool_),
            boosted=np.array(boosted, np.bool_),
            budget=np.array(budget, np.int64),
            propensity=np.array(propensity, np.float64),
            size=np.array(size, np.int64),
            candidates=np.frombuffer(b"".join(packed), CANDIDATE),
            logged=logged[0] if logged else 0,
            timeless=int(connection.execute(self.timeless(log)).scalar_one()),
        )

    def statement(self, log: frozenset[str], *, injections: bool = True) -> Select[Any]:
        """Every value packed in the server: a tuple per row would take the client longer than the whole replay."""
        rows, sessions = self._rows(log), schema.sessions
        inside = and_(rows.c.at >= self.scope.since, rows.c.at < self.scope.until)
        moment = func.min(rows.c.at)
        newest = (
            select(rows.c.retrieval, moment.label("at"), func.count().over().label("logged"))
            .where(inside)
            .group_by(rows.c.retrieval)
            .order_by(moment.desc(), rows.c.retrieval)
            .limit(MOST)
            .cte("newest")
        )
        same = and_(
            func.min(rows.c.propensity) == func.max(rows.c.propensity), func.bool_and(rows.c.propensity.is_not(None))
        )
        in_order = best_first(rows.c.relevance_score, rows.c.observation_id)
        each = (
            select(
                rows.c.retrieval,
                func.min(rows.c.session_id).label("session_id"),
                func.bool_and(rows.c.weighting_enabled).label("weighting"),
                func.bool_or(rows.c.corroboration_boost.is_not(None)).label("boosted"),
                case((same, func.min(rows.c.propensity)), else_=NO_NUMBER).label("propensity"),
                func.count().label("size"),
                func.string_agg(_packed(rows), aggregate_order_by(literal(b"", LargeBinary), *in_order)).label(
                    "packed"
                ),
            )
            .where(inside, rows.c.retrieval.in_(select(newest.c.retrieval)))
            .group_by(rows.c.retrieval)
            .cte("each")
        )
        mine = and_(sessions.c.org_id == self.scope.org, sessions.c.id == each.c.session_id)
        source = newest.join(each, each.c.retrieval == newest.c.retrieval).outerjoin(sessions, mine)
        budget: ColumnElement[Any] = cast(null(), Integer)
        if injections and "retrieval_id" in log:
            given = self._budgets(newest)
            source, budget = source.outerjoin(given, given.c.retrieval == newest.c.retrieval), given.c.budget
        return (
            select(
                newest.c.retrieval,
                each.c.session_id,
                sessions.c.work_type,
                microseconds(newest.c.at),
                each.c.weighting,
                each.c.boosted,
                func.coalesce(budget, UNKNOWN),
                each.c.propensity,
                each.c.size,
                each.c.packed,
                newest.c.logged,
            )
            .select_from(source)
            .order_by(newest.c.at.desc(), newest.c.retrieval)
        )

    def _budgets(self, newest: CTE) -> CTE:
        """The budget of each retrieval, once also where a store without our unique index holds its injection twice."""
        given = schema.context_injection_logs
        retrieval = given.c.retrieval_id.cast(Text)
        return (
            select(retrieval.label("retrieval"), func.min(given.c.token_budget).label("budget"))
            .where(given.c.org_id == self.scope.org, retrieval.in_(select(newest.c.retrieval)))
            .group_by(given.c.retrieval_id)
            .cte("given")
        )

    def timeless(self, log: frozenset[str]) -> Select[Any]:
        """How many retrievals have no time at all."""
        rows = self._rows(log)
        return select(func.count(rows.c.retrieval.distinct())).where(rows.c.at.is_(None))

    def _rows(self, log: frozenset[str]) -> Subquery:
        """The log rows of organization and project whatever the store calls their retrieval and time, as LogShape."""
        logs, sessions = schema.retrieval_ab_logs, schema.sessions
        its_session = schema.session_of(logs)
        timed = "created_at" in log
        numbers = ("relevance_score", "feedback_weight", "weighted_score", "unweighted_rank", "weighted_rank")
        boost = logs.c.corroboration_boost if "corroboration_boost" in log else cast(null(), Double)
        injected = logs.c.injected if "injected" in log else cast(null(), Boolean)
        shape = LogShape(retrieval_id="retrieval_id" in log, propensity="propensity" in log)
        return (
            select(
                shape.retrieval().label("retrieval"),
                (logs.c.created_at if timed else sessions.c.created_at).label("at"),
                logs.c.session_id,
                logs.c.observation_id,
                *(logs.c[name] for name in numbers),
                logs.c.weighting_enabled,
                boost.label("corroboration_boost"),
                injected.label("injected"),
                shape.likelihood().label("propensity"),
            )
            .select_from(logs if timed else logs.outerjoin(sessions, its_session))
            .where(self.scope.tenant(logs))
            .subquery("log")
        )


def _packed(rows: Subquery) -> ColumnElement[bytes]:
    """One candidate as ``CANDIDATE`` reads it; a missing score is no number, a missing boost adds nothing."""
    nothing = cast(literal(0), Double)
    scores = [
        func.coalesce(rows.c[name], NO_NUMBER) for name in ("relevance_score", "feedback_weight", "weighted_score")
    ]
    scores.append(func.coalesce(rows.c.corroboration_boost, nothing))
    wholes = (rows.c.unweighted_rank, rows.c.weighted_rank, rows.c.injected.cast(Integer))
    parts: list[ColumnElement[bytes]] = [
        func.uuid_send(rows.c.observation_id),
        *map(func.float8send, scores),
        *(func.int4send(func.coalesce(whole, UNKNOWN)) for whole in wholes),
    ]
    packed = parts[0]
    for part in parts[1:]:
        packed = packed.op("||")(part)
    return packed


def id_text(packed: bytes) -> str:
    """An id as people read it; numpy drops the zero bytes at its end."""
    return str(UUID(bytes=packed.ljust(16, b"\0")))

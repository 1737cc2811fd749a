"""What a store's own tables look like: a platform may lack what the documents only recommend."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import and_, cast, false, func, literal, literal_column, null, select, text, true
from sqlalchemy.types import Boolean, Double, Text

from queries import schema
from queries.drawn import (
    WHOLE,
    lengths,
    log_length,
    retrievals_drawn,
    rows_of,
    share_of,
    share_of_rows,
    whole_retrievals,
)
from queries.scope import is_storable, is_uuid

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, FromClause, Subquery

    from queries.scope import Scope

# What 001 documents; nothing can be shown of retrievals without them.
DOCUMENTED_LOG_COLUMNS = (
    "session_id",
    "org_id",
    "project_id",
    "query_text",
    "observation_id",
    "relevance_score",
    "feedback_weight",
    "weighted_score",
    "unweighted_rank",
    "weighted_rank",
    "weighting_enabled",
)
NO_COLUMNS = ("by_observation", "length", "stored", "given", "pages")
ADDED_LOG_COLUMNS = ("id", "retrieval_id", "created_at", "injected", "corroboration_boost", "pipeline")

COLUMNS = text(
    """select c.relname, a.attname
         from pg_class c
         join pg_namespace n on n.oid = c.relnamespace
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where n.nspname = :schema and c.relkind in ('r', 'p', 'v', 'm', 'f')"""
)

# Led by the observation, or by its organization and then by itself.
BY_OBSERVATION = text(
    """select exists (
         select from pg_index i
           join pg_class x on x.oid = i.indexrelid
           join pg_am m on m.oid = x.relam and m.amname = 'btree'
           join pg_attribute own on own.attrelid = i.indrelid and own.attname = 'observation_id'
           join pg_attribute org on org.attrelid = i.indrelid and org.attname = 'org_id'
          where i.indrelid = to_regclass('public.retrieval_ab_logs') and i.indisvalid and i.indpred is null
            and (i.indkey[0] = own.attnum or (i.indkey[0] = org.attnum and i.indkey[1] = own.attnum)))"""
)


@dataclass(frozen=True)
class LogShape:
    """Which columns ``retrieval_ab_logs`` has of those recommended, whether ``propensity``, and about how many rows.

    ``by_observation``: an index finds the rows of one observation, so that each can be looked up by itself.
    ``stored`` and ``given`` are about how many observations and injections there are, ``pages`` those of the former.
    """

    retrieval_id: bool = True
    created_at: bool = True
    injected: bool = True
    corroboration_boost: bool = True
    pipeline: bool = True
    propensity: bool = False
    by_observation: bool = True
    length: int = 0
    stored: int = 0
    given: int = 0
    pages: int = 0

    def retrieval(self, logs: FromClause = schema.retrieval_ab_logs) -> ColumnElement[str]:
        """What tells an organization's retrievals apart: their id, or session and query text where there is none."""
        by_question: ColumnElement[str] = func.md5(logs.c.session_id + literal("\x1f") + logs.c.query_text)
        # Rows from before the column was added have none.
        return func.coalesce(logs.c.retrieval_id.cast(Text), by_question) if self.retrieval_id else by_question

    def share(self, scope: Scope) -> float:
        """The share of the log that figures of a scope are drawn from; of some organizations it is the whole."""
        return share_of(self.length) if self._is_drawn(scope) and self.retrieval_id else WHOLE

    def stored_share(self, scope: Scope) -> float:
        """The share of observations that figures of a scope are drawn from; of some organizations it is the whole."""
        return share_of_rows(self.stored) if self._is_drawn(scope) else WHOLE

    def given_share(self, scope: Scope) -> float:
        """The same of injections."""
        return share_of_rows(self.given) if self._is_drawn(scope) else WHOLE

    def likelihood(self) -> ColumnElement[float]:
        """How likely a row's retrieval was to get the order it got, where the store has a column for it."""
        return cast(literal_column("retrieval_ab_logs.propensity") if self.propensity else null(), Double)

    def rows(self, scope: Scope, only: str | None = None, share: float = WHOLE, of: Subquery | None = None) -> Subquery:
        """The log rows of a scope, each with its retrieval and its time, whatever the store calls them.

        Without ``retrieval_id`` a retrieval is (session, query text), the only key that 001 offers; without
        ``created_at`` its time is its session's. ``only`` names one retrieval, found whatever the window; of a
        ``share`` of the log only the retrievals drawn are read, each whole, with how many of its rows were ``seen``;
        ``of`` a retrieval drawn beside which this is asked, its rows alone.
        """
        logs: FromClause = schema.retrieval_ab_logs
        more: list[ColumnElement[Any]] = []
        source = logs
        if share < WHOLE:
            drawn = retrievals_drawn(scope, share)
            logs = whole_retrievals(drawn, [*DOCUMENTED_LOG_COLUMNS, *self._added()])
            source, more = drawn.join(logs, true()), [drawn.c.seen, drawn.c.kept, drawn.c.page]
        at: ColumnElement[object] = logs.c.created_at
        if not self.created_at:
            sessions = schema.sessions
            its_session = schema.session_of(logs)
            source = logs.join(sessions, its_session)
            at = sessions.c.created_at
        injected: ColumnElement[bool] = logs.c.injected if self.injected else cast(null(), Boolean)
        boost = logs.c.corroboration_boost if self.corroboration_boost else cast(null(), Double)
        pipeline = logs.c.pipeline if self.pipeline else cast(null(), Text)
        limits = scope.where(logs, at)  # type: ignore[arg-type]
        if only is not None:
            limits = and_(scope.tenant(logs), self._named(only))
        found = (
            select(
                logs.c.org_id,
                logs.c.project_id,
                logs.c.session_id,
                logs.c.observation_id,
                logs.c.relevance_score,
                logs.c.feedback_weight,
                logs.c.weighted_score,
                logs.c.unweighted_rank,
                logs.c.weighted_rank,
                logs.c.weighting_enabled,
                logs.c.query_text,
                injected.label("injected"),
                boost.label("corroboration_boost"),
                pipeline.label("pipeline"),
                self.retrieval(logs).label("retrieval"),
                at.label("at"),
                *more,
            )
            .select_from(source)
            .where(limits)
        )
        return (found if of is None else found.where(rows_of(of)).correlate(of)).subquery("log")

    def _is_drawn(self, scope: Scope) -> bool:
        return scope.org is None and scope.reach.orgs is None and self.created_at

    def _added(self) -> list[str]:
        """The recommended columns that this log has and that are read."""
        return [name for name in ADDED_LOG_COLUMNS if getattr(self, name, False)]

    def _named(self, retrieval: str) -> ColumnElement[bool]:
        """By its id, which an index finds; else by session and query text. What no store can hold names nothing."""
        if self.retrieval_id and is_uuid(retrieval):  # ids made here are digests, without dashes
            return schema.retrieval_ab_logs.c.retrieval_id == UUID(retrieval)
        return self.retrieval() == retrieval if is_storable(retrieval) else false()


COMPLETE_SHAPE = LogShape()


def columns(connection: Connection, schema_name: str = "public") -> dict[str, frozenset[str]]:
    """The columns of every table and view of a schema that this user can see in the catalogue."""
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(COLUMNS, {"schema": schema_name}):
        found.setdefault(table, set()).add(column)
    return {table: frozenset(names) for table, names in found.items()}


def keeps(connection: Connection, table: str) -> bool:
    """Whether this store has a table of Rankscope's own; one that is only read may have none of them."""
    return table in columns(connection, "rankscope")


def log_shape(connection: Connection) -> LogShape:
    """The shape of this store's log."""
    log = columns(connection).get("retrieval_ab_logs", frozenset())
    has = {field.name: field.name in log for field in fields(LogShape) if field.name not in NO_COLUMNS}
    rows = lengths(connection)
    stored, pages = rows.get("observations", (0, 0))
    given, _ = rows.get("context_injection_logs", (0, 0))
    found = bool(connection.execute(BY_OBSERVATION).scalar_one())
    return LogShape(**has, by_observation=found, length=log_length(connection), stored=stored, given=given, pages=pages)

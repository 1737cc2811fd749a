"""How much of what is stored reaches agents: injected against stored, by project or agent, over time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sqlalchemy import ARRAY, BigInteger, DateTime, Integer, and_, bindparam, cast, func, select, true

from queries import schema
from queries.drawn import WHOLE, scaled, some
from queries.engine import AGGREGATE
from queries.health.retrieved import by_anyone
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, FromClause, Select, TableValuedAlias

    from queries.scope import Scope

By = Literal["project", "agent"]
ROWS = 30
LONGEST_NAME = 100
DAILY, WEEKLY = 14, 120  # days of a window up to which a column is a day, and a week


def steps(scope: Scope) -> tuple[tuple[datetime, datetime], ...]:
    """The columns of the map: days, weeks or four weeks, the last one cut where the window ends."""
    length = timedelta(days=1 if scope.days <= DAILY else 7 if scope.days <= WEEKLY else 28)
    found, begins = [], scope.since
    while begins < scope.until:
        found.append((begins, min(begins + length, scope.until)))
        begins += length
    return tuple(found)


@dataclass(frozen=True)
class CoverageRow:
    """One project or agent in one step of time; ``total`` is what it stores at the window's end.

    ``all_stored`` and ``all_injected`` are those of every one of the ``names``, also of the ones without a row.
    """

    org_id: str
    name: str | None
    step: int
    stored: int
    injected: int
    total: int
    all_stored: int
    all_injected: int
    names: int


@dataclass(frozen=True)
class Coverage:
    """Distinct observations injected in each step, of those stored by its end, for whose project or by whose agent.

    The agent is the one that wrote them, whoever was given them. The thirty with most observations, beside the sums
    of all; a step before the first of them was written has ``stored`` 0, which is nothing to cover and not a
    coverage of nothing. Of a ``share`` of the observations all are what those stand for, each of them looked up in
    the log.
    """

    scope: Scope
    by: By = "project"
    shape: LogShape = COMPLETE_SHAPE
    share: float = WHOLE
    row: ClassVar[type] = CoverageRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Both sides counted by step, then what was stored before added up."""
        stored, injected = self._stored(), self._injected()
        largest = (
            select(
                stored.c.org_id,
                stored.c.name,
                cast(func.sum(stored.c.new), BigInteger).label("total"),
                func.count().over().label("names"),
            )
            .group_by(stored.c.org_id, stored.c.name)
            .order_by(func.sum(stored.c.new).desc(), stored.c.org_id, stored.c.name)
            .limit(ROWS)
            .cte("largest")
        )
        numbers = func.generate_series(0, len(steps(self.scope)) - 1).table_valued("number", name="steps")
        numbers = numbers.render_derived()
        step = numbers.c.number

        every = _summed(stored, injected, numbers)

        def own(table: CTE) -> ColumnElement[bool]:
            same = and_(table.c.org_id == largest.c.org_id, table.c.name.is_not_distinct_from(largest.c.name))
            return and_(same, table.c.step == step)

        by_then = func.sum(func.coalesce(stored.c.new, 0)).over(
            partition_by=(largest.c.org_id, largest.c.name), order_by=step
        )
        return (
            select(
                largest.c.org_id,
                largest.c.name,
                step,
                cast(by_then, BigInteger),
                func.coalesce(injected.c.given, 0),
                largest.c.total,
                every.c.stored,
                every.c.given,
                largest.c.names,
            )
            .select_from(
                largest.join(numbers, true())
                .join(every, every.c.step == step)
                .outerjoin(stored, own(stored))
                .outerjoin(injected, own(injected))
            )
            .order_by(largest.c.total.desc(), largest.c.org_id, largest.c.name, step)
        )

    def _name(self, table: FromClause) -> ColumnElement[str]:
        return func.left(table.c.project_id if self.by == "project" else table.c.agent_id, LONGEST_NAME)

    def _step(self, at: ColumnElement[Any]) -> ColumnElement[int]:
        """The number of the step a moment lies in, from 0; what came before the window counts into the first."""
        begins = bindparam(None, [begin for begin, _ in steps(self.scope)], type_=ARRAY(DateTime(timezone=True)))
        return func.greatest(cast(func.width_bucket(at, begins), Integer) - 1, 0)

    def _stored(self) -> CTE:
        table = some(schema.observations, self.share)
        name, step = self._name(table).label("name"), self._step(table.c.created_at).label("step")
        return (
            select(table.c.org_id, name, step, scaled(func.count(), self.share).label("new"))
            .where(self.scope.tenant(table), table.c.status == "active", table.c.created_at < self.scope.until)
            .group_by(table.c.org_id, name, step)
            .cte("stored")
        )

    def _injected(self) -> CTE:
        table = some(schema.observations, self.share)
        log: FromClause = self.shape.rows(by_anyone(self.scope)) if self.share >= WHOLE else self._looked_up(table)
        name, step = self._name(table).label("name"), self._step(log.c.at).label("step")
        its_own = and_(table.c.org_id == log.c.org_id, table.c.id == log.c.observation_id)
        given = scaled(func.count(log.c.observation_id.distinct()), self.share)
        return (
            select(table.c.org_id, name, step, given.label("given"))
            .select_from(table.join(log, its_own))
            .where(log.c.injected, self.scope.tenant(table), table.c.status == "active")
            .group_by(table.c.org_id, name, step)
            .cte("injected")
        )

    def _looked_up(self, table: FromClause) -> FromClause:
        """One observation's rows of the log, by index; behind an offset, or the planner would read the whole window."""
        logs = schema.retrieval_ab_logs
        its_own = (logs.c.org_id == table.c.org_id, logs.c.observation_id == table.c.id)
        return (
            select(logs.c.org_id, logs.c.observation_id, logs.c.injected, logs.c.created_at.label("at"))
            .where(*its_own, by_anyone(self.scope).where(logs))
            .offset(0)
            .lateral("log")
        )


def _summed(stored: CTE, injected: CTE, numbers: TableValuedAlias) -> CTE:
    """Of all names together: what was stored by each step, and given in it; an observation has one name alone."""
    step = numbers.c.number
    new = select(stored.c.step, func.sum(stored.c.new).label("new")).group_by(stored.c.step).subquery()
    given = select(injected.c.step, func.sum(injected.c.given).label("given")).group_by(injected.c.step).subquery()
    by_then = func.sum(func.coalesce(new.c.new, 0)).over(order_by=step)
    return (
        select(
            step.label("step"),
            cast(by_then, BigInteger).label("stored"),
            cast(func.coalesce(given.c.given, 0), BigInteger).label("given"),
        )
        .select_from(numbers.outerjoin(new, new.c.step == step).outerjoin(given, given.c.step == step))
        .cte("every")
    )

"""Which retrievals the Feedback Impact page looks at: scope, filters, and how deep a top counts as the top."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sqlalchemy import func, literal, select, union_all

from queries import schema
from queries.drawn import newest_logged
from queries.engine import AGGREGATE, LIST
from queries.ground import Ground
from queries.organizations import in_scope
from queries.retrievals import TOP
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, FromClause, Select, Subquery

    from queries.ground import Measures
    from queries.scope import Scope

NO_OUTCOME = "none"
CHOICES = 200  # agents and kinds of work to choose from
LONGEST = 200


@dataclass(frozen=True)
class Filters:
    """What narrows the log beside the scope; ``None`` leaves a side open."""

    agent: str | None = None
    work_type: str | None = None
    outcome: str | None = None
    weighting: Literal["on", "off"] | None = None
    text: str | None = None

    @property
    def narrow(self) -> bool:
        """Whether any side is closed."""
        return self != Filters()

    def rows(self, log: Subquery) -> Subquery:
        """The rows of the retrievals whose session and query match; each filter holds for whole retrievals."""
        limits: list[ColumnElement[bool]] = []
        source: FromClause = log
        if self.text is not None:
            limits.append(log.c.query_text.icontains(self.text, autoescape=True))
        if (self.agent, self.work_type, self.outcome) != (None, None, None):
            sessions = schema.sessions
            its_session = schema.session_of(log)
            source = log.join(sessions, its_session)
            if self.agent is not None:
                limits.append(sessions.c.agent_id == self.agent)
            if self.work_type is not None:
                limits.append(sessions.c.work_type == self.work_type)
            if self.outcome is not None:
                ended = sessions.c.outcome
                limits.append(ended.is_(None) if self.outcome == NO_OUTCOME else ended == self.outcome)
        return select(*log.c).select_from(source).where(*limits).subquery("chosen") if limits else log


@dataclass(frozen=True)
class Selection:
    """The retrievals a figure is formed of; ``top`` is the k of "top k changed"."""

    scope: Scope
    filters: Filters = Filters()
    top: int = TOP
    shape: LogShape = COMPLETE_SHAPE

    def __post_init__(self) -> None:
        if self.top < 1:
            raise ValueError(f"expected a top of at least 1, found {self.top}")

    @property
    def share(self) -> float:
        """The share of the log that figures are drawn from."""
        return self.shape.share(self.scope)

    def folded(
        self, measures: Measures, *, with_before: bool = False, rows: Callable[[Subquery], Subquery] | None = None
    ) -> Select[Any]:
        """One row per retrieval with further ``measures``; also those of the window before, of a long log the same.

        ``rows`` as a ground has it.
        """
        since = self.scope.before().since
        ground = Ground(replace(self.scope, since=since) if with_before else self.scope, self.shape, since)

        def chosen(log: Subquery) -> Subquery:
            return self.filters.rows(log) if rows is None else rows(self.filters.rows(log))

        return ground.folded(measures, rows=chosen, having=self._weighting(), top=self.top)

    def _weighting(self) -> Callable[[Subquery], ColumnElement[bool]] | None:
        """Weighting is a retrieval's, so it is compared once that is folded."""
        if self.filters.weighting is None:
            return None

        def asked(log: Subquery) -> ColumnElement[bool]:
            weighted = func.coalesce(func.bool_and(log.c.weighting_enabled), False)
            return weighted if self.filters.weighting == "on" else ~weighted

        return asked


@dataclass(frozen=True)
class Selected:
    """A question about the retrievals of a selection."""

    selection: Selection
    limit: ClassVar[float] = AGGREGATE

    @property
    def scope(self) -> Scope:
        """What the question is asked of."""
        return self.selection.scope


class OfEach(Selected):
    """A question about the retrievals of the window one by one: several of them need these folded only once."""

    @property
    def ground(self) -> Selection:
        """The retrievals that it is about."""
        return self.selection

    def measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        """What it needs of each beside what all do."""
        raise NotImplementedError

    def of(self, each: FromClause) -> Select[Any]:
        """What it says of retrievals that are folded already."""
        raise NotImplementedError

    def statement(self) -> Select[Any]:
        """The same, of retrievals folded for it alone."""
        return self.of(self.ground.folded(self.measures).subquery("retrieval"))


@dataclass(frozen=True)
class ChoiceRow:
    """One value that a filter can take, and how many sessions of the window have it."""

    kind: str
    value: str
    sessions: int


@dataclass(frozen=True)
class Choices:
    """The agents and kinds of work of the window's sessions, the busiest first."""

    scope: Scope
    row: ClassVar[type] = ChoiceRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Any:  # noqa: ANN401 - a union of two selects
        """As many of each as a list can show."""
        sessions = schema.sessions
        busiest = [
            select(literal(name).label("kind"), sessions.c[name].label("value"), func.count().label("sessions"))
            .where(self.scope.where(sessions), sessions.c[name].is_not(None), func.length(sessions.c[name]) <= LONGEST)
            .group_by(sessions.c[name])
            .order_by(func.count().desc(), sessions.c[name])
            .limit(CHOICES)
            for name in ("agent_id", "work_type")
        ]
        return union_all(*(select(each.subquery()) for each in busiest))


@dataclass(frozen=True)
class TimelessRow:
    """Rows that no window can hold."""

    log_rows: int


@dataclass(frozen=True)
class Timeless:
    """How many log rows of the scope have no time: they are in no figure, so the page says how many there are."""

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = TimelessRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """Rows whose time is null; where the log has none, rows whose session cannot lend one."""
        logs = schema.retrieval_ab_logs
        if self.shape.created_at:
            return select(func.count()).where(self.scope.tenant(logs), logs.c.created_at.is_(None))
        sessions = schema.sessions
        its_session = schema.session_of(logs)
        source = logs.join(sessions, its_session, isouter=True)
        return select(func.count()).select_from(source).where(self.scope.tenant(logs), sessions.c.created_at.is_(None))


@dataclass(frozen=True)
class NewestRow:
    """The newest row of a window."""

    at: datetime | None


@dataclass(frozen=True)
class Newest:
    """When the window's newest row was logged, by index: what is drawn of a long log need not hold it."""

    scope: Scope
    row: ClassVar[type] = NewestRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """One look for each organization."""
        latest = select(newest_logged(self.scope).label("at"))
        # of everything no condition names the organizations, and all of the window would be read at once
        each = latest.select_from(schema.organizations).where(in_scope(self.scope)).subquery("each")
        return select(func.max(each.c.at))

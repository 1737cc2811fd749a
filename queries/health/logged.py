"""How far the retrieval log can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - frames read the rows' types as the program runs
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import BigInteger, cast, exists, func, select

from queries import schema
from queries.drawn import WHOLE, counted, drawn, newest_logged, scaled, some
from queries.engine import AGGREGATE
from queries.ground import Ground
from queries.retrievals import at_limit, sound
from queries.shape import COMPLETE_SHAPE, LogShape

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select, Subquery

    from queries.scope import Scope


@dataclass(frozen=True)
class LogRow:
    """One organization's retrievals of the window, by what is wrong with their log."""

    org_id: str
    retrievals: int
    drawn: int
    log_rows: int
    complete: int
    sound: int
    lopsided: int
    truncated: int
    repeated: int
    unusable: int
    newest: datetime | None


@dataclass(frozen=True)
class LogIntegrity:
    """Retrievals logged whole, those sound besides, and those whose rank changes do not add up to zero.

    Both rank columns are permutations of the same places, so their differences sum to zero; any other sum is proof
    that rows were lost or changed. Of a log too long to be folded whole they are estimates; ``drawn`` is how many of
    the retrievals they rest on.
    """

    scope: Scope
    shape: LogShape = COMPLETE_SHAPE
    row: ClassVar[type] = LogRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """The log folded to retrievals, then counted."""
        ground = Ground(self.scope, self.shape)
        share = ground.share

        def balance(log: Subquery) -> list[ColumnElement[Any]]:
            return [func.sum(cast(log.c.unweighted_rank, BigInteger) - log.c.weighted_rank).label("balance")]

        each = ground.folded(balance).subquery("retrieval")
        count = partial(counted, each, share)
        found = select(
            each.c.org_id,
            count().label("retrievals"),
            drawn(each, share).label("drawn"),
            count(of=each.c.candidates).label("log_rows"),
            count(each.c.complete).label("complete"),
            count(sound(each)).label("sound"),
            count(each.c.balance != 0).label("lopsided"),
            count(at_limit(each)).label("truncated"),
            count(each.c.repeated).label("repeated"),
            count(of=each.c.unusable).label("unusable"),
            func.max(each.c.at).label("newest"),
        ).group_by(each.c.org_id)
        return found.order_by(each.c.org_id) if share >= WHOLE else self._with_newest(found.subquery("found"))

    def _with_newest(self, found: Subquery) -> Select[Any]:
        """Of a part of the log: also organizations that no retrieval was drawn of, each with its true newest."""
        orgs = schema.organizations
        counts = [func.coalesce(column, 0) for column in found.c if column.name not in ("org_id", "newest")]
        # behind an offset, or the index would be asked twice
        logged = select(orgs.c.id, newest_logged(self.scope).label("at")).offset(0).subquery("logged")
        return (
            select(logged.c.id, *counts, logged.c.at)
            .select_from(logged.outerjoin(found, found.c.org_id == logged.c.id))
            .where(logged.c.at.is_not(None))
            .order_by(logged.c.id)
        )


@dataclass(frozen=True)
class LostRow:
    """One organization's injections that had candidates, and those of which the log holds no row."""

    org_id: str
    injections: int
    lost: int


@dataclass(frozen=True)
class LostRetrievals:
    """Retrievals of the window that gave an agent a block and left no candidate in the log; drawn from a ``share``."""

    scope: Scope
    share: float = WHOLE
    row: ClassVar[type] = LostRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        """One look into the log's index per injection."""
        given, logs = some(schema.context_injection_logs, self.share), schema.retrieval_ab_logs
        logged = exists().where(logs.c.org_id == given.c.org_id, logs.c.retrieval_id == given.c.retrieval_id)
        return (
            select(given.c.org_id, scaled(func.count(), self.share), scaled(func.count().filter(~logged), self.share))
            .where(self.scope.where(given), given.c.candidates > 0)
            .group_by(given.c.org_id)
            .order_by(given.c.org_id)
        )

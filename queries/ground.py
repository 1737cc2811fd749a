"""The retrievals that figures are formed of, folded to one row each: all of a scope, or those drawn of a long log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import cast, func, select, true
from sqlalchemy.types import Text

from queries.drawn import WHOLE, retrievals_drawn, stands_for
from queries.retrievals import TOP, folded, told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select, Subquery

    from queries.scope import Scope
    from queries.shape import LogShape

    Measures = Callable[[Subquery], Sequence[ColumnElement[Any]]]


def _as_they_are(log: Subquery) -> Subquery:
    return log


def _none(_: Subquery) -> Sequence[ColumnElement[Any]]:
    return ()


@dataclass(frozen=True)
class Ground:
    """The retrievals of a scope; of a long log those drawn, with ``since`` as ``retrievals_drawn`` has it."""

    scope: Scope
    shape: LogShape
    since: datetime | None = None

    @property
    def share(self) -> float:
        """The share of the log that they are drawn from."""
        return self.shape.share(self.scope)

    def folded(
        self,
        measures: Measures = _none,
        *,
        rows: Callable[[Subquery], Subquery] = _as_they_are,
        having: Callable[[Subquery], ColumnElement[bool]] | None = None,
        top: int = TOP,
    ) -> Select[Any]:
        """One row per retrieval with further ``measures`` of its rows; ``rows`` leaves some out, or adds to each.

        One that was drawn is folded by itself as it is looked up: to sort the rows of all took as long as to read them.
        """
        if self.share >= WHOLE:
            log = rows(self.shape.rows(self.scope))
            each = folded(log, *measures(log), top=top)
            return each if having is None else each.having(having(log))
        drawn = retrievals_drawn(self.scope, self.share, self.since)
        log = rows(self.shape.rows(self.scope, of=drawn))
        is_any = func.count() > 0
        limits = (is_any,) if having is None else (is_any, having(log))
        one = select(*told(log, top), *measures(log)).having(*limits).lateral("one")
        return select(
            drawn.c.org_id,
            cast(drawn.c.retrieval_id, Text).label("retrieval"),
            *one.c,
            stands_for(drawn, one.c.candidates, self.share),
            drawn.c.page,
        ).select_from(drawn.join(one, true()))

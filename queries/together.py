"""Questions about the same retrievals in one statement, so that these are read and folded once for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard, runtime_checkable

from sqlalchemy import BigInteger, Boolean, Double, Text, cast, func, literal, null, select, union_all
from sqlalchemy.types import NullType

from queries.schema import MOMENT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import pandas as pd
    from sqlalchemy import ColumnElement, CompoundSelect, FromClause, Select, Subquery
    from sqlalchemy.types import TypeEngine

    from queries.engine import Question
    from queries.ground import Measures

    Slot = tuple[str, int]  # a type, and which column of that type

# A column of an answer is cast to what its frame reads it as: answers of one statement share columns.
TYPES: dict[str, TypeEngine[Any]] = {
    "string": Text(),
    "Int64": BigInteger(),
    "float64": Double(),
    "boolean": Boolean(),
    "datetime64[us, UTC]": MOMENT,
}


class Folds(Protocol):
    """Retrievals that can be folded; equal ones are the same retrievals."""

    def folded(self, measures: Measures) -> Select[Any]:
        """One row for each, with further measures."""
        ...


@runtime_checkable
class OfRetrievals(Protocol):
    """A question about retrievals that others may be asked about, too."""

    row: ClassVar[type]

    @property
    def ground(self) -> Folds:
        """Which."""
        ...

    def measures(self, log: Subquery) -> Sequence[ColumnElement[Any]]:
        """What it needs of each beside what all do; a name means the same in every question."""
        ...

    def of(self, each: FromClause) -> Select[Any]:
        """What it asks of them."""
        ...


def rounds(questions: Sequence[Question]) -> list[list[int]]:
    """The places of questions that go in one statement, in the order of the first of each."""
    found: dict[Hashable, list[int]] = {}
    for place, question in enumerate(questions):
        key = (type(question.ground), question.ground) if is_of_retrievals(question) else place
        found.setdefault(key, []).append(place)
    return list(found.values())


def is_of_retrievals(question: object) -> TypeGuard[OfRetrievals]:
    """Whether a question can be asked together with others."""
    return isinstance(question, OfRetrievals)


class Together:
    """Several questions of one ground as one: a statement whose rows are told apart again."""

    def __init__(self, questions: Sequence[OfRetrievals]) -> None:
        self.questions = questions
        each = questions[0].ground.folded(self._measures).cte("retrieval")
        self._parts = [question.of(each).subquery(f"part_{n}") for n, question in enumerate(questions)]
        self._places = [_slots(question.row, part) for question, part in zip(questions, self._parts, strict=True)]
        self._types = {slot: kind for places in self._places for slot, kind in places}

    def statement(self) -> CompoundSelect[Any]:
        """Each row with the number of its question and its place in that answer, columns of one type in one place."""
        return union_all(*(self._part(number) for number in range(len(self._parts))))

    def _part(self, number: int) -> Select[Any]:
        part, places = self._parts[number], self._places[number]
        own = {slot: cast(column, kind) for (slot, kind), column in zip(places, part.c, strict=True)}
        columns = [own.get(slot, cast(null(), kind)) for slot, kind in self._types.items()]
        # behind the order of its answer, which it numbers
        return select(literal(number), func.row_number().over(), *columns).select_from(part)

    def _measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        found: dict[str, ColumnElement[Any]] = {}
        for question in self.questions:
            for measure in question.measures(log):
                known = found.setdefault(measure.name, measure)
                if not known.compare(measure):
                    raise ValueError(f"expected one meaning of {measure.name!r}, found two")
        return list(found.values())

    def answers(self, rows: Iterable[Sequence[Any]]) -> list[pd.DataFrame]:
        """The answer to each question, from the rows of all."""
        from queries.frames import frame  # noqa: PLC0415 - as ``ask`` has it

        order = {slot: number for number, slot in enumerate(self._types, 2)}
        sorted_rows: list[list[Sequence[Any]]] = [[] for _ in self.questions]
        for row in sorted(rows, key=lambda row: (row[0], row[1])):
            sorted_rows[row[0]].append(row)
        return [
            frame([[row[order[slot]] for slot, _ in places] for row in own], question.row)
            for question, places, own in zip(self.questions, self._places, sorted_rows, strict=True)
        ]


def _slots(row: type, part: Subquery) -> list[tuple[Slot, TypeEngine[Any]]]:
    from queries.frames import dtypes  # noqa: PLC0415 - same

    found: list[tuple[Slot, TypeEngine[Any]]] = []
    for (name, dtype), column in zip(dtypes(row).items(), part.c, strict=True):
        kind = TYPES.get(dtype, column.type)
        if isinstance(kind, NullType):
            raise TypeError(f"expected a type for {name} of {row.__name__}, found none")
        of_kind = repr(kind)
        found.append(((of_kind, sum(slot[0] == of_kind for slot, _ in found)), kind))
    return found

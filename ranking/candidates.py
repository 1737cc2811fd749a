from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ranking.columns import COLUMNS, Column, Scores, instant, labels

__all__ = ["Candidates", "Column", "Flags", "MissingEvidence", "Positions", "Scores"]

Positions = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


class MissingEvidence(LookupError):  # noqa: N818 - it names what is missing
    """A technique asked for a column, or a fact about the question, that these candidates do not carry."""


class Candidates:
    """Aligned columns of one retrieval, checked once here so that no technique checks again; never mutated.

    ``query`` and ``now`` are facts about the question, not about a row: ``now`` is passed in, never read.
    """

    def __init__(
        self,
        ids: Iterable[object],
        *,
        query: str | None = None,
        now: np.datetime64 | None = None,
        legs: Sequence[str] = (),
        **columns: object,
    ) -> None:
        self.ids: Column = labels("ids", ids)
        self.query = query
        self.now = None if now is None else instant("now", now)
        self.legs = tuple(legs)
        self._columns = self._checked(columns)

    def _checked(self, columns: Mapping[str, object]) -> dict[str, Any]:
        """The columns that are given, each as COLUMNS says and as long as the ids."""
        unknown = [name for name in columns if name not in COLUMNS]
        if unknown:
            raise ValueError(f"unknown column {unknown[0]!r}; columns are {', '.join(COLUMNS)}")
        checked = {name: COLUMNS[name](name, values) for name, values in columns.items() if values is not None}
        for name, values in checked.items():
            if len(values) != len(self.ids):
                raise ValueError(f"column {name!r}: expected {len(self.ids)} rows as ids has, found {len(values)}")
        return checked

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> Column:
        column: Column = self._column(name)
        return column

    def __repr__(self) -> str:
        return f"<Candidates: {len(self)} rows of {', '.join(self._columns) or 'ids'}>"

    def texts(self, name: str) -> Any:  # noqa: ANN401 - an Arrow array of large strings
        """A text column as Arrow holds it: lengths and tokens are then counted in C++."""
        return self._column(name)

    def _column(self, name: str) -> Any:  # noqa: ANN401 - numpy or Arrow, as COLUMNS says
        try:
            return self._columns[name]
        except KeyError:
            raise MissingEvidence(f"no column {name!r}; candidates carry {self.carried}") from None

    @property
    def carried(self) -> str:
        """The names of the columns, in words."""
        return ", ".join(self._columns) or "ids only"

    @cached_property
    def everything(self) -> Positions:
        """The position of every row, in candidate order."""
        return np.arange(len(self), dtype=np.intp)

    @cached_property
    def _position_of(self) -> dict[object, int]:
        index = {label: position for position, label in enumerate(self.ids.tolist())}
        if len(index) != len(self.ids):
            raise ValueError(f"expected every id once, found {len(self.ids) - len(index)} rows with an id seen before")
        return index

    def position(self, label: object) -> int:
        """The row of an id; only explanations look rows up by id, so the index is built when the first one does."""
        try:
            return self._position_of[label]
        except KeyError:
            raise MissingEvidence(f"no candidate {label!r} among {len(self)}") from None

    def asked(self) -> str:
        """The query text."""
        if self.query is None:
            raise MissingEvidence("no query; pass query= with the candidates")
        return self.query

    def time(self) -> np.datetime64:
        """The time of the question."""
        if self.now is None:
            raise MissingEvidence("no time of the question; pass now= with the candidates")
        return self.now

    def with_columns(self, **columns: object) -> Self:
        """These candidates with columns added or replaced, or left out by None; the others are shared as they are."""
        merged = {**self._columns, **self._checked(columns)}
        changed = copy(self)
        changed.__dict__["_columns"] = {k: values for k, values in merged.items() if columns.get(k, values) is not None}
        return changed

    def with_number(self, name: str, row: int, number: float) -> Self:
        """These candidates with one number of one row replaced; nothing is checked again, so it can be tried often."""
        column = self[name].copy()
        column[row] = number
        changed = copy(self)
        changed.__dict__["_columns"] = {**self._columns, name: column}
        return changed

    def take(self, positions: npt.ArrayLike) -> Self:
        """The rows at ``positions``, in that order."""
        rows = np.asarray(positions, dtype=np.intp)
        taken = {
            name: column.take(rows) if isinstance(column, pa.Array) else column[rows]
            for name, column in self._columns.items()
        }
        return type(self)(self.ids[rows], query=self.query, now=self.now, legs=self.legs, **taken)

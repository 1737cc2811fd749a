from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ranking.candidates import Candidates, MissingEvidence
from ranking.columns import COLUMNS, Column, labels
from ranking.components import Positions
from ranking.tokens import Arrow, Texts, refuse_lone_text

# the store's name of a column, and the library's
_NAMES = {"agent_id": "agent", "session_id": "session"}
_READ = ("content", "weight", "created_at", "agent", "session", "embeddings")

Given = Candidates | Mapping[str, Any] | Texts


@dataclass(frozen=True, eq=False)
class Observations:
    """Aligned columns of what a pass looks at, checked once; without ids a row is known by its position."""

    count: int
    ids: Column | None
    columns: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - numpy or Arrow, as the column
        if name not in self.columns:
            raise MissingEvidence(f"no column {name!r}; observations carry {', '.join(self.columns) or 'nothing'}")
        return self.columns[name]

    def codes(self, name: str) -> Positions | None:
        """A number per distinct name, -1 where it is unknown; None without such a column."""
        if name not in self.columns:
            return None
        codes: Arrow = pc.fill_null(self.columns[name].dictionary_encode().indices, -1)
        return np.asarray(codes.to_numpy(), np.int64)

    def id_order(self, rows: Positions) -> npt.NDArray[Any]:
        """Sort keys of the ids of some rows: numbers as numbers, anything else as its text."""
        if self.ids is None:
            return rows
        keys = np.asarray(self.ids[rows].tolist())
        return keys if keys.dtype.kind in "iuf" and keys.ndim == 1 else self.ids[rows].astype(np.str_)

    def positions(self, pairs: Iterable[tuple[Any, Any]]) -> tuple[Positions, Positions]:
        """The rows of pairs of ids."""
        wanted = [label for pair in pairs for label in pair]
        names = range(self.count if wanted else 0) if self.ids is None else self.ids[: self.count if wanted else 0]
        known = {label: row for row, label in enumerate(names)}
        missing = [label for label in wanted if label not in known]
        if missing:
            raise ValueError(f"disputes: expected ids of observations, found {missing[0]!r}")
        rows = np.array([known[label] for label in wanted], np.int64).reshape(-1, 2)
        return rows[:, 0], rows[:, 1]

    def ages(self) -> Positions:
        """Microseconds since 1970 of every row's creation; without dates, rows are taken to be in order of arrival."""
        if "created_at" not in self.columns:
            return np.arange(self.count)
        return np.asarray(self.columns["created_at"].view(np.int64))

    def newest(self, limit: int | None) -> Positions:
        """The newest ``limit`` rows in their given order, equal ages by id; a row without a date counts as oldest."""
        if limit is None or self.count <= limit:
            return np.arange(self.count)
        ages = self.ages()
        cut = np.partition(ages, self.count - limit)[self.count - limit]
        ties = np.flatnonzero(ages == cut)
        newer = np.flatnonzero(ages > cut)
        kept = ties[np.argsort(self.id_order(ties), kind="stable")[: limit - len(newer)]]
        return np.sort(np.concatenate((newer, kept)))


def read_observations(given: Given) -> Observations:
    """Read a list of texts, a mapping of aligned columns, or candidates."""
    if isinstance(given, Candidates):
        return Observations(len(given), given.ids, {name: given.texts(name) for name in _READ if name in given})
    if not isinstance(given, Mapping):
        refuse_lone_text("observations", given)
        if len(given) and isinstance(given[0], Mapping):
            return read_observations(_columns_of(cast("Sequence[Mapping[str, Any]]", given)))
        return Observations(len(given), None, {"content": given})
    named = {_NAMES.get(name, name): column for name, column in given.items() if column is not None}
    unknown = [name for name in named if name not in {"ids", *_READ}]
    if unknown:
        raise ValueError(f"unknown column {unknown[0]!r}; observations may carry ids, {', '.join(_READ)}")
    ids = labels("ids", named.pop("ids")) if "ids" in named else None
    # texts are read where they are hashed, block by block: one lone surrogate must not refuse a whole scope
    columns = {name: column if name == "content" else COLUMNS[name](name, column) for name, column in named.items()}
    lengths = {name: len(column) for name, column in {"ids": ids, **columns}.items() if column is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"observations: expected columns of one length, found {found}")
    return Observations(next(iter(lengths.values()), 0), ids, columns)


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows as columns: those that a pass reads, where the first row has them; further keys are not read."""
    names = {"id": "ids", "embedding": "embeddings"}
    read = {"ids", *_READ, *_NAMES}
    columns = {name: names.get(name, name) for name in rows[0]}
    return {column: [row[name] for row in rows] for name, column in columns.items() if column in read}


def taken(texts: Texts, rows: Positions) -> Texts:
    """The texts of some rows; all of them without a copy."""
    if len(rows) == len(texts):
        return texts
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return texts.take(rows)
    return [texts[row] for row in rows.tolist()]

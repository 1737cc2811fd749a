from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ranking.candidates import Candidates, Flags
from ranking.columns import Column
from ranking.components import Positions
from ranking.diameter import Distances


class Method(StrEnum):
    """What makes two observations near: bits of their fingerprints, or the cosine of their embeddings."""

    SIMHASH = "simhash"
    EMBEDDING = "embedding"


class CountBy(StrEnum):
    """Whose voices the boost counts: the other members, or the other agents among them."""

    MEMBERS = "members"
    AGENTS = "agents"


@dataclass(frozen=True, eq=False)
class Clusters:
    """Near-duplicates of one pass: row columns aligned with the observations, then one entry per cluster.

    ``cluster`` is -1 and ``corroborating`` 0 for a row in none. Clusters are numbered by their first row.
    """

    ids: Column | None
    cluster: Positions
    corroborating: Positions
    contradicts: Flags
    canonical: Positions
    size: Positions
    corroboration_score: Positions
    agents: Positions | None
    sessions: Positions | None
    diameter: Distances
    chained: Flags
    disputed: Flags
    method: Method
    count_by: CountBy
    considered: int

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            # ids belong to the caller, who may go on writing to them
            if isinstance(value, np.ndarray) and entry.name != "ids":
                value.flags.writeable = False

    def __len__(self) -> int:
        return len(self.canonical)

    @property
    def corroborated_count(self) -> int:
        """Observations that are in a cluster."""
        return int(self.size.sum())

    @property
    def truncated(self) -> bool:
        """Whether older observations were left out."""
        return self.considered < len(self.cluster)

    def members(self, number: int) -> Positions:
        """The rows of one cluster, in their given order."""
        return np.flatnonzero(self.cluster == number)

    def others(self, number: int) -> Positions:
        """The rows of one cluster but its canonical: what the document calls corroborating."""
        return np.flatnonzero((self.cluster == number) & (np.arange(len(self.cluster)) != self.canonical[number]))

    def rows_of(self, candidates: Candidates) -> Positions:
        """The observation each candidate is, by id, -1 for one this pass did not see; without ids, by position."""
        if self.ids is None and len(candidates) != len(self.cluster):
            raise ValueError(f"clusters without ids: expected {len(self.cluster)} candidates, found {len(candidates)}")
        if self.ids is None or np.array_equal(self.ids, candidates.ids):
            return np.arange(len(self.cluster))
        known, asked = self._known, _in_arrow(candidates.ids)
        if known is None or asked is None or known.type != asked.type:
            row_of = dict(zip(self.ids.tolist(), range(len(self.ids)), strict=True))
            return np.array([row_of.get(label, -1) for label in candidates.ids.tolist()], np.int64)
        # candidates are few beside a pass, so its rows are looked up among theirs first; of an id twice the last counts
        rows = np.flatnonzero(pc.is_in(known, value_set=asked))[::-1]
        found = pc.fill_null(pc.index_in(asked, value_set=known.take(rows)), -1).to_numpy()
        return np.where(found >= 0, rows[found], -1) if rows.size else np.full(len(asked), -1)

    @cached_property
    def _known(self) -> Any:  # noqa: ANN401 - as _in_arrow
        return None if self.ids is None else _in_arrow(self.ids)

    def in_words(self) -> str:
        """What was looked at and what was found, for the reader."""
        seen = f"the newest {self.considered:,} of {len(self.cluster):,}" if self.truncated else f"{self.considered:,}"
        return f"{self.corroborated_count:,} of {seen} observations in {len(self):,} clusters"


def _in_arrow(ids: Column) -> Any:  # noqa: ANN401 - an Arrow array, None for ids it would refuse or compare otherwise
    try:
        labels: Any = pa.array(ids)
    except (pa.ArrowException, OverflowError, TypeError, UnicodeEncodeError):
        return None
    return labels if labels.type in (pa.string(), pa.int64()) else None

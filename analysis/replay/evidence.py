"""What a replay compares beyond the log: who had said the same by then, and how alike candidates are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import numpy.typing as npt

from analysis.voices import counted_voices, stored_voices
from queries.replay.logged import READING
from queries.replay.texts import FullVectors
from ranking.redundancy import TAG_SHARE, tag_matrix

if TYPE_CHECKING:
    from analysis.replay.pool import Group, Pool
    from analysis.replay.settings import WhatIf
    from queries.engine import Store
    from queries.replay.texts import StoredVectors, StoredVoices
    from queries.scope import Reach
    from ranking.clusters import CountBy

Flags = npt.NDArray[np.bool_]
Whole = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

CELLS = 4_000_000  # numbers gathered at a time: memory stays flat whatever the number of retrievals


@dataclass(eq=False)
class Evidence:
    """What the settings that are tried ask for, read when the first one does and kept for the others."""

    store: Store
    reach: Reach
    pool: Pool
    _voices: StoredVoices | None = None
    _vectors: StoredVectors | None = None
    _counts: dict[tuple[int, CountBy], list[Whole]] = field(default_factory=dict)
    _alike: dict[int, tuple[Flags, Scores]] = field(default_factory=dict)

    def corroborating(self, group: int, settings: WhatIf) -> Whole:
        """How many others said the same as each candidate before its retrieval; 0 for what no pass would have seen.

        Near-duplicates are looked for inside each project, as aggregation does, among what is active today.
        """
        key = (settings.bits, settings.count_by)
        if key not in self._counts:
            self._counts[key] = self._counted(*key)
        return self._counts[key][group]

    def redundancy(self, group: int) -> tuple[Flags, Scores]:
        """Which retrievals have a vector for every candidate, and for those how alike any two are (002)."""
        if group not in self._alike:
            self._alike[group] = self._compared(self.pool.groups[group])
        return self._alike[group]

    def _counted(self, bits: int, count_by: CountBy) -> list[Whole]:
        groups = self.pool.groups
        asked = np.concatenate([group.id.ravel() for group in groups]) if groups else np.empty(0, "S16")
        moments = np.concatenate([np.repeat(group.at, group.candidates) for group in groups] or [np.empty(0, np.int64)])
        counts = counted_voices(self._stored(), asked, moments, bits, count_by)
        ends = np.cumsum([group.id.size for group in groups])
        parts = np.split(counts, ends[:-1])
        return [part.reshape(group.id.shape) for part, group in zip(parts, groups, strict=True)]

    def _stored(self) -> StoredVoices:
        if self._voices is None:
            self._voices = stored_voices(self.store, self.reach, self.pool.org_id)
        return self._voices

    def _compared(self, group: Group) -> tuple[Flags, Scores]:
        stored = self._read_vectors()
        if not len(stored.id):
            return np.zeros(len(group.id), np.bool_), np.empty((0, group.candidates, group.candidates))
        place = np.searchsorted(stored.id, group.id).clip(max=len(stored.id) - 1)
        whole = (stored.id[place] == group.id).all(axis=1)
        rows = place[whole]
        lengths = np.sqrt(np.einsum("ij,ij->i", stored.vectors, stored.vectors, dtype=np.float64))
        safe = np.where(lengths > 0, lengths, np.inf)  # a vector of zeros is like no other
        tags = tag_matrix(stored.tags)
        sizes = np.asarray(tags.sum(axis=1)).ravel()
        alike = np.empty((len(rows), group.candidates, group.candidates))
        step = max(1, CELLS // max(1, group.candidates * max(stored.vectors.shape[1], tags.shape[1])))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            vectors = stored.vectors[some]
            near = (vectors @ vectors.transpose(0, 2, 1)) / (safe[some][:, :, None] * safe[some][:, None, :])
            marks = tags[some.ravel()].toarray().astype(np.float32).reshape(*some.shape, -1)
            shared = (marks @ marks.transpose(0, 2, 1)).astype(np.float64)
            either = np.maximum(sizes[some][:, :, None] + sizes[some][:, None, :] - shared, 1.0)
            alike[start : start + step] = np.maximum(near.clip(0.0, 1.0), TAG_SHARE * shared / either)
        return whole, alike

    def _read_vectors(self) -> StoredVectors:
        if self._vectors is None:
            packed = np.unique(np.concatenate([group.id.ravel() for group in self.pool.groups] or [np.empty(0, "S16")]))
            ids = tuple(UUID(bytes=each.ljust(16, b"\0")) for each in packed.tolist())
            with self.store.reading(self.reach, READING, name="replay vectors") as snapshot:
                self._vectors = FullVectors(self.pool.org_id, ids).read(snapshot)
        return self._vectors

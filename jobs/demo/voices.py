"""How many others said the same, as an aggregation pass at midnight would have known it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from jobs.demo.recall import moment
from ranking.near_pairs import near_components
from ranking.simhash import simhash64

if TYPE_CHECKING:
    from datetime import datetime

    from jobs.demo.recall import Moments, Rows
    from jobs.demo.story import Story


class Voices:
    """Near-duplicates per project, counted over what existed at the last midnight."""

    def __init__(self, story: Story, created: Moments) -> None:
        texts, names = [entry.memory.text for entry in story.placed], [entry.memory.project for entry in story.placed]
        hashes, projects = simhash64(texts), np.array(names, dtype=np.object_)
        self._near: list[tuple[Rows, Moments, npt.NDArray[np.uint64]]] = []
        for project in dict.fromkeys(names):
            mine = np.flatnonzero(projects == project)
            # most memories are near nothing, ever: a day's pass looks at the others
            _, group, sizes = np.unique(near_components(hashes[mine]), return_inverse=True, return_counts=True)
            rows = mine[sizes[group] > 1]
            self._near.append((rows, created[rows], hashes[rows]))
        self._count = len(texts)
        self._of_day = cache(self._passed)

    def corroborating(self, rows: Rows, at: datetime) -> Rows:
        """The other members of each row's cluster."""
        return self._of_day(at.replace(hour=0, minute=0, second=0, microsecond=0))[rows]

    def _passed(self, midnight: datetime) -> Rows:
        others = np.zeros(self._count, dtype=np.intp)
        for rows, created, hashes in self._near:
            there = np.flatnonzero(created < moment(midnight))
            _, group, sizes = np.unique(near_components(hashes[there]), return_inverse=True, return_counts=True)
            others[rows[there]] = sizes[group] - 1
        return others

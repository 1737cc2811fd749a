"""A replay the slow, obvious way: one retrieval after the other through ``ranking.rank``, from raw rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg

from ranking import Candidates, cluster_near_duplicates, rank

if TYPE_CHECKING:
    from analysis.replay.settings import WhatIf

LOG = """select retrieval_id::text, observation_id::text, relevance_score, feedback_weight, corroboration_boost,
                weighted_rank, weighting_enabled, injected, created_at
           from retrieval_ab_logs where org_id = %s order by retrieval_id, relevance_score desc, observation_id"""
OBSERVED = """select id::text, o.content, o.tags, o.project_id, o.agent_id, o.created_at, e.embedding::text
                from observations o left join observation_embeddings e
                  on e.org_id = o.org_id and e.observation_id = o.id and e.route = 'full' where o.org_id = %s"""
BUDGETS = "select retrieval_id::text, token_budget from context_injection_logs where org_id = %s"


@dataclass(frozen=True)
class Slow:
    """One retrieval by id: order and block as logged, and under settings."""

    logged: tuple[str, ...]
    logged_block: frozenset[str]
    order: tuple[str, ...]
    block: frozenset[str]
    candidates: Candidates

    @property
    def alike(self) -> dict[str, object]:
        """A name per candidate, the same for those with one relevance, weight and boost: copies of one another.

        Between them the last digit of a float32 product decides, in the library as well: it depends on their places.
        """
        columns = (self.candidates[name].tolist() for name in ("relevance", "weight", "corroborating"))
        return dict(zip(self.candidates.ids.tolist(), zip(*columns, strict=True), strict=True))


class Oracle:
    """An organization's raw rows."""

    def __init__(self, address: str, org: str) -> None:
        with psycopg.connect(address) as connection:
            self.rows = defaultdict(list)
            for row in connection.execute(LOG, (org,)):
                self.rows[row[0]].append(row)
            self.observed = {row[0]: row for row in connection.execute(OBSERVED, (org,))}
            self.budget: dict[str, int] = dict(connection.execute(BUDGETS, (org,)).fetchall())

    def replay(self, retrieval: str, settings: WhatIf) -> Slow:
        """One retrieval under settings, with clusters made of nothing but what existed then."""
        rows = self.rows[retrieval]
        ids = [row[1] for row in rows]
        base = np.array([row[2] for row in rows])
        if settings.boost is None:
            base += [row[4] or 0.0 for row in rows]
        candidates = Candidates(
            ids,
            relevance=base,
            weight=np.array([row[3] for row in rows]),
            content=[self.observed[id_][1] for id_ in ids],
            tags=[self.observed[id_][2] for id_ in ids],
            embeddings=np.array([np.fromstring(self.observed[id_][6].strip("[]"), sep=",") for id_ in ids], np.float32),
            corroborating=self._voices(ids, rows[0][8], settings),
        )
        stages = settings.stages(weighting=rows[0][6], budget=self.budget[retrieval])
        ranking = rank(candidates, stages)
        held = candidates.ids[ranking.steps[-2].positions[ranking.steps[-2].order()]].tolist()
        by_rank = sorted(rows, key=lambda row: row[5])
        return Slow(
            logged=tuple(row[1] for row in by_rank),
            logged_block=frozenset(row[1] for row in rows if row[7]),
            order=(*held, *(id_ for id_ in ids if id_ not in held)),
            block=frozenset(ranking.ids()),
            candidates=candidates,
        )

    def _voices(self, ids: list[str], at: Any, settings: WhatIf) -> list[int]:  # noqa: ANN401 - a moment
        counts: dict[str, int] = {}
        if settings.boost:
            for project in {self.observed[id_][3] for id_ in ids}:
                there = [row for row in self.observed.values() if row[3] == project and row[5] < at]
                found = cluster_near_duplicates(
                    {
                        "ids": [row[0] for row in there],
                        "content": [row[1] for row in there],
                        "agent_id": [row[4] for row in there],
                    },
                    settings.bits,
                    count_by=settings.count_by,
                )
                counts |= dict(zip([row[0] for row in there], found.corroborating.tolist(), strict=True))
        return [counts.get(id_, 0) for id_ in ids]

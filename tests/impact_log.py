"""Logs for tests of Feedback Impact: believable retrievals, damaged ones, and what each should count as."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from tests import sample

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

NUMBERS = (float("nan"), float("inf"), float("-inf"), None)
EXTREMES = (-1.0, 0.0, 1e308, 5e-324)


@dataclass
class Row:
    """One log row."""

    observation: UUID
    relevance: float | None
    weight: float | None
    weighted: float | None
    before: int | None
    after: int | None
    injected: bool | None
    boost: float | None = None


@dataclass
class Retrieval:
    """One retrieval with its session's facts; ``rows`` may be damaged."""

    name: str
    rows: list[Row]
    org: str = "org_a"
    query: str = "how do we deploy"
    session: str = "s0"
    days_ago: int = 1
    weighting: bool = True
    id: UUID = field(init=False)

    def __post_init__(self) -> None:
        self.id = uuid5(sample.NAMESPACE, f"impact/{self.org}/{self.name}")


def believable(
    draw: random.Random,
    name: str,
    size: int,
    *,
    block: int,
    boosted: bool = False,
    **more: Any,  # noqa: ANN401
) -> Retrieval:
    """A retrieval as the live path logs it: ranks by score, the block is the head of the weighted order."""
    few = [1.0, 1.0, 0.9, 0.85, 0.7225, 0.5, 0.2]
    relevance = [draw.randrange(30, 99) / 100 for _ in range(size)]
    boost = [draw.choice([0.0, 0.1, 0.158]) if boosted else None for _ in range(size)]
    weights = [draw.choice(few) for _ in range(size)]
    base = [score + (extra or 0.0) for score, extra in zip(relevance, boost, strict=True)]
    weighting = more.get("weighting", True)
    weighted = [score * (weight if weighting else 1) for score, weight in zip(base, weights, strict=True)]
    before, after = ranks(base), ranks(weighted)
    rows = [
        Row(uuid5(sample.NAMESPACE, f"obs/{draw.randrange(40)}/{i}"), relevance[i], weights[i], weighted[i], before[i],
            after[i], after[i] < block, boost[i])
        for i in range(size)
    ]  # fmt: skip
    return Retrieval(name, rows, **more)


def seeded(seed: int) -> random.Random:
    """A source of the same numbers every time."""
    return random.Random(seed)  # noqa: S311 - a test's own choice


def ranks(scores: list[float]) -> list[int]:
    """The 0-based rank of every row, equal scores in their order."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return [order.index(i) for i in range(len(scores))]


def damaged(draw: random.Random, made: Retrieval, how: str) -> Retrieval:
    """The same retrieval with one fault: a hole, a repetition, a score that is no number, a rank that cannot be."""
    row = draw.choice(made.rows)
    if how == "hole":
        made.rows.remove(row)
    elif how == "twice":
        row.observation = next(other.observation for other in made.rows if other is not row)
    elif how == "number":
        setattr(row, draw.choice(["relevance", "weight", "weighted"]), draw.choice(NUMBERS))
    elif how == "rank":
        setattr(row, draw.choice(["before", "after"]), draw.choice([None, -1, 2**31 - 1, -(2**31)]))
    elif how == "extreme":  # finite, and so no fault at all
        setattr(row, draw.choice(["relevance", "weight"]), draw.choice(EXTREMES))
    elif how == "unknown block":
        row.injected = None
    elif how == "later stage":
        inside, outside = ([r for r in made.rows if r.injected is flag] for flag in (True, False))
        inside[0].injected, outside[-1].injected = False, True
    return made


FAULTS = ("hole", "twice", "number", "rank", "extreme", "unknown block", "later stage")


def plant(owner: Owner, retrievals: list[Retrieval]) -> None:
    """Write them as the platform would."""
    with owner.cursor() as cursor:
        cursor.executemany(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
                 relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled,
                 injected, corroboration_boost, pipeline, created_at)
               values (%s, %s, %s, 'api', %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'live', %s)""",
            [
                (
                    each.org, each.id, each.session, each.query, row.observation, row.relevance, row.weight,
                    row.weighted, row.before, row.after, each.weighting, row.injected, row.boost,
                    sample.TODAY - timedelta(days=each.days_ago) + timedelta(hours=12),
                )
                for each in retrievals
                for row in each.rows
            ],
        )  # fmt: skip


def is_number(value: float | None) -> bool:
    """Whether a score is a finite number."""
    return value is not None and math.isfinite(value)

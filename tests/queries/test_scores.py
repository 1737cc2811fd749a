"""HOS-5: the store and the library put scores in the same order, whatever stands in the column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Double, Uuid, cast, column, select, values

from queries.replay.logged import ReplayLog, id_text
from queries.scope import Reach
from queries.scores import best_first
from ranking.order import stable_order
from tests.analysis.replay.planted_log import plant
from tests.analysis.replay.test_pool import scope

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

# few, so that ties are the rule
FEW = (None, float("nan"), float("inf"), float("-inf"), -1.0, -0.0, 0.0, 0.5, 1e308, -1e308, 5e-324)
SCORES = st.sampled_from(FEW)
IDS = st.integers(0, 2**128 - 1).map(lambda number: UUID(int=number))
IN_A_STORE = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def in_library_order(scored: dict[UUID, float | None]) -> list[UUID]:
    """What is a number as ``stable_order`` ranks it among candidates by id; then the others, by id."""
    sound = [id_ for id_ in sorted(scored) if math.isfinite(scored[id_] or 0.0) and scored[id_] is not None]
    ranked = [sound[place] for place in stable_order(np.array([scored[id_] for id_ in sound], np.float64))]
    return ranked + [id_ for id_ in sorted(scored) if id_ not in sound]


@IN_A_STORE
@given(st.dictionaries(IDS, SCORES, min_size=1, max_size=20))
def test_the_store_orders_as_the_library_does(store: Store, scored: dict[UUID, float | None]) -> None:
    rows = values(column("id", Uuid), column("score", Double), name="scored").data(list(scored.items()))
    score = cast(rows.c.score, Double)  # a list of nothing but nulls has no type of its own
    with store.reading(Reach(()), 5.0) as connection:
        found = connection.execute(select(rows.c.id).order_by(*best_first(score, rows.c.id))).scalars().all()
    assert list(found) == in_library_order(scored)


@settings(IN_A_STORE, max_examples=40)
@given(st.dictionaries(IDS, SCORES, min_size=3, max_size=3))
def test_a_replay_reads_the_log_in_that_order(store: Store, owner: Owner, scored: dict[UUID, float | None]) -> None:
    owner.execute("delete from context_injection_logs; delete from retrieval_ab_logs")
    owner.execute("insert into organizations (id, name) values ('org_a', 'A') on conflict do nothing")
    plant(owner, "org_a", "one", observation=list(scored), relevance=list(scored.values()))
    with store.reading(Reach(("org_a",)), 5.0) as snapshot:
        log = ReplayLog(scope("org_a")).read(snapshot)
    assert [UUID(id_text(bytes(id_))) for id_ in log.candidates["id"]] == in_library_order(scored)


def test_the_rule_by_hand() -> None:
    ids = [UUID(int=number) for number in range(7)]
    scored = dict(zip(ids, (float("nan"), 0.5, None, 1e308, float("inf"), 0.5, -1.0), strict=True))
    assert [id_.int for id_ in in_library_order(scored)] == [3, 1, 5, 6, 0, 2, 4]

"""Neighbours by SimHash where the kept fingerprints are of texts that are others by now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from queries.observation.life import whole_life
from queries.observation.near import NEAREST, NearestBySimhash, NearestByVector
from tests import sample
from tests.scopes import add_observation

if TYPE_CHECKING:
    from uuid import UUID

    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

LIFE = whole_life("org_a")


@pytest.fixture
def ids(owner: Owner) -> list[UUID]:
    """Fifteen texts, each kept with a bit more apart from the first than the one before."""
    sample.add_organization(owner, "org_a")
    found = [add_observation(owner, "org_a", str(number), f"text {number}") for number in range(15)]
    for number, id_ in enumerate(found):
        owner.execute(
            "insert into rankscope.simhashes values ('org_a', %s, md5(%s), %s, 2)",
            (id_, f"text {number}", (1 << number) - 1),
        )
    return found


def test_a_rewritten_text_has_no_distance_and_the_next_takes_its_place(
    store: Store, owner: Owner, ids: list[UUID]
) -> None:
    for changed in (ids[1], ids[4]):
        owner.execute("update observations set content = 'wholly other words' where id = %s", (changed,))
    owner.execute("delete from observations where id = %s", (ids[6],))
    found = store.ask(NearestBySimhash(LIFE, ids[0], 0))
    left = [number for number in range(1, 15) if number not in {1, 4, 6}][:NEAREST]
    assert found["bits"].tolist() == left
    assert found["id"].tolist() == [str(ids[number]) for number in left]


def test_a_vector_without_direction_is_near_nothing_and_has_nothing_near(
    store: Store, owner: Owner, ids: list[UUID]
) -> None:
    """As a model gives it to a text without words: no cosine is a number there."""
    for id_, vector in zip(ids, ("[1,0]", "[1,1]", "[0,0]"), strict=False):
        owner.execute("insert into observation_embeddings values ('org_a', %s, 'full', %s)", (id_, vector))
    found = store.ask(NearestByVector(LIFE, ids[0]))
    assert found["id"].tolist() == [str(ids[1])]
    assert found["cosine"].tolist() == pytest.approx([0.5**0.5])
    assert store.ask(NearestByVector(LIFE, ids[2])).empty

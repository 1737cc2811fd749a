"""Nearest neighbours through the index, most of whose rows belong to others, and when it is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from queries.recall import asking
from queries.recall.asking import ask, chosen_search
from queries.recall.estimates import Estimates
from queries.recall.legs import Search
from queries.recall.statements import Shape
from queries.scope import EVERYTHING, Reach
from tests import sample
from tests.memories import add_memory, nearest
from tests.queries.recall.asked import REACH, asked

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.queries.recall.asked import Vectors

    Owner = psycopg.Connection[Any]


class TestThroughTheIndex:
    """Vectors of 256 dimensions have an index; most of its rows belong to others."""

    @pytest.fixture
    def planted(self, owner: Owner) -> Vectors:
        draw = np.random.default_rng(1)
        centres = draw.normal(size=(5, 256))
        held = {}
        for org, count in (("org_a", 30), ("org_b", 600)):
            sample.add_organization(owner, org)
            with owner.pipeline():
                for number in range(count):
                    vector = (centres[number % 5] + draw.normal(size=256)).astype(np.float32)
                    id_ = add_memory(owner, org, number + 1000 * (org == "org_b"), vectors={"full": vector})
                    if org == "org_a":
                        held[id_] = vector
        owner.execute("analyze")
        return held

    @pytest.mark.parametrize("reach", [REACH, EVERYTHING], ids=["one", "all"])
    @pytest.mark.parametrize("search", Search)
    def test_under_row_security_as_many_come_back_as_there_are(
        self,
        store: Store,
        planted: Vectors,
        search: Search,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """ISO-9: with plain HNSW most of the nearest 40 belong to the other organization."""
        monkeypatch.setattr(asking, "chosen_search", lambda _asked, _expected: search)
        question = np.random.default_rng(2).normal(size=256).astype(np.float32)
        found = ask(store, reach, asked("vec_full", vector=question, pool=20, candidates=20))
        exact = [id_ for id_, _ in nearest(planted, question, 20)]
        assert len(found.candidates) == 20
        assert len(set(found.candidates.ids) & set(exact)) >= 19
        if search is not Search.INDEX:
            assert list(found.candidates.ids) == exact

    @pytest.mark.parametrize("search", Search)
    def test_a_project_through_the_index(
        self, store: Store, owner: Owner, planted: Vectors, search: Search, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(asking, "chosen_search", lambda _asked, _expected: search)
        mine = dict(list(planted.items())[::3])
        owner.execute("update observations set project_id = 'web' where id = any(%s::uuid[])", (list(mine),))
        question = np.random.default_rng(2).normal(size=256).astype(np.float32)
        for pool in (5, 20):
            found = ask(store, REACH, asked("vec_full", vector=question, project="web", pool=pool, candidates=pool))
            assert list(found.candidates.ids) == [id_ for id_, _ in nearest(mine, question, pool)]

    @pytest.mark.parametrize("project", [None, "web"])
    @pytest.mark.parametrize("search", Search)
    def test_every_row_brings_its_own_vector_whatever_way_it_was_found(
        self,
        store: Store,
        owner: Owner,
        planted: Vectors,
        search: Search,
        *,
        project: str | None,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(asking, "chosen_search", lambda _asked, _expected: search)
        owner.execute("update observations set project_id = 'web' where id = any(%s::uuid[])", (list(planted),))
        question = np.random.default_rng(2).normal(size=256).astype(np.float32)
        wanted = asked("vec_full", vector=question, project=project, pool=20, candidates=20, embeddings=True)
        found = ask(store, REACH, wanted).candidates
        assert len(found) == 20
        np.testing.assert_array_equal(found["embeddings"], [planted[id_] for id_ in found.ids])

    def test_more_than_there_are(self, store: Store, planted: Vectors) -> None:
        found = ask(store, REACH, asked("vec_full", vector=np.ones(256, np.float32), pool=50, candidates=50))
        assert sorted(found.candidates.ids) == sorted(planted)

    def test_an_index_that_gives_up_early_is_not_the_last_word(
        self,
        store: Store,
        planted: Vectors,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(asking, "chosen_search", lambda _asked, _expected: Search.INDEX)
        monkeypatch.setattr(asking, "INDEX_SETTINGS", {"hnsw.iterative_scan": "off", "enable_sort": "off"})
        monkeypatch.setattr(asking, "LEAST_KEPT", 1)
        question = -next(iter(planted.values()))
        found = ask(store, REACH, asked("vec_full", vector=question, pool=20, candidates=20))
        assert list(found.candidates.ids) == [id_ for id_, _ in nearest(planted, question, 20)]

    def test_sessions_that_came_along_do_not_hide_that_the_index_gave_up(self) -> None:
        """Six turns and their six sessions are twelve rows, of which the legs found six."""
        shape = Shape(("vec_full", "vec_user"), fused=True, sessions=True)
        turns = [(f"turn {place}", 0.1, place, None, 0.9, None) for place in range(6)]
        sessions = [(f"session {place}", 0.0, None, None, None, None) for place in range(6)]
        question = asked("vec_full", "vec_user", pool=12, candidates=12, damping=16.0, sessions=True)
        assert asking._is_short([*turns, *sessions], question, shape)
        assert not asking._is_short([*turns, *turns], question, shape)

    @pytest.mark.parametrize(
        ("organization", "project", "expected"),
        [(0.01, None, Search.ORGANIZATION), (0.5, None, Search.INDEX), (0.5, 0.01, Search.PROJECT)],
    )
    def test_the_way_follows_from_how_many_there_are(
        self, organization: float, project: float | None, expected: Search
    ) -> None:
        index = "... hnsw (((embedding)::vector(256)) vector_cosine_ops) where route = 'full'"
        sizes = Estimates(100_000, organization, organization if project is None else project, indexes=(index,))
        question = asked("vec_full", vector=np.ones(256, np.float32), pool=20, project=None if project is None else "p")
        assert chosen_search(question, sizes) is expected

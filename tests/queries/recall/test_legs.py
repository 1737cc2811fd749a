"""Every vector leg of a recall against NumPy, and the fusion of legs against the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from queries.recall import asking
from queries.recall.asking import ask
from queries.recall.legs import ROUTES, Search
from queries.schema import ROUTES as VECTOR_ROUTES
from ranking import reciprocal_rank_fusion
from tests import sample
from tests.memories import add_memory, leg_name, nearest
from tests.queries.recall.asked import ASKED, REACH, asked, legs_of

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.queries.recall.asked import Memory

    Owner = psycopg.Connection[Any]


class TestVectorLegs:
    @pytest.mark.parametrize("route", VECTOR_ROUTES)
    @pytest.mark.parametrize("search", Search)
    def test_each_route_finds_what_numpy_finds(
        self,
        store: Store,
        memory: Memory,
        route: str,
        search: Search,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(asking, "chosen_search", lambda _asked, _expected: search)
        found = ask(store, REACH, asked(leg_name(route)))
        expected = nearest(memory[route], ASKED, 7)
        assert list(found.candidates.ids) == [id_ for id_, _ in expected]
        np.testing.assert_allclose(found.candidates["relevance"], [score for _, score in expected], atol=1e-6)
        assert found.candidates["leg_ranks"].ravel().tolist() == list(range(len(expected)))

    @pytest.mark.parametrize("search", Search)
    def test_a_project_keeps_to_itself(
        self,
        store: Store,
        memory: Memory,
        search: Search,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(asking, "chosen_search", lambda _asked, _expected: search)
        mine = {id_: vector for id_, vector in memory["full"].items() if int(id_[-2:], 16) % 2}
        found = ask(store, REACH, asked("vec_full", project="api"))
        assert list(found.candidates.ids) == [id_ for id_, _ in nearest(mine, ASKED, 7)]

    def test_vectors_of_another_dimension_and_without_length_are_passed_over(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        add_memory(owner, "org_a", 1, vectors={"full": [1, 0, 0]})
        add_memory(owner, "org_a", 2, vectors={"full": [0, 0, 0, 0]})
        right = add_memory(owner, "org_a", 3, vectors={"full": [-1, -2, 0, -1]})
        found = ask(store, REACH, asked("vec_full"))
        assert list(found.candidates.ids) == [right]
        assert found.candidates["relevance"][0] == pytest.approx(-1)


class TestFusion:
    @pytest.mark.parametrize("name", ["lexical", "vec_user"])
    def test_one_leg_is_fused_and_cut_like_several(self, store: Store, memory: Memory, name: str) -> None:
        assert memory
        alone = ask(store, REACH, asked(name, text="kiwi papaya", pool=9, candidates=9)).candidates
        found = ask(store, REACH, asked(name, text="kiwi papaya", pool=9, candidates=4, damping=16.0)).candidates
        assert list(found.ids) == list(alone.ids[:4])
        assert found["relevance"].tolist() == [1 / 16, 1 / 17, 1 / 18, 1 / 19]
        assert found["leg_ranks"].tolist() == [[0], [1], [2], [3]]
        np.testing.assert_array_equal(found["leg_scores"].ravel(), alone["relevance"][:4])

    @pytest.mark.parametrize("names", [tuple(ROUTES), ("vec_full", "lexical"), ("vec_user", "lexical", "facet_events")])
    @pytest.mark.parametrize(("k", "first_rank"), [(15.0, 1), (5.0, 0)])
    def test_the_store_fuses_as_the_library_does(
        self,
        store: Store,
        memory: Memory,
        names: tuple[str, ...],
        k: float,
        first_rank: int,
    ) -> None:
        assert memory
        text = "kiwi papaya"
        legs = [legs_of(ask(store, REACH, asked(name, text=text, pool=9, candidates=9)))[0] for name in names]
        question = asked(*names, text=text, pool=9, candidates=40, damping=k + first_rank)
        found = ask(store, REACH, question)
        fused = sorted(reciprocal_rank_fusion(legs, k, first_rank), key=lambda row: (-row[1], row[0]))[:40]
        assert list(found.candidates.ids) == [id_ for id_, _ in fused]
        assert found.candidates["relevance"].tolist() == [score for _, score in fused]
        assert found.candidates.legs == names
        assert [leg[:3] for leg in legs_of(found)] == [leg[:3] for leg in legs]

    def test_the_legs_of_the_fusion_are_those_of_numpy(self, store: Store, memory: Memory) -> None:
        names = tuple(leg_name(route) for route in VECTOR_ROUTES)
        found = ask(store, REACH, asked(*names, pool=5, candidates=1000, damping=16.0))
        expected = [[id_ for id_, _ in nearest(memory[route], ASKED, 5)] for route in VECTOR_ROUTES]
        assert legs_of(found) == expected
        scores = dict(reciprocal_rank_fusion(expected, 15, 1))
        assert dict(zip(found.candidates.ids, found.candidates["relevance"].tolist(), strict=True)) == scores

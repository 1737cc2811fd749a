"""Every leg of a recall against an independent computation, and their fusion against the library."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from queries.recall import asking
from queries.recall.asking import Asked, ask, chosen_search
from queries.recall.estimates import Estimates, estimates
from queries.recall.keywords import keywords
from queries.recall.legs import ROUTES, Search
from queries.recall.statements import Shape
from queries.schema import ROUTES as VECTOR_ROUTES
from queries.scope import EVERYTHING, Reach
from ranking import reciprocal_rank_fusion
from tests import sample
from tests.memories import add_memory, leg_name, nearest

if TYPE_CHECKING:
    import numpy.typing as npt
    import psycopg

    from queries.engine import Store
    from queries.recall.rows import Found

    Owner = psycopg.Connection[Any]
    Vectors = dict[str, npt.NDArray[np.float32]]
    Memory = dict[str, Vectors]

REACH = Reach.of(frozenset({"org_a"}))
DRAW = np.random.default_rng(5)
WORDS = ("kiwi", "mango", "papaya", "quinoa", "radish", "salmon")
STOP_WORDS = {"the", "and", "of", "a"}
# few distinct vectors, so that ties are common
KINDS = DRAW.integers(-2, 3, (6, 4)).astype(np.float32)
ASKED = np.array([1, 2, 0, 1], np.float32)


def asked(*legs: str, vector: npt.NDArray[np.float32] | None = ASKED, **options: Any) -> Asked:  # noqa: ANN401 - Asked's own
    given = {"org": "org_a", "project": None, "text": "", "now": None, "pool": 7, "candidates": 7} | options
    return Asked(legs=legs, vector=vector, **given)


def legs_of(found: Found) -> list[list[str]]:
    """The ids of each leg, best first."""
    places = found.candidates["leg_ranks"]
    ids = found.candidates.ids
    return [[ids[row] for row in np.argsort(column) if column[row] >= 0] for column in places.T]


@pytest.fixture
def memory(owner: Owner) -> Memory:
    """Sixty observations of one organization and twenty of another, with vectors of every kind for most."""
    draw = np.random.default_rng(3)
    held: Memory = {route: {} for route in VECTOR_ROUTES}
    for org, numbers in (("org_a", range(60)), ("org_b", range(60, 80))):
        sample.add_organization(owner, org)
        for number in numbers:
            vectors = {route: KINDS[draw.integers(6)] for route in VECTOR_ROUTES if draw.random() < 0.7}
            text = " ".join(WORDS[word] for word in draw.integers(0, 6, draw.integers(1, 9)))
            status = "active" if number % 9 else "archived"
            at = sample.TODAY - timedelta(hours=number)
            project = "api" if number % 2 else "web"
            id_ = add_memory(owner, org, number, text, vectors, status=status, created_at=at, project_id=project)
            if org == "org_a" and status == "active":
                for route, vector in vectors.items():
                    held[route][id_] = vector
    return held


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


def add_many(owner: Owner, org: str, many: int, older: str, *, count: int, newer: str = "frontend thing") -> None:
    """So many observations an hour apart, of which the oldest ``count`` say something else."""
    sample.add_organization(owner, org)
    owner.execute(
        """insert into observations (org_id, content, content_hash, created_at)
           select %(org)s, case when i > %(many)s - %(count)s then %(older)s else %(newer)s end || ' ' || i, i,
                  now() - i * interval '1 hour'
             from generate_series(1, %(many)s) i""",
        {"org": org, "many": many, "older": older, "count": count, "newer": newer},
    )


class TestKeywordLeg:
    def expected(self, owner: Owner, question: str, pool: int) -> list[tuple[str, float]]:
        """``Σ share · Σ 1/j² / ζ(2) / log2(1 + words)`` over the occurrences j of every term, text by text.

        A share is a term's part of ``Σ ln(1 + n / (1 + df))``, counted over every observation of the store.
        """
        rows = owner.execute("select id::text, content, org_id = 'org_a' and status = 'active' from observations")
        texts = {id_: (content.split(), mine) for id_, content, mine in rows}
        terms = dict.fromkeys(word for word in question.split() if word not in STOP_WORDS)
        held = {term: sum(term in words for words, _ in texts.values()) for term in terms}
        tells = {term: math.log(1 + len(texts) / (1 + held[term])) for term in terms}
        scored = []
        for id_, (words, mine) in texts.items():
            score = 0.0
            for term in terms:
                met = sum(1 / j**2 for j in range(1, words.count(term) + 1)) / (math.pi**2 / 6)
                score += tells[term] / sum(tells.values()) * met / math.log2(1 + len(words))
            if mine and score:
                scored.append((id_, score))
        return sorted(scored, key=lambda row: (-round(row[1], 6), row[0]))[:pool]

    @pytest.mark.parametrize("question", ["kiwi", "kiwi salmon", "the mango and radish of a quinoa", "kiwi " * 500])
    def test_terms_are_counted_text_by_text(self, store: Store, owner: Owner, memory: Memory, question: str) -> None:
        assert memory
        owner.execute("analyze")
        found = ask(store, REACH, asked("lexical", vector=None, text=question, pool=50, candidates=50)).candidates
        expected = self.expected(owner, question, 50)
        assert len(expected) > 10
        assert list(found.ids) == [id_ for id_, _ in expected]
        np.testing.assert_allclose(found["relevance"], [score for _, score in expected], rtol=1e-4)

    def test_a_long_question_finds_the_one_that_answers_it(self, store: Store, owner: Owner) -> None:
        """No observation holds every word of a long question: any will do, and rare ones count."""
        sample.add_organization(owner, "org_a")
        common = [add_memory(owner, "org_a", n, "deploy service note again") for n in range(40)]
        answer = add_memory(owner, "org_a", 99, "the walrus cluster needs a manual failover", task_tag="pagoda")
        owner.execute("analyze")
        question = "what do I have to note when I deploy a service again and the walrus is down in the pagoda region"
        found = ask(store, REACH, asked("lexical", vector=None, text=question, pool=50, candidates=50)).candidates
        assert found.ids[0] == answer
        assert {*found.ids[1:]} == {*common}

    def test_terms_that_are_everywhere_still_find_something(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        owner.execute(
            """insert into observations (org_id, content, content_hash, created_at)
               select 'org_a', 'deploy note ' || case when i = 1 then 'walrus' else 'x' || i end, i,
                      now() - i * interval '1 hour'
                 from generate_series(1, 3000) i"""
        )
        owner.execute("analyze")
        with store.reading(REACH) as connection:
            plan = keywords(estimates(connection, "org_a", None, "deploy note"))
        assert plan is not None
        assert (plan.lookup, plan.newest) == (None, 300)
        found = ask(store, REACH, asked("lexical", vector=None, text="deploy note", pool=20, candidates=20)).candidates
        assert len(found) == 20
        rare = ask(store, REACH, asked("lexical", vector=None, text="deploy walrus", pool=20, candidates=20)).candidates
        assert "walrus" in rare.texts("content")[0].as_py()

    @pytest.mark.parametrize("project", [None, "api"])
    @pytest.mark.parametrize("pool", [20, 64, 700])
    def test_a_common_term_that_only_older_ones_hold(
        self, store: Store, owner: Owner, pool: int, project: str | None
    ) -> None:
        add_many(owner, "org_a", 4_000, "database trouble", count=1_700)
        owner.execute("update observations set project_id = 'api' where content_hash::int % 2 = 0")
        owner.execute("vacuum analyze observations")
        question = asked("lexical", vector=None, text="database", pool=pool, candidates=pool, project=project)
        found = ask(store, REACH, question).candidates
        assert len(found) == pool
        assert all("database" in content for content in found.texts("content").to_pylist())

    def test_a_term_that_is_common_in_another_organization_only(self, store: Store, owner: Owner) -> None:
        add_many(owner, "org_b", 5_000, "database note", count=5_000)
        add_many(owner, "org_a", 2_000, "database trouble", count=40)
        owner.execute("analyze")
        with store.reading(REACH) as connection:
            plan = keywords(estimates(connection, "org_a", None, "database"))
        assert plan is not None
        assert (plan.lookup, plan.newest) == (None, 300)
        for pool, expected in ((20, 20), (64, 40)):
            question = asked("lexical", vector=None, text="database", pool=pool, candidates=pool)
            assert len(ask(store, REACH, question).candidates) == expected

    def test_a_common_term_also_answers_beside_other_legs(self, store: Store, owner: Owner) -> None:
        """Vectors fill the candidates by themselves; the keyword leg must not be cut short behind their back."""
        add_many(owner, "org_a", 3_000, "database trouble", count=900)
        owner.execute("insert into observation_embeddings select org_id, id, 'full', '[1,2,0,1]' from observations")
        owner.execute("analyze")
        legs = ("vec_full", "lexical")
        found = ask(store, REACH, asked(*legs, text="database", pool=20, candidates=40, damping=16.0))
        assert [len(leg) for leg in legs_of(found)] == [20, 20]

    def test_an_organization_that_was_loaded_since_the_last_analyze(self, store: Store, owner: Owner) -> None:
        """Estimated at one observation it counts as small; that the rare word is an old one must not hide it."""
        owner.execute("alter table observations set (autovacuum_enabled = false)")
        add_many(owner, "org_b", 5_000, "note", count=0, newer="note")
        owner.execute("analyze")
        add_many(owner, "org_a", 2_300, "walrus", count=1)
        with store.reading(REACH) as connection:
            plan = keywords(estimates(connection, "org_a", None, "walrus"))
        assert plan is not None
        assert (plan.is_small, plan.newest) == (True, 2_000)
        for text in ("walrus", "the walrus of the frontend"):
            found = ask(store, REACH, asked("lexical", vector=None, text=text, pool=20, candidates=20)).candidates
            assert "walrus" in found.texts("content")[0].as_py()
            assert len(found) == (1 if text == "walrus" else 20)

    def test_common_terms_are_looked_for_two_at_a_time(self) -> None:
        terms = (("rare", 0.0001), ("a", 0.02), ("b", 0.03), ("c", 0.5))
        plan = keywords(Estimates(100_000, 0.9, 0.9, terms))
        assert plan is not None
        assert plan.lookup == "'rare' | ('a' & 'b')"
        assert plan.newest == 300
        assert sum(plan.shares) == pytest.approx(1)
        assert list(plan.shares) == sorted(plan.shares, reverse=True)


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

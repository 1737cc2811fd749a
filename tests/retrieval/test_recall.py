"""The three ways to recall: what comes back, in which order, with which columns, and what never fails."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psycopg import sql

from queries.scope import EVERYTHING, NOTHING, OutOfReachError, Reach
from ranking import FULL, INTENDED, LIVE, MEMINI, MEMSENSE, rank
from retrieval.recall import (
    Way,
    recall,
    recall_legs,
    recall_neighbours,
    recall_plain,
    recall_routes,
    way_for,
)
from tests import sample
from tests.memories import add_memory
from tests.retrieval.asked import REACH, UP, question

if TYPE_CHECKING:
    import numpy.typing as npt
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]
    Vector = npt.NDArray[np.float32]


class TestPlain:
    def test_the_similarity_is_the_relevance(self, store: Store, small: list[str]) -> None:
        found = recall_plain(store, REACH, question())
        assert list(found.candidates.ids) == small[::-1]
        np.testing.assert_allclose(found.candidates["relevance"], [1, 0.5**0.5, 0], atol=1e-6)
        assert (found.way, found.degraded) == ("plain", ())
        assert found.routes == [{"vec_full": 0}, {"vec_full": 1}, {"vec_full": 2}]

    def test_every_column_that_a_stage_reads(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        at = datetime(2026, 5, 1, 8, 30, tzinfo=UTC)
        add_memory(
            owner, "org_a", 1, "content", {"full": [3, 4]},
            title="title", weight=0.7, importance=0.6, memory_score=0.4, kind="reflection", reflection_depth=3,
            granularity="turn", session_id="s", agent_id="a", source="chat", tags=["x", "y"],
            created_at=at, last_accessed_at=at + timedelta(hours=1),
        )  # fmt: skip
        found = recall_plain(store, REACH, question("content", embeddings=True)).candidates
        assert {name: found[name][0] for name in ("weight", "importance", "memory_score")} == {
            "weight": 0.7, "importance": 0.6, "memory_score": 0.4,
        }  # fmt: skip
        assert (found["is_reflection"][0], found["reflection_depth"][0]) == (True, 3)
        names = ("title", "content", "session", "granularity", "agent", "source")
        assert [found.texts(name)[0].as_py() for name in names] == ["title", "content", "s", "turn", "a", "chat"]
        assert found.texts("tags")[0].as_py() == ["x", "y"]
        assert found["created_at"][0] == np.datetime64("2026-05-01T08:30")
        assert found["last_accessed_at"][0] == np.datetime64("2026-05-01T09:30")
        assert found["embeddings"].tolist() == [[3.0, 4.0]]
        assert (found.asked(), found.time()) == ("content", np.datetime64("2026-05-04T12:00"))

    def test_nothing_known_of_a_row_is_told_as_such(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        for number, at in enumerate(("infinity", "-infinity", "4714-11-24 BC", "294276-12-31")):
            add_memory(owner, "org_a", number, "deploy", created_at=at, memory_score=None)
        found = recall_plain(store, REACH, question(vector=None)).candidates
        assert np.isnat(found["created_at"]).all()
        assert np.isnat(found["last_accessed_at"]).all()
        assert found["memory_score"].tolist() == found["importance"].tolist() == [0.0] * 4
        assert found.texts("session").null_count == 4
        assert found.texts("title").to_pylist() == [""] * 4

    def test_by_keyword_where_the_question_has_no_vector(self, store: Store, small: list[str]) -> None:
        found = recall_plain(store, REACH, question(vector=None))
        assert {*found.candidates.ids} == {*small}
        assert (found.candidates["relevance"] > 0).all()
        assert found.way == "plain by keyword"

    @pytest.mark.parametrize(
        ("vector", "reason"),
        [
            (np.ones(3, np.float32), "no stored vector has 3 dimensions"),
            (np.zeros(2, np.float32), "has no direction"),
            (np.array([np.nan, 1], np.float32), "has no direction"),
            (np.array([np.inf, 1], np.float32), "has no direction"),
            (np.ones(17_000, np.float32), "has no direction"),
        ],
    )
    def test_a_vector_that_fits_nothing_falls_back_and_says_so(
        self,
        store: Store,
        small: list[str],
        vector: Vector | None,
        reason: str,
    ) -> None:
        found = recall_plain(store, REACH, question(vector=vector))
        assert {*found.candidates.ids} == {*small}
        assert len(found.degraded) == 1
        assert reason in found.degraded[0]
        assert "recalled by keyword only" in found.degraded[0]
        assert found.way == "plain by keyword"

    @pytest.mark.parametrize("way", Way)
    def test_a_vector_that_meets_none_of_its_length_is_told_whatever_the_words_find(
        self, store: Store, small: list[str], way: Way
    ) -> None:
        for text, expected in (("zebra", 0), ("the of", 0), ("deploy", len(small))):
            found = recall(store, REACH, question(text, np.ones(3, np.float32)), way)
            assert len(found.candidates) == expected
            assert found.degraded == ("no stored vector has 3 dimensions: recalled by keyword only",)
            assert found.way == f"{way} by keyword"

    @pytest.mark.parametrize("way", Way)
    def test_where_nothing_is_stored_no_vector_is_missed(self, store: Store, small: list[str], way: Way) -> None:
        assert small
        found = recall(store, REACH, question(project="elsewhere"), way)
        assert (found.way, found.degraded, len(found.candidates)) == (way, (), 0)

    def test_of_none_wanted_no_vector_is_missed(self, store: Store, small: list[str]) -> None:
        assert small
        assert recall_plain(store, REACH, question(k=0)).degraded == ()

    def test_at_most_k_and_ties_by_id(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        ids = [add_memory(owner, "org_a", number, "deploy", {"full": [0, 1]}) for number in range(30, 0, -1)]
        for vector in (UP, None):
            assert list(recall_plain(store, REACH, question(vector=vector)).candidates.ids) == sorted(ids)[:20]
            assert list(recall_plain(store, REACH, question(vector=vector, k=3)).candidates.ids) == sorted(ids)[:3]
            assert len(recall_plain(store, REACH, question(vector=vector, k=0)).candidates) == 0

    @pytest.mark.parametrize("column", ["weight", "importance"])
    @pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
    def test_numbers_that_cannot_be_ranked_are_set_apart_and_counted(
        self, store: Store, owner: Owner, small: list[str], column: str, value: str
    ) -> None:
        add_memory(owner, "org_a", 4, "deploy", {"full": [0, 1]}, **{column: float(value)})
        found = recall_plain(store, REACH, question())
        assert list(found.candidates.ids) == small[::-1]
        assert found.degraded == ("1 observations were left out: their numbers are not finite",)

    @pytest.mark.parametrize("way", Way)
    def test_a_store_that_allows_no_weight_and_no_depth_means_the_defaults(
        self, store: Store, owner: Owner, small: list[str], way: Way
    ) -> None:
        for column in ("weight", "reflection_depth", "kind", "granularity", "tags"):
            name = sql.Identifier(column)
            owner.execute(sql.SQL("alter table observations alter {} drop not null").format(name))
            owner.execute(sql.SQL("update observations set {} = null").format(name))
        found = recall(store, REACH, question(), way)
        assert {*found.candidates.ids} == {*small}
        assert found.candidates["weight"].tolist() == [1.0] * 3
        assert found.candidates["reflection_depth"].tolist() == [0] * 3
        assert found.candidates["is_reflection"].tolist() == [False] * 3
        assert found.degraded == ()

    @pytest.mark.parametrize(("value", "expected"), [("nan", None), ("inf", 1.0), ("-3", 0.0)])
    def test_a_memory_score_follows_its_own_rule(
        self, store: Store, owner: Owner, value: str, expected: float | None
    ) -> None:
        sample.add_organization(owner, "org_a")
        add_memory(owner, "org_a", 4, "deploy", {"full": [0, 1]}, memory_score=float(value))
        score = float(recall_plain(store, REACH, question()).candidates["memory_score"][0])
        assert np.isnan(score) if expected is None else score == expected


class TestRoutes:
    def test_sessions_that_only_their_turns_were_found_of_come_along(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        turn = add_memory(owner, "org_a", 1, "deploy", {"user": [0, 1]}, granularity="turn", session_id="s")
        add_memory(owner, "org_a", 2, "other turn", granularity="turn", session_id="t")
        session = add_memory(owner, "org_a", 3, "all of it", granularity="session", session_id="s")
        add_memory(owner, "org_a", 4, "unrelated", granularity="session", session_id="t")
        add_memory(owner, "org_a", 5, "gone", granularity="session", session_id="s", status="archived")
        known = add_memory(owner, "org_a", 6, "deploy", {"full": [0, 1]}, granularity="session", session_id="u")
        add_memory(owner, "org_a", 7, "second of u", granularity="session", session_id="u")
        add_memory(owner, "org_a", 8, "deploy", granularity="turn", session_id="u", status="archived")
        assert list(recall_routes(store, REACH, question(k=4)).candidates.ids) == [turn, known]
        found = recall_routes(store, REACH, question(k=4, sessions=True))
        assert list(found.candidates.ids) == [turn, known, session]
        assert found.routes == [{"vec_user": 0, "lexical": 0}, {"vec_full": 0, "lexical": 1}, {}]
        assert found.candidates["relevance"].tolist() == [1 / 16 + 1 / 16, 1 / 16 + 1 / 17, 0.0]
        ranking = rank(found.candidates, MEMSENSE)
        assert list(ranking.ids()) == [known, session]

    def test_pools_follow_from_k(self, store: Store, owner: Owner) -> None:
        """max(4k, 32) candidates of max(2 · that, 40) per route."""
        sample.add_organization(owner, "org_a")
        for number in range(100):
            add_memory(owner, "org_a", number, "deploy", {"full": [number, 1]})
        by_keyword = recall_routes(store, REACH, question(k=4, vector=None)).candidates
        assert by_keyword["relevance"].tolist() == pytest.approx([1 / (16 + place) for place in range(32)])
        assert len(recall_routes(store, REACH, question(k=4)).candidates) == 32
        assert len(recall_routes(store, REACH, question(k=10)).candidates) == 40
        assert len(recall_legs(store, REACH, question("", k=4)).candidates) == 50
        assert len(recall_legs(store, REACH, question("", k=15)).candidates) == 75

    def test_without_a_vector_only_the_text_route_answers(self, store: Store, small: list[str]) -> None:
        found = recall_routes(store, REACH, question(vector=None))
        assert {*found.candidates.ids} == {*small}
        assert {name for routes in found.routes for name in routes} == {"lexical"}

    def test_a_question_without_words_has_no_text_route(self, store: Store, small: list[str]) -> None:
        found = recall_routes(store, REACH, question("the of and"))
        assert list(found.candidates.ids) == small[::-1]
        assert "lexical" not in found.candidates.legs


class TestLegs:
    def test_both_legs_with_places_and_scores(self, store: Store, small: list[str]) -> None:
        found = recall_legs(store, REACH, question("never")).candidates
        noon, never, lunch = small
        assert list(found.ids) == [never, lunch, noon]
        assert found["relevance"].tolist() == [1 / 6 + 1 / 5, 1 / 5, 1 / 7]
        assert found.legs == ("vec_full", "lexical")
        assert np.isnan(found["leg_scores"][1, 1])
        assert rank(found, MEMINI).ids()[0] == never


class TestWays:
    def test_each_pipeline_asks_in_its_way(self) -> None:
        ways = [way_for(stages) for stages in (LIVE, INTENDED, MEMSENSE, FULL, MEMINI)]
        assert ways == [Way.PLAIN, Way.PLAIN, Way.ROUTES, Way.ROUTES, Way.LEGS]

    @pytest.mark.parametrize("way", Way)
    @pytest.mark.parametrize("vector", [UP, None], ids=["vector", "keyword"])
    def test_candidates_of_an_empty_store_carry_columns(self, store: Store, way: Way, vector: Vector | None) -> None:
        found = recall(store, REACH, question(vector=vector), way)
        assert len(found.candidates) == 0
        assert "weight" in found.candidates
        assert found.routes == []


class TestNeighbours:
    def test_one_before_and_one_after_of_the_same_session_and_source(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        kinds = [("s", "chat"), ("s", "mail"), ("s", "chat"), ("t", "chat"), ("s", "chat"), ("s", None), (None, "chat")]
        ids = [
            add_memory(owner, "org_a", n, f"text {n}", session_id=session, source=source, created_at=sample.TODAY)
            for n, (session, source) in enumerate(kinds)
        ]
        add_memory(owner, "org_a", 99, "gone", session_id="s", source="chat", status="archived")
        found = recall_neighbours(store, REACH, "org_a", ids)
        assert [(n.of, n.side, n.id) for n in found] == [
            (ids[0], "after", ids[2]),
            (ids[2], "before", ids[0]),
            (ids[2], "after", ids[4]),
            (ids[4], "before", ids[2]),
        ]
        assert found[0].content == "text 2"

    def test_of_nothing_there_are_none(self, store: Store) -> None:
        assert recall_neighbours(store, REACH, "org_a", []) == ()


class TestIsolation:
    @pytest.mark.parametrize("way", Way)
    @pytest.mark.parametrize("vector", [UP, None], ids=["vector", "keyword"])
    def test_nothing_of_another_tenant(self, store: Store, small: list[str], way: Way, vector: Vector | None) -> None:
        assert {*recall(store, EVERYTHING, question(vector=vector), way).candidates.ids} == {*small}

    @pytest.mark.parametrize("way", Way)
    def test_the_database_itself_refuses(self, store: Store, small: list[str], way: Way) -> None:
        """A reach that claims org_a in Python but not in the database finds nothing: row security decides."""

        class Liar(Reach):
            def settings(self) -> dict[str, str]:
                return Reach.of(frozenset({"org_b"})).settings()

        assert small
        assert len(recall(store, Liar(("org_a",)), question(), way).candidates) == 0

    def test_out_of_reach(self, store: Store) -> None:
        with pytest.raises(OutOfReachError):
            recall_plain(store, NOTHING, question())
        with pytest.raises(OutOfReachError):
            recall_neighbours(store, NOTHING, "org_a", [])

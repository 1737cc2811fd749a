from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ranking import FULL, LIVE, PRESETS, Feedback, Relevance, ScorerUsed, TokenBudget, to_text
from retrieval.evidence import NO_PASS
from retrieval.memory import AgentSession, Memory, build_session_memory_block
from retrieval.retrieve import retrieve
from tests.queries.test_corroborating import add_cluster, add_run
from tests.retrieval.planted import EMBEDDER, NOW, QUESTION, SESSION, TEXTS, plant

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


def cosines(texts: tuple[str, ...] = TEXTS, question: str = QUESTION) -> np.ndarray[Any, Any]:
    """The similarities, worked out without the store."""
    vectors, asked = (np.asarray(v, dtype=np.float64) for v in (EMBEDDER.embed(texts), EMBEDDER.embed_query(question)))
    found: np.ndarray[Any, Any] = vectors @ asked / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked))
    return found


def logged(owner: Owner) -> list[tuple[Any, ...]]:
    return owner.execute(
        """select observation_id, relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank,
                  weighting_enabled, injected, corroboration_boost, pipeline, session_id, project_id, query_text
             from retrieval_ab_logs order by id"""
    ).fetchall()


class TestALiveRetrieval:
    WEIGHTS = (0.2, 1.0, 0.9, 1.0, 0.5)

    def test_relevance_times_weight_best_first(self, memory: Memory, owner: Owner) -> None:
        planted = plant(owner, weights=self.WEIGHTS)
        found = build_session_memory_block(SESSION, QUESTION, memory, now=NOW)
        expected = np.argsort(-cosines() * self.WEIGHTS, kind="stable")
        assert found.ranking.ids() == [str(planted.ids[row]) for row in expected]
        assert found.text == "\n".join(f"- {TEXTS[row]}" for row in expected)
        assert found.injected == tuple(found.ranking.ids())
        assert found.degraded == ()
        assert (found.retrieval.pipeline, found.retrieval.way) == ("LIVE", "plain")

    def test_its_log_is_whole(self, memory: Memory, owner: Owner) -> None:
        planted = plant(owner, weights=self.WEIGHTS)
        found = build_session_memory_block(SESSION, QUESTION, memory, now=NOW)
        assert found.logged
        assert memory.writer is not None
        assert memory.writer.flush()
        relevance = cosines()
        by_relevance, by_weight = (
            np.argsort(np.argsort(-scores, kind="stable")) for scores in (relevance, relevance * self.WEIGHTS)
        )
        rows = {row[0]: row[1:] for row in logged(owner)}
        assert set(rows) == set(planted.ids)
        for place, id_ in enumerate(planted.ids):
            row = rows[id_]
            weight = self.WEIGHTS[place]
            assert row[:3] == pytest.approx((relevance[place], weight, relevance[place] * weight), abs=1e-6)
            assert row[3:5] == (by_relevance[place], by_weight[place])
            assert row[5:] == (True, True, None, "LIVE", "ses_1", "api", QUESTION)
        injection = owner.execute(
            "select retrieval_id, work_type, token_budget, tokens_used, candidates, created_at, observation_ids::text[]"
            " from context_injection_logs"
        ).fetchone()
        assert injection == (found.id, "bug_fix", 750, found.retrieval.block.tokens, 5, NOW, list(found.injected))

    def test_the_budget_of_the_work_cuts_the_block(self, memory: Memory, owner: Owner) -> None:
        texts = tuple(f"null pointer in the auth middleware, case {n}: " + "x" * 350 for n in range(12))
        plant(owner, texts=texts)
        # ⌈(43 or 44 + 350) / 4⌉ = 99 tokens each: 7 fit 750, 3 fit 300
        sizes = {}
        for work in ("bug_fix", "chore"):
            session = dataclasses.replace(SESSION, work_type=work)
            found = build_session_memory_block(session, QUESTION, memory, now=NOW)
            sizes[work] = len(found.injected)
            assert found.retrieval.block.tokens <= found.retrieval.block.budget
        assert sizes == {"bug_fix": 7, "chore": 3}
        assert len(found.ranking.candidates) == 12

    def test_at_most_20_are_recalled(self, memory: Memory, owner: Owner) -> None:
        plant(owner, texts=tuple(f"auth middleware case {n}" for n in range(30)))
        assert len(retrieve(memory, SESSION, QUESTION).ranking.candidates) == 20

    def test_another_organization_and_project_are_not_recalled(self, memory: Memory, owner: Owner) -> None:
        plant(owner, "globex")
        planted = plant(owner)
        owner.execute("update observations set project_id = 'web' where id = %s", (planted.ids[0],))
        assert set(retrieve(memory, SESSION, QUESTION).ranking.ids()) == set(map(str, planted.ids[1:]))
        anywhere = AgentSession("acme", "ses_1")
        assert set(retrieve(memory, anywhere, QUESTION).ranking.ids()) == set(map(str, planted.ids))


class TestFlags:
    def test_weighting_switched_off_is_honoured_and_weights_still_logged(self, memory: Memory, owner: Owner) -> None:
        planted = plant(owner, weights=(0.1, 1, 1, 1, 1), features={"feedback_weighting_disabled": True})
        found = build_session_memory_block(SESSION, QUESTION, memory, now=NOW)
        assert found.ranking.ids()[0] == str(planted.ids[int(cosines().argmax())])
        assert memory.writer is not None
        assert memory.writer.flush()
        rows = logged(owner)
        assert {(row[6], row[4] == row[5], row[1] == row[3]) for row in rows} == {(False, True, True)}
        assert sorted(row[2] for row in rows) == [0.1, 1, 1, 1, 1]

    def test_also_in_a_pipeline_given_by_argument(self, memory: Memory, owner: Owner) -> None:
        plant(owner, weights=(0.1, 1, 1, 1, 1), features={"feedback_weighting_disabled": True})
        found = retrieve(memory, SESSION, QUESTION, (Relevance(), Feedback()))
        assert found.ranking.scores.max() == pytest.approx(cosines().max(), abs=1e-6)

    def test_the_boost_brings_corroboration_in(self, memory: Memory, owner: Owner) -> None:
        planted = plant(owner, features={"corroboration_boost_enabled": True})
        last = int(cosines()[1:4].argmin()) + 1
        add_cluster(owner, "acme", add_run(owner, "acme", "api"), [planted.ids[last], planted.ids[4]])
        found = build_session_memory_block(SESSION, QUESTION, memory, now=NOW)
        boosts = np.zeros(5)
        boosts[[last, 4]] = 0.1 * np.log2(2)
        expected = np.argsort(-(cosines() + boosts), kind="stable")
        assert found.retrieval.pipeline == "INTENDED"
        assert found.degraded == ()
        assert found.ranking.ids() == [str(planted.ids[row]) for row in expected]
        assert memory.writer is not None
        assert memory.writer.flush()
        assert {row[0]: row[8] for row in logged(owner)} == dict(zip(planted.ids, boosts.tolist(), strict=True))

    def test_without_a_pass_the_boost_says_that_it_has_nothing(self, memory: Memory, owner: Owner) -> None:
        planted = plant(owner, features={"corroboration_boost_enabled": True})
        found = retrieve(memory, SESSION, QUESTION)
        assert found.degraded == (NO_PASS,)
        assert found.ranking.ids()[0] == str(planted.ids[int(cosines().argmax())])

    def test_unreadable_features_are_the_defaults_and_said(self, memory: Memory, owner: Owner) -> None:
        plant(owner, features=[1, 2])
        found = retrieve(memory, SESSION, QUESTION)
        assert found.pipeline == "LIVE"
        assert found.degraded == ("the organization's features are not an object but an array: the defaults hold",)


class TestPipelines:
    @pytest.mark.parametrize("name", PRESETS)
    def test_every_preset_runs_end_to_end(self, memory: Memory, owner: Owner, name: str) -> None:
        planted = plant(owner)
        add_run(owner, "acme", "api")
        found = build_session_memory_block(SESSION, QUESTION, memory, pipeline=PRESETS[name], now=NOW)
        assert found.retrieval.pipeline == name
        assert found.degraded == ()
        assert found.injected[0] in {str(id_) for id_ in planted.ids[:3]}
        assert memory.writer is not None
        assert memory.writer.flush()
        rows = logged(owner)
        assert len(rows) == len(found.ranking.candidates) >= 4
        for column in (4, 5):
            assert sorted(row[column] for row in rows) == list(range(len(rows)))
        assert {str(row[0]) for row in rows if row[7]} == set(found.injected)

    def test_a_pipeline_of_ones_own_is_logged_as_its_text(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        own = (Relevance(), TokenBudget(20))
        found = retrieve(memory, SESSION, QUESTION, own)
        assert (found.pipeline, found.block.budget) == (to_text(own), 20)

    def test_the_scorer_is_named_where_it_was_asked(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        assert retrieve(memory, SESSION, QUESTION, LIVE).scorer_used is ScorerUsed.NONE
        assert retrieve(memory, SESSION, QUESTION, FULL).scorer_used is ScorerUsed.LEXICAL
        bare = retrieve(Memory(memory.store, EMBEDDER), SESSION, QUESTION, FULL)
        assert bare.scorer_used is ScorerUsed.DEGRADED_LEXICAL
        assert [why for why in bare.degraded if "no cross-encoder is installed" in why]

    def test_a_session_s_second_question_lifts_what_it_saw(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        first = build_session_memory_block(SESSION, QUESTION, memory, pipeline=PRESETS["AI_MEMORY"], now=NOW)
        second = retrieve(memory, SESSION, QUESTION, PRESETS["AI_MEMORY"], NOW)
        stranger = retrieve(memory, AgentSession("acme", "ses_2", "api"), QUESTION, PRESETS["AI_MEMORY"], NOW)
        assert stranger.ranking.scores == pytest.approx(first.ranking.scores)
        assert second.ranking.scores == pytest.approx(first.ranking.scores + 0.05)


class TestSessionsOfTurns:
    def test_only_who_ranks_sessions_gets_those_that_no_route_found(self, memory: Memory, owner: Owner) -> None:
        """MEMSENSE ranks a session by its turn; to FULL it would be a row that nothing speaks for."""
        planted = plant(owner, texts=(QUESTION, "Bananas ripen faster beside apples."))
        turn, session = map(str, planted.ids)
        owner.execute("update observations set session_id = 'one', granularity = 'turn' where id = %s", (turn,))
        owner.execute("update observations set session_id = 'one', granularity = 'session' where id = %s", (session,))
        owner.execute("delete from observation_embeddings where observation_id = %s", (session,))
        add_run(owner, "acme", "api")
        assert retrieve(memory, SESSION, QUESTION, PRESETS["MEMSENSE"], NOW).injected == (session,)
        assert retrieve(memory, SESSION, QUESTION, PRESETS["FULL"], NOW).injected == (turn,)


class TestNeighbours:
    def test_without_sessions_each_result_has_the_turns_beside_it(self, memory: Memory, owner: Owner) -> None:
        planted = plant(owner)
        owner.execute("update observations set session_id = 'one', granularity = 'turn'")
        found = retrieve(memory, SESSION, QUESTION, PRESETS["MEMSENSE"], NOW)
        ids = [str(id_) for id_ in planted.ids]  # newest first
        beside = {(each.of, each.side): each.id for each in found.neighbours}
        returned = found.ranking.ids()
        expected = {(ids[n], "before"): ids[n + 1] for n in range(4)} | {
            (ids[n], "after"): ids[n - 1] for n in range(1, 5)
        }
        assert beside == {key: id_ for key, id_ in expected.items() if key[0] in returned}
        assert found.degraded == ()

    def test_with_sessions_there_are_none(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        owner.execute("update observations set session_id = 'one', granularity = 'session'")
        found = retrieve(memory, SESSION, QUESTION, PRESETS["MEMSENSE"], NOW)
        assert found.injected
        assert found.neighbours == ()

    def test_other_pipelines_do_not_ask(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        owner.execute("update observations set session_id = 'one'")
        assert retrieve(memory, SESSION, QUESTION).neighbours == ()


def test_eight_callers_at_once_get_what_one_gets(memory: Memory, owner: Owner) -> None:
    plant(owner)
    add_run(owner, "acme", "api")
    expected = {name: retrieve(memory, SESSION, QUESTION, PRESETS[name], NOW).ranking.ids() for name in PRESETS}
    with ThreadPoolExecutor(8) as pool:
        asked = [name for name in PRESETS for _ in range(8)]
        found = list(pool.map(lambda name: retrieve(memory, SESSION, QUESTION, PRESETS[name], NOW), asked))
    assert [each.ranking.ids() for each in found] == [expected[name] for name in asked]
    assert {each.degraded for each in found} == {()}

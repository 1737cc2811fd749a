"""What the Inspector shows equals what the library says for the same inputs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from analysis.inspector.inspection import BLOCK, standings, text_of, way_of
from analysis.inspector.listing import dropped, left_out, listed
from analysis.inspector.neighbours import neighbours
from queries.frames import frame
from queries.logged_retrieval import LoggedRow
from ranking import (
    AI_MEMORY,
    FULL,
    INTENDED,
    LIVE,
    PRESETS,
    LexicalScorer,
    ScorerUsed,
    explain,
    rank,
    to_text,
    why_above,
)
from ranking.budget import TokenBudget, estimate_tokens
from ranking.candidates import Candidates
from ranking.corroboration import Corroboration
from ranking.feedback import Feedback
from ranking.flips import flip_distance
from ranking.floor import Floor, FloorMode
from ranking.relevance import Head, Relevance
from retrieval.block import format_observations_block
from retrieval.recall import Recalled
from retrieval.retrieve import AgentSession, Memory, Retrieval, rank_recollection, recollect, retrieve
from tests.retrieval.planted import EMBEDDER, NOW, QUESTION, plant

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from ranking.ranking import Stage

    Owner = psycopg.Connection[Any]

NAMES = ("a", "b", "c", "d")
RELEVANCE = (0.9, 0.8, 0.7, 0.6)
WEIGHT = (0.5, 1.0, 1.0, 0.25)
CONTENT = ("A" * 40, "B" * 40, "C" * 80, "D" * 4)


def inspected(stages: tuple[Stage, ...], weight: tuple[float, ...] = WEIGHT, budget: int = 30) -> Retrieval:
    """Four candidates of 10, 10, 20 and 1 tokens; found by the vector, the last by keyword."""
    candidates = Candidates(
        list(NAMES), query="q", now=np.datetime64("2026-03-29"), relevance=RELEVANCE, weight=weight,
        title=["First", "", "Third", "Fourth"], content=list(CONTENT), corroborating=[0, 0, 3, 0],
        legs=("vec_full", "lexical"), leg_ranks=np.array([[0, -1], [1, -1], [2, 0], [-1, 1]]),
    )  # fmt: skip
    ranking = rank(candidates, stages)
    return Retrieval(
        session=AgentSession("acme"), query="q", at=NOW, pipeline="", stages=stages, ranking=ranking,
        block=format_observations_block(ranking, budget), recalled=Recalled(candidates, "legs"),
        scorer_used=ScorerUsed.NONE, degraded=(),
    )  # fmt: skip


WEIGHTED = (Relevance(), Head(4), Feedback(), TokenBudget(30))


class TestStandings:
    def test_places_from_recall_to_budget(self) -> None:
        """By weight: b 0.8, c 0.7, a 0.45, d 0.15; b and c take 30 tokens, and then nothing fits."""
        found = standings(inspected(WEIGHTED))
        places = {label: rows["place"].astype("object").tolist() for label, rows in found.groupby("id")}
        assert places == {
            "a": [1, 1, 1, 3, pd.NA],
            "b": [2, 2, 2, 1, 1],
            "c": [3, 3, 3, 2, 2],
            "d": [4, 4, 4, 4, pd.NA],
        }
        assert found.drop_duplicates("step")["stage"].tolist() == [
            "recall",
            "relevance",
            "best rows",
            "feedback",
            "budget",
        ]
        assert set(found[found["injected"]]["id"]) == {"b", "c"}

    def test_a_row_that_was_dropped_ends_there_with_its_reason(self) -> None:
        found = standings(inspected((Relevance(), Head(2), Feedback(), TokenBudget(30))))
        last = found[found["id"] == "c"].iloc[-1]
        assert (last["stage"], last["sentence"]) == ("best rows", "not among the best 2")
        assert pd.isna(last["place"])

    def test_without_a_budget_the_block_is_the_last_step(self) -> None:
        found = standings(inspected((Relevance(), Feedback()), budget=10))
        last = found[found["stage"] == BLOCK].set_index("id")["place"]
        assert last.dropna().to_dict() == {"b": 1}
        assert len(last) == 4

    def test_scores_and_sentences_are_those_of_explain(self) -> None:
        found = inspected(WEIGHTED)
        shown = standings(found)
        for row in explain(found.ranking, ids=list(NAMES)).rows:
            mine = shown[(shown["id"] == row.id) & (shown["step"] > 0)]
            assert mine["score"].tolist() == [effect.score for effect in row.effects]
            assert mine["sentence"].tolist() == [effect.sentence for effect in row.effects]

    def test_what_has_no_title_is_called_by_its_beginning(self) -> None:
        titles = standings(inspected(WEIGHTED)).drop_duplicates("id").set_index("id")["title"]
        assert (titles["a"], titles["b"]) == ("First", "B" * 40)


class TestWay:
    def test_what_is_shown_adds_up_to_the_last_digit(self) -> None:
        for label in NAMES:
            way = way_of(inspected(WEIGHTED), label)
            assert way is not None
            assert sum(map(Decimal, way["delta"])) == Decimal(way["score"].iloc[-1])

    def test_numbers_and_formulas(self) -> None:
        way = way_of(inspected(WEIGHTED), "a")
        assert way is not None
        assert way["delta"].tolist() == ["+0.9000", "+0.0000", "-0.4500", "+0.0000"]
        assert way["sentence"].tolist()[2] == "multiplied by feedback weight 0.500: 0.9000 × 0.500 = 0.4500"
        assert way["exact_score"].tolist() == [0.9, 0.9, 0.9 * 0.5, 0.9 * 0.5]
        assert way["place"].astype("object").tolist() == [1, 1, 3, pd.NA]

    def test_no_candidate_has_no_way(self) -> None:
        assert way_of(inspected(WEIGHTED), "elsewhere") is None

    def test_the_text_is_verbatim(self) -> None:
        assert text_of(inspected(WEIGHTED), "d") == "DDDD"


class TestList:
    def test_rows_with_movement_routes_and_the_cut(self) -> None:
        rows = listed(inspected(WEIGHTED)).set_index("id")
        assert rows.index.tolist() == ["b", "c", "a", "d"]
        assert rows["moved"].tolist() == [1, 1, -2, 0]
        assert rows["injected"].tolist() == [True, True, False, False]
        assert rows["score"].tolist() == [0.8, 0.7, 0.9 * 0.5, 0.6 * 0.25]
        assert rows["routes"].tolist() == ["full vector 2", "full vector 3, keywords 1", "full vector 1", "keywords 2"]

    def test_why_is_the_librarys_sentence_with_places(self) -> None:
        found = inspected(WEIGHTED)
        said = listed(found)["why"]
        before = rank(found.ranking.candidates, WEIGHTED[:-1])
        sentence = why_above(before, "c", "a").replace("c stands above a", "№ 2 stands above № 3")
        assert said.tolist()[1] == sentence.replace("since Feedback: ", "since feedback: ")
        assert "since Feedback: " in sentence
        assert pd.isna(said.iloc[3])

    def test_logged_places_stand_beside(self) -> None:
        common = ("acme", "api", "s", None, "q", NOW, True)
        logged = frame(
            [
                (*common, "a", 0, 1, 0.9, 1.0, 0.9, True),
                (*common, "b", 1, 0, 0.8, 1.0, 0.8, None),
                (*common, "gone", 2, None, None, None, None, False),
            ],
            LoggedRow,
        )
        rows = listed(inspected(WEIGHTED), logged).set_index("id")
        assert rows["logged_place"].astype("object").tolist() == [1, pd.NA, 2, pd.NA]
        assert rows["logged_injected"].astype("object").tolist() == [pd.NA, pd.NA, True, pd.NA]
        assert not rows["written_since"].any()

    def test_what_was_written_after_the_moment_is_told(self) -> None:
        """At that very moment it was there."""
        found = inspected(WEIGHTED)
        days = np.array(["2026-03-28", "2026-03-29", "2026-03-30", "2026-04-30"], "datetime64[us]")
        known = found.ranking.candidates
        dated = Candidates(
            list(NAMES), query="q", now=known.now, created_at=days, relevance=RELEVANCE, weight=WEIGHT,
            title=known.texts("title"), content=list(CONTENT), corroborating=[0, 0, 3, 0],
        )  # fmt: skip
        ranked = replace(found, ranking=rank(dated, WEIGHTED), recalled=None)
        since = listed(ranked).set_index("id")["written_since"]
        assert since.to_dict() == {"a": False, "b": False, "c": True, "d": True}


class TestNeighbours:
    def test_flips_are_the_librarys(self) -> None:
        stages = (Relevance(), Head(4), Corroboration(), Feedback(), TokenBudget(30))
        found = inspected(stages)
        above, below = neighbours(found, found.ranking.ids()[1])
        order = rank(found.ranking.candidates, stages[:-1]).ids()
        assert (above.above, above.place, below.above, below.place) == (True, 1, False, 3)
        assert above.flips == flip_distance(found.ranking.candidates, stages[:-1], order[0], order[1])
        assert below.flips == flip_distance(found.ranking.candidates, stages[:-1], order[1], order[2])
        assert above.flips

    def test_the_first_and_the_last_have_one(self) -> None:
        found = inspected(WEIGHTED)
        assert [other.above for other in neighbours(found, "b")] == [False]
        assert [other.above for other in neighbours(found, "d")] == [True]
        assert neighbours(found, "elsewhere") == ()


class TestBlock:
    def test_what_did_not_fit_first(self) -> None:
        missed = left_out(inspected(WEIGHTED))
        assert missed is not None
        assert (missed.place, missed.title, missed.tokens) == (3, "First", 10)
        assert missed.tokens == int(estimate_tokens([CONTENT[0]])[0])

    def test_where_all_fit_nothing_is_left_out(self) -> None:
        assert left_out(inspected((Relevance(), TokenBudget(41)), budget=41)) is None

    def test_what_each_stage_dropped_before_and_the_budget_is_none_of_them(self) -> None:
        floor, head = Floor(FloorMode.ABSOLUTE, 0.65), Head(2)
        found = inspected((Relevance(), floor, Feedback(), head, TokenBudget(10)), budget=10)
        assert [(each.stage, each.rows, each.kept) for each in dropped(found)] == [(floor, 1, 3), (head, 1, 2)]
        assert left_out(found) is not None
        assert dropped(inspected((Relevance(), Head(4), TokenBudget(10)), budget=10)) == ()


class TestSteps:
    """Recalling once and ranking often is what retrieving does in one go."""

    @pytest.mark.parametrize("preset", PRESETS)
    def test_in_two_steps_as_in_one(self, store: Store, owner: Owner, preset: str) -> None:
        plant(owner, weights=(0.2, 1.0, 0.9, 1.0, 0.5))
        memory = Memory(store, EMBEDDER, LexicalScorer())
        session, stages = AgentSession("acme", None, "api"), PRESETS[preset]
        whole = retrieve(memory, session, QUESTION, stages, NOW)
        parts = rank_recollection(memory, recollect(memory, session, QUESTION, stages, NOW), stages)
        assert parts.ranking.ids() == whole.ranking.ids()
        assert parts.ranking.scores.tolist() == whole.ranking.scores.tolist()
        assert (parts.block, parts.degraded, parts.pipeline) == (whole.block, whole.degraded, whole.pipeline)

    def test_a_recollection_serves_every_pipeline_that_recalls_alike(self, store: Store, owner: Owner) -> None:
        plant(owner)
        memory = Memory(store, EMBEDDER, LexicalScorer())
        session = AgentSession("acme", None, "api")
        kept = recollect(memory, session, QUESTION, INTENDED, NOW)
        for stages in (LIVE, AI_MEMORY, (Relevance(), Feedback(enabled=False), TokenBudget(20))):
            mine = rank_recollection(memory, kept, stages)
            assert mine.ranking.ids() == retrieve(memory, session, QUESTION, stages, NOW).ranking.ids()
            assert to_text(mine.stages) == to_text(stages)

    def test_weighting_runs_as_chosen_even_where_the_organization_has_it_off(self, store: Store, owner: Owner) -> None:
        plant(owner, weights=(0.01, 1.0, 1.0, 1.0, 1.0), features={"feedback_weighting_disabled": True})
        memory = Memory(store, EMBEDDER, LexicalScorer())
        session = AgentSession("acme", None, "api")
        live = retrieve(memory, session, QUESTION, LIVE, NOW)
        tried = rank_recollection(memory, recollect(memory, session, QUESTION, LIVE, NOW), LIVE)
        assert live.ranking.ids()[0] == tried.ranking.candidates.ids[0]
        assert tried.ranking.ids()[0] == tried.ranking.candidates.ids[1]

    def test_every_number_of_the_longest_pipeline(self, store: Store, owner: Owner) -> None:
        plant(owner)
        found = retrieve(Memory(store, EMBEDDER, LexicalScorer()), AgentSession("acme"), QUESTION, FULL, NOW)
        rows = listed(found).set_index("id")
        for row in explain(found.ranking).rows:
            assert rows.loc[row.id, "score"] == row.score
            assert rows.loc[row.id, "place"] == (row.rank or 0) + 1

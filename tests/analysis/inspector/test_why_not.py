"""Why not: one planted observation per gate, each verdict against numbers worked out by hand."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pytest

from analysis.inspector.gates import State, Verdict, apart
from analysis.inspector.stage_gates import lowest_rank
from analysis.inspector.why_not import NO_MATCH, OTHER_PROJECT, OUT_OF_SCOPE, why_not
from queries.matching import MOST, SHOWN
from ranking import LIVE, MEMSENSE, PRESETS, Dedup, Floor, Head, Mmr, ReciprocalRankFusion, Relevance, TokenBudget
from ranking.mmr import mmr
from retrieval.retrieve import AgentSession, retrieve
from tests import hostile, sample
from tests.analysis.corroboration.angles import COUNT, QUESTION, SESSION, at, cos, inspecting, plant_fan
from tests.memories import add_memory

if TYPE_CHECKING:
    import psycopg

    from analysis.inspector.gates import Gate
    from analysis.inspector.why_not import WhyNot
    from queries.engine import Store
    from ranking.ranking import Stage
    from retrieval.retrieve import Memory, Retrieval

    Owner = psycopg.Connection[Any]

BY_LEGS: tuple[Stage, ...] = (ReciprocalRankFusion(k=5.0, first_rank=0), Head(4))  # asks for pools of 50


@pytest.fixture
def memory(store: Store) -> Memory:
    return inspecting(store)


@pytest.fixture
def fan(owner: Owner) -> list[str]:
    return plant_fan(owner)


def found(memory: Memory, *stages: Stage, session: AgentSession = SESSION) -> Retrieval:
    return retrieve(memory, session, QUESTION, stages or None)


def asked(memory: Memory, wanted: str, *stages: Stage) -> WhyNot:
    return why_not(memory, found(memory, *stages), wanted)


def gate(answer: WhyNot, name: str) -> Gate:
    return next(each for each in answer.gates if each.name == name)


def lost(answer: WhyNot) -> list[str]:
    return [each.name for each in answer.gates if each.state is State.LOST]


class TestBeforeRecall:
    def test_unknown_and_foreign_ids_say_the_same(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        sample.add_organization(owner, "org_b")
        foreign = add_memory(owner, "org_b", 500, "deploy schedule of others", at(0))
        answers = [asked(memory, wanted) for wanted in (str(UUID(int=999)), foreign)]
        assert answers[0] == answers[1]
        assert (answers[0].verdict, answers[0].sentence, answers[0].id) == (Verdict.SCOPE, OUT_OF_SCOPE, None)
        assert lost(answers[0]) == ["scope"]
        assert {each.state for each in answers[0].gates[1:]} == {State.NOT_REACHED}
        assert fan[0] in found(memory).injected

    @pytest.mark.usefixtures("fan")
    @pytest.mark.parametrize("project", ["web", None])
    def test_one_of_another_project_is_said_to_be_there(
        self, memory: Memory, owner: Owner, project: str | None
    ) -> None:
        elsewhere = add_memory(owner, "org_a", 501, "deploy schedule of the web", at(0), project_id=project)
        by_id, by_text = asked(memory, elsewhere), asked(memory, "schedule of the WEB")
        assert (by_id.verdict, by_id.sentence, lost(by_id)) == (Verdict.SCOPE, OTHER_PROJECT, ["scope"])
        assert (by_id.id, by_id.content) == (elsewhere, "deploy schedule of the web")
        assert by_id.elsewhere is not None
        assert by_id.elsewhere.project == project
        assert by_text == replace(by_id, matches=(by_id.elsewhere,))

    def test_without_a_project_the_whole_organization_is_the_scope(
        self, memory: Memory, owner: Owner, fan: list[str]
    ) -> None:
        elsewhere = add_memory(owner, "org_a", 501, "short", at(0), project_id="web")
        answer = why_not(memory, found(memory, session=AgentSession("org_a")), elsewhere)
        assert answer.sentence == f"It is there, at rank 1 of the {len(fan[:20])} in the block."

    def test_inactive(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        owner.execute("update observations set status = 'archived' where id = %s", (fan[0],))
        answer = asked(memory, fan[0])
        assert (answer.verdict, lost(answer)) == (Verdict.INACTIVE, ["active"])
        assert "not active" in answer.sentence

    @pytest.mark.parametrize(
        ("vectors", "words"),
        [
            ({}, "it has no vector."),
            ({"user": [1, 0]}, "it has no vector."),
            ({"full": [1, 0, 0]}, "its vector has 3 dimensions, the question's 2."),
        ],
    )
    @pytest.mark.usefixtures("fan")
    def test_no_vector_to_compare(
        self, memory: Memory, owner: Owner, vectors: dict[str, list[float]], words: str
    ) -> None:
        answer = asked(memory, add_memory(owner, "org_a", 500, "deploy schedule", vectors))
        assert (answer.verdict, lost(answer)) == (Verdict.VECTOR, ["vector"])
        assert answer.sentence == f"Lost before recall: {words} It would need a vector of 2 dimensions."

    @pytest.mark.usefixtures("fan")
    def test_a_vector_without_direction(self, memory: Memory, owner: Owner) -> None:
        answer = asked(memory, add_memory(owner, "org_a", 500, "deploy", {"full": [0, 0]}))
        assert answer.verdict is Verdict.ROUTE
        assert "a vector without direction" in answer.sentence

    def test_where_no_vector_fits_the_keyword_leg_answered_instead(self, memory: Memory, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        present = add_memory(owner, "org_a", 1, "deploy at noon", {"full": [1, 0, 0]})
        missing = add_memory(owner, "org_a", 2, "lunch", {"full": [1, 0, 0]})
        assert asked(memory, present).verdict is Verdict.THERE
        answer = asked(memory, missing)
        assert answer.verdict is Verdict.VECTOR
        assert "3 dimensions" in answer.sentence
        assert "the keyword leg does not find it either" in answer.sentence


class TestRecall:
    @pytest.mark.parametrize("degrees", [21, 40, COUNT])
    def test_beyond_the_pool(self, memory: Memory, fan: list[str], degrees: int) -> None:
        answer = asked(memory, fan[degrees - 1])
        assert (answer.verdict, lost(answer)) == (Verdict.ROUTE, ["leg vec_full"])
        leg = gate(answer, "leg vec_full")
        assert leg.rank == degrees - 1
        assert [leg.score, leg.needed] == pytest.approx([cos(degrees), cos(20)], abs=1e-6)
        assert f"rank {degrees} of {COUNT} with score" in answer.sentence
        assert "beyond the pool of 20, whose last has 0.94. It would need to score above 0.94, or a pool of" in (
            answer.sentence.replace("0.9397", "0.94")
        )
        assert answer.sentence.endswith(f"or a pool of {degrees}.")

    def test_equal_scores_are_told_apart_by_id_as_recall_does(self, memory: Memory, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        ids = [add_memory(owner, "org_a", number, f"note {number}", at(5)) for number in range(1, 24)]
        ranks = [gate(asked(memory, id_), "leg vec_full").rank for id_ in ids]
        assert ranks == list(range(23))

    def test_beyond_the_pool_of_every_leg(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        numbers = range(100, 155)
        said = [add_memory(owner, "org_a", number, "when to deploy") for number in numbers]
        answer = asked(memory, said[52], *BY_LEGS)
        assert (answer.verdict, lost(answer)) == (Verdict.ROUTE, ["leg vec_full", "leg lexical"])
        leg = gate(answer, "leg lexical")
        assert (leg.rank, leg.score) == (52, leg.needed)  # one text, one score: the id decides
        assert "in lexical, its nearest of 2 legs, rank 53 of 55" in answer.sentence
        near = asked(memory, fan[54], *BY_LEGS)
        assert "in vec_full, its nearest of 2 legs, rank 55 of 60" in near.sentence
        assert gate(near, "leg lexical").words == "it holds no term of the question"

    def test_one_leg_makes_up_for_another(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        said = add_memory(owner, "org_a", 100, "the deploy schedule", at(80))
        answer = asked(memory, said, *BY_LEGS)
        assert answer.sentence == "It is there, at rank 2 of the 4 in the block."
        assert [each.state for each in answer.gates[3:5]] == [State.MISSED, State.PASSED]
        assert found(memory, *BY_LEGS).injected[0] == fan[0]

    def test_lost_where_the_legs_are_fused(self, memory: Memory, fan: list[str]) -> None:
        answer = asked(memory, fan[40], *MEMSENSE)
        assert (answer.verdict, lost(answer)) == (Verdict.FUSED, ["fused pool"])
        pool = gate(answer, "fused pool")
        # eight routes of which one holds vectors: 1/(15 + rank), 32 kept for k 4
        assert pool.rank == 40
        assert [pool.score, pool.needed] == pytest.approx([1 / (15 + 41), 1 / (15 + 32)])
        assert gate(answer, "leg vec_full").state is State.PASSED

    def test_numbers_that_none_can_rank(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        owner.execute("update observations set weight = 'NaN' where id = %s", (fan[2],))
        answer = asked(memory, fan[2])
        assert (answer.verdict, lost(answer)) == (Verdict.NUMBERS, ["numbers"])
        assert "its weight is not a finite number" in answer.sentence

    def test_stored_after_the_ranking(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        before = found(memory)
        answer = why_not(memory, before, add_memory(owner, "org_a", 500, "new", at(0)))
        assert answer.verdict is Verdict.ROUTE
        assert "exact rank 1 in vec_full is within the pool of 20" in answer.sentence
        assert len(before.injected) <= len(fan)

    def test_a_store_that_could_not_be_asked(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        owner.execute("alter table observations rename to elsewhere")
        failed = found(memory)
        assert why_not(memory, failed, fan[0]).verdict is Verdict.UNANSWERED


class TestStages:
    def test_head(self, memory: Memory, fan: list[str]) -> None:
        answer = asked(memory, fan[6], Relevance(), Head(5))
        assert (answer.verdict, lost(answer)) == (Verdict.HEAD, ["Head"])
        assert gate(answer, "Head").needed == pytest.approx(cos(5), abs=1e-6)
        assert "rank 7 of 20, beyond the best 5; its score is 0.993, the last kept has 0.996" in answer.sentence

    @pytest.mark.parametrize(("mode", "value", "floor"), [("absolute", 0.97, 0.97), ("relative_to_top", 0.98, None)])
    def test_floor(self, memory: Memory, fan: list[str], mode: str, value: float, floor: float | None) -> None:
        answer = asked(memory, fan[14], Relevance(), Floor(mode, value))  # type: ignore[arg-type]
        assert (answer.verdict, lost(answer)) == (Verdict.FLOOR, ["Floor"])
        lost_at = gate(answer, "Floor")
        assert lost_at.score == pytest.approx(cos(15), abs=1e-6)
        assert lost_at.needed == pytest.approx(floor or 0.98 * cos(1), abs=1e-6)
        assert "Lost at the floor from rank 15: its score is 0.966, the floor 0.9" in answer.sentence

    def test_a_copy(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        copy = add_memory(owner, "org_a", 500, " NOTE   1", at(10.5))
        answer = asked(memory, copy, Relevance(), Dedup(), TokenBudget(500))
        assert (answer.verdict, lost(answer)) == (Verdict.DUPLICATE, ["Dedup"])
        assert f"Lost as a duplicate of {fan[0]}, which says the same at rank 1 while it stood at rank 11" in (
            answer.sentence
        )
        assert "0 of 64 SimHash bits differ" in answer.sentence
        assert gate(answer, "TokenBudget").state is State.NOT_REACHED

    def test_one_more_than_the_limit_of_copies(self, memory: Memory, fan: list[str]) -> None:
        answer = asked(memory, fan[5], Relevance(), Dedup(limit=3))
        assert "rank 6, and its limit of 3 is reached above it" in answer.sentence

    def test_a_near_duplicate(self, memory: Memory, fan: list[str]) -> None:
        """All 20 recalled lie within 19°, cosine 0.9455: MMR falls back to rank and takes 1, 2 and 3."""
        answer = asked(memory, fan[9], Relevance(), Mmr(k=3))
        assert (answer.verdict, lost(answer)) == (Verdict.DUPLICATE, ["Mmr"])
        assert f"duplicate of {fan[1]}, chosen at place 2" in answer.sentence
        assert f"redundancy {cos(8):.3g} reaches the threshold 0.94 (cosine {cos(8):.3g}, " in answer.sentence

    def test_not_different_enough(self, memory: Memory, fan: list[str]) -> None:
        stage = Mmr(k=3, lam=0.78, duplicate_threshold=1.1)
        answer = asked(memory, fan[9], Relevance(), stage)
        assert (answer.verdict, lost(answer)) == (Verdict.DIVERSITY, ["Mmr"])
        needed = gate(answer, "Mmr").needed
        assert needed == pytest.approx((0.78 * cos(3) - 0.22 * cos(1) + 0.22 * cos(8)) / 0.78, abs=1e-6)
        assert needed is not None

        def chosen(score: float) -> bool:
            scores = np.array([cos(n) for n in range(1, 21)])
            scores[9] = score
            angles = np.arange(1, 21)
            rows = mmr(scores, lambda row: np.cos(np.radians(angles - angles[row])), 3, 0.78, 1.1).rows
            return 9 in rows

        # ranks are unchanged up to there, so the score alone decides
        assert (chosen(needed - 1e-5), chosen(needed + 1e-5)) == (False, True)

    def test_sessions_stand_before_their_turns(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        add_memory(owner, "org_a", 500, "all of it", at(3.5), granularity="session", session_id="s")
        answer = asked(memory, fan[0], *MEMSENSE)
        assert (answer.verdict, lost(answer)) == (Verdict.SESSIONS, ["SessionSupport"])

    def test_budget(self, memory: Memory, fan: list[str]) -> None:
        """“note 1” to “note 9” are two tokens each: seven fit 15."""
        answer = asked(memory, fan[8], Relevance(), TokenBudget(15))
        assert (answer.verdict, lost(answer)) == (Verdict.BUDGET, ["TokenBudget"])
        assert answer.sentence == (
            "Lost to the budget from rank 9: it needs 2 tokens, and 1 of 15 are left after the 7 above that fit. "
            "It would need rank 7 or better."
        )

    def test_a_long_one_needs_a_better_rank_than_a_short_one(self, memory: Memory, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        for number in range(1, 10):
            add_memory(owner, "org_a", number, "x" * 20, at(number))  # five tokens
        long = add_memory(owner, "org_a", 10, "y" * 120, at(10))  # thirty
        answer = asked(memory, long, Relevance(), TokenBudget(45))
        assert "it needs 30 tokens, and 0 of 45 are left after the 9 above that fit" in answer.sentence
        assert "rank 4 or better" in answer.sentence  # three of five and one of thirty are 45

    def test_the_block_has_a_budget_though_no_stage_does(self, memory: Memory, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        ids = [add_memory(owner, "org_a", n, f"{n} " + "x" * 398, at(n)) for n in range(1, 8)]  # 100 tokens of 500
        answer = asked(memory, ids[5], Relevance())
        assert (answer.verdict, lost(answer)) == (Verdict.BUDGET, ["block"])
        assert "it needs 100 tokens, and 0 of 500 are left after the 5 above" in answer.sentence
        assert asked(memory, ids[4], Relevance()).verdict is Verdict.THERE

    def test_a_budget_of_nothing(self, memory: Memory, fan: list[str]) -> None:
        assert "0 tokens hold nothing" in asked(memory, fan[0], Relevance(), TokenBudget(0)).sentence


@pytest.mark.parametrize("name", PRESETS)
def test_every_observation_is_there_or_was_lost_at_one_gate(memory: Memory, owner: Owner, name: str) -> None:
    ids = plant_fan(owner, count=45)
    ids += [add_memory(owner, "org_a", n, f"deploy it {n % 3} " + "x" * 150, at(n % 90)) for n in range(100, 112)]
    ranking = found(memory, *PRESETS[name])
    verdicts = Counter[str]()
    for id_ in dict.fromkeys((*ranking.injected[:3], *ids[::6])):
        answer = why_not(memory, ranking, id_)
        verdicts[answer.verdict] += 1
        assert (answer.verdict is Verdict.THERE) == (id_ in ranking.injected)
        if answer.verdict is Verdict.THERE:
            assert f"at rank {ranking.injected.index(id_) + 1} of" in answer.sentence
            assert not lost(answer)
        else:
            assert len(lost(answer)) == 1 or answer.verdict is Verdict.ROUTE
            after = [each.state for each in answer.gates][::-1]
            reached = after.index(State.LOST)
            assert set(after[:reached]) <= {State.NOT_REACHED, State.MISSED}
    assert verdicts[Verdict.THERE] > 0
    assert len(verdicts) > 1


class TestByText:
    def test_one_match_is_judged_at_once(self, memory: Memory, fan: list[str]) -> None:
        answer = asked(memory, "NOTE 33")
        assert (answer.verdict, answer.id, answer.content) == (Verdict.ROUTE, fan[32], "note 33")
        assert [match.id for match in answer.matches] == [fan[32]]

    def test_part_of_a_word(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        id_ = add_memory(owner, "org_a", 500, "authentication 100% done_well", at(1))
        for part in ("enticat", "100%", "done_w", "  authentication "):
            assert [match.id for match in asked(memory, part).matches] == [id_], part
        assert asked(memory, "d_ne").sentence == NO_MATCH
        assert id_ not in fan

    def test_several_are_to_choose_from(self, memory: Memory, fan: list[str]) -> None:
        answer = asked(memory, "note")
        assert (answer.verdict, len(answer.matches), answer.gates) == (Verdict.CHOOSE, MOST, ())
        assert {match.id for match in answer.matches} <= set(fan)

    @pytest.mark.usefixtures("fan")
    @pytest.mark.parametrize("text", ["", "  ", "nobody says this", "half \ud800", "with \0 nul", "%", "' or 1=1 --"])
    def test_nothing_holds_it(self, memory: Memory, text: str) -> None:
        answer = asked(memory, text)
        assert (answer.verdict, answer.sentence, answer.matches) == (Verdict.SCOPE, NO_MATCH, ())

    @pytest.mark.usefixtures("fan")
    def test_others_texts_are_not_found(self, memory: Memory, owner: Owner) -> None:
        sample.add_organization(owner, "org_b")
        add_memory(owner, "org_b", 500, "a foreign secret", at(0))
        assert asked(memory, "a foreign secret").sentence == NO_MATCH

    def test_other_projects_are_searched_only_where_the_one_asked_holds_nothing(
        self, memory: Memory, owner: Owner, fan: list[str]
    ) -> None:
        others = {add_memory(owner, "org_a", n, f"note 33 of web {n}", at(0), project_id="web") for n in (501, 502)}
        assert [match.id for match in asked(memory, "note 33").matches] == [fan[32]]
        answer = asked(memory, "of web")
        assert (answer.verdict, {match.id for match in answer.matches}) == (Verdict.CHOOSE, others)
        assert answer.sentence == (
            "2 observations hold this text, all in other projects than the one that was asked: choose the one you miss."
        )

    def test_hostile_texts_are_found_by_their_own_letters(self, memory: Memory, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        ids = [add_memory(owner, "org_a", n, text, at(n)) for n, text in enumerate(hostile.TEXTS, 1)]
        ranking = found(memory)
        for id_, text in list(zip(ids, hostile.TEXTS, strict=True))[::3]:
            matches = {match.id: match.content for match in why_not(memory, ranking, text).matches}
            assert matches[id_] == text[:SHOWN]
            judged = why_not(memory, ranking, id_)
            assert judged.content == text
            assert text not in judged.sentence


class TestNumbers:
    def test_two_numbers_show_as_many_digits_as_tell_them_apart(self) -> None:
        assert apart(0.5, 0.25) == ("0.5", "0.25")
        assert apart(0.65123, 0.65119) == ("0.65123", "0.65119")
        assert apart(0.65123, 0.6517) == ("0.651", "0.652")
        assert apart(1 / 3, 1 / 3) == ("0.333", "0.333")

    def test_the_lowest_rank_that_fits(self) -> None:
        assert lowest_rank([5, 5, 5, 5], 30, 45) == 3
        assert lowest_rank([5, 5, 5, 5], 100, 45) == 0
        assert lowest_rank([], 1, 45) == 0

    def test_no_sentence_has_more_than_needed(self, memory: Memory, fan: list[str]) -> None:
        numbers = re.findall(r"\d\.\d+", asked(memory, fan[40]).sentence)
        assert all(len(number.lstrip("0.")) <= 4 for number in numbers)
        assert math.isclose(float(numbers[0]), cos(41), abs_tol=5e-4)


def test_live_is_what_an_organization_has_without_flags(memory: Memory, fan: list[str]) -> None:
    assert asked(memory, fan[30]).gates == asked(memory, fan[30], *LIVE).gates

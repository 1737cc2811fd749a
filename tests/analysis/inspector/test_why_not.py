"""Why not, up to recall: one planted observation per gate, each verdict against numbers worked out by hand."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from analysis.inspector.gates import State, Verdict, apart
from analysis.inspector.why_not import OTHER_PROJECT, OUT_OF_SCOPE, why_not
from ranking import LIVE, MEMSENSE, PRESETS, Head, ReciprocalRankFusion
from retrieval.retrieve import AgentSession
from tests import sample
from tests.analysis.corroboration.angles import COUNT, at, cos, plant_fan
from tests.analysis.inspector.asking import asked, found, gate, lost
from tests.memories import add_memory

if TYPE_CHECKING:
    import psycopg

    from ranking.ranking import Stage
    from retrieval.retrieve import Memory

    Owner = psycopg.Connection[Any]

BY_LEGS: tuple[Stage, ...] = (ReciprocalRankFusion(k=5.0, first_rank=0), Head(4))  # asks for pools of 50


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
        assert "and keywords do not find it either" in answer.sentence


class TestRecall:
    @pytest.mark.parametrize("degrees", [21, 40, COUNT])
    def test_beyond_the_pool(self, memory: Memory, fan: list[str], degrees: int) -> None:
        answer = asked(memory, fan[degrees - 1])
        assert (answer.verdict, lost(answer)) == (Verdict.ROUTE, ["by full vector"])
        leg = gate(answer, "by full vector")
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
        ranks = [gate(asked(memory, id_), "by full vector").rank for id_ in ids]
        assert ranks == list(range(23))

    def test_beyond_the_pool_of_every_leg(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        numbers = range(100, 155)
        said = [add_memory(owner, "org_a", number, "when to deploy") for number in numbers]
        answer = asked(memory, said[52], *BY_LEGS)
        assert (answer.verdict, lost(answer)) == (Verdict.ROUTE, ["by full vector", "by keywords"])
        leg = gate(answer, "by keywords")
        assert (leg.rank, leg.score) == (52, leg.needed)  # one text, one score: the id decides
        assert "by keywords, its nearest of 2 routes, rank 53 of 55" in answer.sentence
        near = asked(memory, fan[54], *BY_LEGS)
        assert "by full vector, its nearest of 2 routes, rank 55 of 60" in near.sentence
        assert gate(near, "by keywords").words == "it holds no term of the question"

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
        assert gate(answer, "by full vector").state is State.PASSED

    def test_numbers_that_none_can_rank(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        owner.execute("update observations set weight = 'NaN' where id = %s", (fan[2],))
        answer = asked(memory, fan[2])
        assert (answer.verdict, lost(answer)) == (Verdict.NUMBERS, ["finite numbers"])
        assert "its weight is not a finite number" in answer.sentence

    def test_stored_after_the_ranking(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        before = found(memory)
        answer = why_not(memory, before, add_memory(owner, "org_a", 500, "new", at(0)))
        assert answer.verdict is Verdict.ROUTE
        assert "exact rank 1 by full vector is within the pool of 20" in answer.sentence
        assert len(before.injected) <= len(fan)

    def test_a_store_that_could_not_be_asked(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        owner.execute("alter table observations rename to elsewhere")
        failed = found(memory)
        assert why_not(memory, failed, fan[0]).verdict is Verdict.UNANSWERED


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


class TestNumbers:
    def test_two_numbers_show_as_many_digits_as_tell_them_apart(self) -> None:
        assert apart(0.5, 0.25) == ("0.5", "0.25")
        assert apart(0.65123, 0.65119) == ("0.65123", "0.65119")
        assert apart(0.65123, 0.6517) == ("0.651", "0.652")
        assert apart(1 / 3, 1 / 3) == ("0.333", "0.333")

    def test_no_sentence_has_more_than_needed(self, memory: Memory, fan: list[str]) -> None:
        numbers = re.findall(r"\d\.\d+", asked(memory, fan[40]).sentence)
        assert all(len(number.lstrip("0.")) <= 4 for number in numbers)
        assert math.isclose(float(numbers[0]), cos(41), abs_tol=5e-4)


def test_live_is_what_an_organization_has_without_flags(memory: Memory, fan: list[str]) -> None:
    assert asked(memory, fan[30]).gates == asked(memory, fan[30], *LIVE).gates

"""Why not, asked by a text: which observations hold it, and whose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analysis.inspector.gates import Verdict
from analysis.inspector.why_not import NO_MATCH, why_not
from queries.matching import MOST, SHOWN
from tests import hostile, sample
from tests.analysis.corroboration.angles import at
from tests.analysis.inspector.asking import asked, found
from tests.memories import add_memory

if TYPE_CHECKING:
    import psycopg

    from retrieval.retrieve import Memory

    Owner = psycopg.Connection[Any]


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

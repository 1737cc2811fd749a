"""Why not, asked by a title: what the page calls an observation finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analysis.inspector.gates import Verdict
from analysis.inspector.inspection import title_of
from analysis.inspector.why_not import NO_MATCH, why_not
from tests import sample
from tests.analysis.corroboration.angles import at
from tests.analysis.inspector.asking import asked, found
from tests.memories import add_memory

if TYPE_CHECKING:
    import psycopg

    from retrieval.retrieve import Memory

    Owner = psycopg.Connection[Any]

TITLE = "Lane planner: duplicates"

pytestmark = pytest.mark.usefixtures("fan")


def ids(memory: Memory, wanted: str) -> list[str]:
    return [match.id for match in asked(memory, wanted).matches]


@pytest.fixture
def titled(owner: Owner) -> str:
    return add_memory(owner, "org_a", 500, "surrogate keys are swept nightly", at(2), title=TITLE)


@pytest.mark.parametrize("wanted", [TITLE, f"  {TITLE.upper()} ", "planner: dup", "duplicates lane", "planner nightly"])
def test_a_title_or_its_words_find_it(memory: Memory, titled: str, wanted: str) -> None:
    """The last: words of which the title holds some and the text the others."""
    answer = asked(memory, wanted)
    assert (answer.id, answer.title, answer.content) == (titled, TITLE, "surrogate keys are swept nightly")
    assert ids(memory, wanted) == [titled]


def test_every_name_in_the_ranking_is_answered_for_at_once(memory: Memory, owner: Owner, titled: str) -> None:
    long = add_memory(owner, "org_a", 501, "and more", at(3), title="a name\n that is too long to be shown " * 3)
    ranking = found(memory)
    candidates = [str(id_) for id_ in ranking.ranking.candidates.ids]
    names = [title_of(ranking, place) for place in range(len(candidates))]
    assert {titled, long} < set(candidates)
    assert names[candidates.index(long)].endswith("…")
    assert [why_not(memory, ranking, name).id for name in names] == candidates
    assert [why_not(memory, ranking, said).id for said in ("A name that is t…", f"{TITLE[:14]}…")] == [long, titled]
    assert why_not(memory, ranking, "…").matches == ()


def test_what_is_called_so_comes_first_and_is_answered_for(memory: Memory, owner: Owner, titled: str) -> None:
    quoting = [add_memory(owner, "org_a", 510 + n, f"{TITLE}, {n} of them", at(1)) for n in range(3)]
    part = add_memory(owner, "org_a", 520, "swept", at(1), title=f"On {TITLE}")
    words = add_memory(owner, "org_a", 521, "a planner that knows of duplicates in a lane", at(1))
    answer = asked(memory, TITLE)
    matches = [match.id for match in answer.matches]
    assert matches[:2] == [titled, part]
    assert set(matches[2:5]) == set(quoting)
    assert matches[5:] == [words]
    assert (answer.id, answer.verdict is Verdict.CHOOSE) == (titled, False)


def test_texts_that_hold_it_best_are_offered_whatever_their_status_and_age(memory: Memory, owner: Owner) -> None:
    """A dozen newer ones that have a title hold it once; that one holds the words more often, and is archived."""
    past = sample.TODAY.replace(year=2001)
    best = add_memory(owner, "org_a", 500, "a lane planner, the lane planner", status="archived", created_at=past)
    for n in range(12):
        add_memory(owner, "org_a", 510 + n, f"much of other things, and a lane planner, {n}", title="Notes")
    assert ids(memory, "lane planner")[0] == best


def test_of_equal_titles_the_one_of_this_ranking_is_meant(memory: Memory, owner: Owner, titled: str) -> None:
    """The others are newer, and have no vector that could be recalled."""
    later = [
        add_memory(owner, "org_a", 510 + n, "elsewhere", title=title, created_at=sample.TODAY.replace(year=2100))
        for n, title in enumerate([TITLE, f"{TITLE} again", f"{TITLE} again"])
    ]
    again = add_memory(owner, "org_a", 520, "here", at(1), title=f"{TITLE} and again")
    answer = asked(memory, TITLE)
    assert answer.id == titled
    assert [match.id for match in answer.matches] == [titled, later[0], again, later[1], later[2]]


def test_several_of_a_title_are_to_choose_from(memory: Memory, owner: Owner, titled: str) -> None:
    other = add_memory(owner, "org_a", 501, "and more", at(3), title=TITLE)
    answer = asked(memory, TITLE)
    assert (answer.verdict, {match.id for match in answer.matches}) == (Verdict.CHOOSE, {titled, other})
    assert answer.sentence == "2 observations hold this text: choose the one you miss."


def test_titles_are_read_among_the_newest_unless_nothing_else_is_found(
    memory: Memory, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = sample.TODAY.replace(year=2001)
    old = add_memory(owner, "org_a", 500, "swept", title=TITLE, created_at=past)
    off = add_memory(owner, "org_a", 501, "swept", title=f"{TITLE}, off", status="archived")
    monkeypatch.setattr("queries.anything.LOOKED_THROUGH", 3)
    assert ids(memory, TITLE) == [old, off]
    quoting = add_memory(owner, "org_a", 502, f"of {TITLE}", created_at=past)
    assert ids(memory, TITLE) == [quoting]
    monkeypatch.setattr("queries.anything.LOOKED_THROUGH", 1_000)
    assert ids(memory, TITLE) == [old, quoting]


def test_a_title_of_another_project_or_organization(memory: Memory, owner: Owner) -> None:
    sample.add_organization(owner, "org_b")
    add_memory(owner, "org_b", 500, "foreign", at(1), title=TITLE)
    answer = asked(memory, TITLE)
    assert (answer.sentence, answer.matches) == (NO_MATCH, ())
    other = add_memory(owner, "org_a", 501, "of web", at(1), title=TITLE, project_id="web")
    answer = asked(memory, TITLE)
    assert (answer.id, answer.elsewhere is not None) == (other, True)

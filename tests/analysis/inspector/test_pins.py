"""Pins under a pipeline, against ranks known by their angles; and the file they travel in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from analysis.inspector.pins import Outcome, check, from_json, pin_of, to_json
from queries.pins import Pin, PinError
from ranking import Head, Relevance, TokenBudget
from retrieval.retrieve import retrieve
from settings import ROOT
from tests import hostile
from tests.analysis.corroboration.angles import QUESTION, SESSION, at, plant_fan
from tests.memories import add_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

    from ranking.ranking import Stage
    from retrieval.retrieve import AgentSession, Memory, Retrieval

    Owner = psycopg.Connection[Any]

FIRST_FOUR: tuple[Stage, ...] = (Relevance(), Head(4))
ORG = SESSION.org_id
A, B = str(UUID(int=1)), str(UUID(int=2))


def by(memory: Memory, stages: Sequence[Stage] | None = None) -> Callable[[AgentSession, str], Retrieval]:
    return lambda session, query: retrieve(memory, session, query, stages)


@pytest.fixture
def fan(owner: Owner) -> list[str]:
    return plant_fan(owner, count=10)


class TestCheck:
    @pytest.mark.parametrize(
        ("include", "precede", "reason"),
        [
            ([0, 3], [], None),
            ([], [(0, 1)], None),
            ([], [(2, 8)], None),  # what is not returned ranks below what is
            ([4], [], "{4} was not returned, not in the block of 4"),
            ([], [(1, 0)], "{1} has rank 2, below {0} at rank 1"),
            ([], [(5, 0)], "{5} was not returned, so it does not precede {0}"),
            ([], [(5, 6)], "{5} was not returned, so it does not precede {6}"),
        ],
    )
    def test_expectations(
        self, memory: Memory, fan: list[str], include: list[int], precede: list[tuple[int, int]], reason: str | None
    ) -> None:
        pairs = tuple((fan[one], fan[other]) for one, other in precede)
        pin = Pin("p", QUESTION, tuple(fan[n] for n in include), pairs, project="api")
        (result,) = check(ORG, [pin], by(memory, FIRST_FOUR))
        assert result.outcome is (Outcome.HOLDS if reason is None else Outcome.FAILS)
        assert result.reasons == (() if reason is None else (reason.format(*fan),))

    def test_ranked_but_beyond_the_budget_is_not_included(self, memory: Memory, fan: list[str]) -> None:
        """Two tokens each: three fit 6, whatever the stages before return."""
        pin = Pin("p", QUESTION, (fan[3],))
        (result,) = check(ORG, [pin], by(memory, (Relevance(), TokenBudget(6))))
        assert result.reasons == (f"{fan[3]} has rank 4, not in the block of 3",)

    def test_each_pin_brings_its_project_and_its_works_budget(
        self, memory: Memory, owner: Owner, fan: list[str]
    ) -> None:
        web = add_memory(owner, "org_a", 500, "x" * 2_400, at(0), project_id="web")  # 600 tokens
        small = add_memory(owner, "org_a", 501, "x" * 400, at(1), project_id="web")  # 100
        pins = [
            Pin("other", QUESTION, (web, small), project="web"),
            Pin("bug", QUESTION, (web, small), project="web", work_type="bug_fix"),  # 750
            Pin("api", QUESTION, (web,), project="api"),
        ]
        assert [result.holds for result in check(ORG, pins, by(memory))] == [False, True, False]
        assert fan[0] in retrieve(memory, SESSION, QUESTION).injected

    def test_what_could_not_be_asked_is_unknown(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        owner.execute("alter table observations rename to elsewhere")
        (result,) = check(ORG, [Pin("p", QUESTION, (fan[0],))], by(memory))
        assert (result.outcome, result.holds) == (Outcome.UNKNOWN, False)
        assert "could not be looked up" in result.reasons[0]

    def test_nothing_is_recorded(self, memory: Memory, owner: Owner, fan: list[str]) -> None:
        check(ORG, [Pin("p", QUESTION, (fan[0],))], by(memory))
        assert owner.execute("select count(*) from retrieval_ab_logs").fetchone() == (0,)

    def test_a_pin_of_what_is_there_holds(self, memory: Memory, fan: list[str]) -> None:
        found = retrieve(memory, SESSION, QUESTION, FIRST_FOUR)
        pin = pin_of(found, " first ", found.injected, (fan[0], fan[1]))
        assert (pin.name, pin.project) == ("first", "api")
        assert check(ORG, [pin], by(memory, FIRST_FOUR))[0].holds


class TestFile:
    def test_there_and_back(self) -> None:
        pins = tuple(
            Pin(f"{n} {text}"[:200], text, (A,), ((A, B),), "api" if n % 2 else None, "chore")
            for n, text in enumerate(hostile.TEXTS)
        )
        assert from_json(to_json(pins, "org_a"), "org_a") == pins

    def test_as_documented(self) -> None:
        found = json.loads(to_json([Pin("n", "q", (A,), ((A, B),))], "org_a"))
        assert found == {
            "rankscope_pins": 1,
            "org": "org_a",
            "pins": [
                {
                    "name": "n",
                    "query": "q",
                    "project": None,
                    "work_type": None,
                    "must_include": [A],
                    "must_precede": [[A, B]],
                }
            ],
        }

    def test_optional_fields_may_be_missing(self) -> None:
        text = json.dumps({"rankscope_pins": 1, "pins": [{"name": "n", "query": "q", "must_include": [A]}]})
        assert from_json(text, "any") == (Pin("n", "q", (A,)),)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("{", "expected JSON"),
            ("[" * 100_000, "expected JSON"),
            ("[]", "expected an object with rankscope_pins 1, found None"),
            ('{"rankscope_pins": 2, "pins": []}', "found 2"),
            ('{"rankscope_pins": true, "pins": []}', "found True"),
            ('{"rankscope_pins": 1}', "pins: expected a list"),
            ('{"rankscope_pins": 1, "org": "org_b", "pins": []}', "found another in the file"),
            ('{"rankscope_pins": 1, "pins": [1]}', "pin 1: expected an object"),
            ('{"rankscope_pins": 1, "pins": [{"name": "n", "query": 1}]}', "pin 1, query: expected a text"),
            ('{"rankscope_pins": 1, "pins": [{"name": "n", "query": "q", "mustinclude": []}]}', "found 'mustinclude'"),
            ('{"rankscope_pins": 1, "pins": [{"name": "n", "query": "q"}]}', "expectations: expected 1 to 50, found 0"),
            (
                '{"rankscope_pins": 1, "pins": [{"name": "n", "query": "q", "must_include": ["x"]}]}',
                "pin 1, observation: expected an id",
            ),
            (
                '{"rankscope_pins": 1, "pins": [{"name": "n", "query": "q", "must_precede": [["x"]]}]}',
                "pin 1, must_precede: expected a list of pairs",
            ),
            (
                f'{{"rankscope_pins": 1, "pins": [{{"name": "n", "query": "q", "must_precede": [["{A}", "{A}"]]}}]}}',
                "found one twice",
            ),
            (
                f'{{"rankscope_pins": 1, "pins": [{{"name": "\\u0000", "query": "q", "must_include": ["{A}"]}}]}}',
                "found NUL or half a character",
            ),
        ],
    )
    def test_a_file_that_is_none(self, text: str, expected: str) -> None:
        with pytest.raises(PinError) as refused:
            from_json(text, "org_a")
        assert expected in str(refused.value)

    def test_a_name_twice(self) -> None:
        with pytest.raises(PinError, match="every name once"):
            from_json(to_json([Pin("n", "q", (A,)), Pin("n", "r", (A,))], "o"), "o")


def test_the_file_in_the_docs_is_one() -> None:
    text = (ROOT / "docs" / "pages" / "inspector.md").read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    (pin,) = from_json(text, "org_123")
    assert json.loads(to_json([pin], "org_123")) == json.loads(text)

"""The keyword leg against a count text by text, and its plan for common and rare words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from queries.recall.asking import ask
from queries.recall.estimates import Estimates, estimates
from queries.recall.keywords import keywords
from tests import sample
from tests.memories import add_memory
from tests.queries.recall.asked import REACH, asked, legs_of

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.queries.recall.asked import Memory

    Owner = psycopg.Connection[Any]

STOP_WORDS = {"the", "and", "of", "a"}


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

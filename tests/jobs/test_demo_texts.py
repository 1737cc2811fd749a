from __future__ import annotations

import math
from datetime import timedelta

import pytest

from jobs.demo.history import history
from jobs.demo.relevance import relevances
from jobs.demo.texts import LONG_WORD, organizations
from tests.jobs.conftest import NOW
from tests.jobs.stores import rows


class TestContent:
    def test_three_organizations_sixty_observations_forty_retrievals(self, filled: str) -> None:
        (counts,) = rows(
            filled,
            """select (select count(*) from organizations), (select count(*) from observations),
                      (select count(distinct retrieval_id) from retrieval_ab_logs)""",
        )
        assert counts == (3, 60, 41)

    def test_four_weeks_up_to_now(self, filled: str) -> None:
        ((first, last),) = rows(filled, "select min(created_at), max(created_at) from retrieval_ab_logs")
        assert NOW - timedelta(days=29) < first < NOW - timedelta(days=27)
        assert NOW - timedelta(days=1) < last < NOW

    def test_flags(self, filled: str) -> None:
        found = dict(rows(filled, "select id, features from organizations"))
        assert found["org_quillworks"] == {"feedback_weighting_disabled": True}
        assert found["org_tidewater"] == {"corroboration_boost_enabled": True}

    @pytest.mark.parametrize(
        "piece",
        [
            "<script>", "<img src=x onerror=", "<svg onload=", "<iframe", "javascript:",
            "![](http://127.0.0.1:9/beacon)",
            "=cmd|", "=HYPERLINK(", "@SUM(", ":material/delete:", ":red[", "$\\frac{", "drop table", "' or '1'='1",
            "%s", "\u202e", "\u2066", "\u200b", "\ufeff", "العامل", "העובד", "🚀", "\x1b[2J", "\r", LONG_WORD,
        ],
    )  # fmt: skip
    def test_the_hostile_organization_holds_each_kind_of_attack(self, piece: str) -> None:
        hostile = organizations()[-1]
        said = [hostile.name, *hostile.features, *map(str, hostile.features.values())]
        said += [text for project in hostile.projects for text in project]
        said += [text for o in hostile.observations for text in (o.text, o.agent, o.title or "", *o.tags)]
        said += [text for session in hostile.sessions for text in (session.id, *session.queries)]
        assert any(piece in text for text in said)

    def test_every_hostile_text_is_stored_letter_for_letter(self, filled: str) -> None:
        hostile = organizations()[-1]
        assert rows(filled, "select name, features from organizations where id = 'org_hostile'") == [
            (hostile.name, hostile.features)
        ]
        stored = rows(filled, "select id, content, tags, agent_id from observations where org_id = 'org_hostile'")
        assert sorted(stored) == sorted((o.id, o.text, list(o.tags), o.agent) for o in hostile.observations)
        asked = rows(
            filled, "select distinct session_id, query_text from retrieval_ab_logs where org_id = 'org_hostile'"
        )
        assert set(asked) == {(session.id, query) for session in hostile.sessions for query in session.queries}

    def test_observations_are_sentences_of_a_readable_length(self) -> None:
        for organization in organizations():
            for observation in organization.observations:
                assert 8 <= len(observation.text.split()) <= 60

    def test_the_same_now_gives_the_same_rows(self) -> None:
        assert [history(org, NOW) for org in organizations()] == [history(org, NOW) for org in organizations()]


class TestRelevance:
    def test_arithmetic(self) -> None:
        """Two texts; idf(b) = ln(3/3) + 1 = 1, idf(a) = idf(c) = ln(3/2) + 1; the query is the first text."""
        rare, common = math.log(3 / 2) + 1, 1.0
        norm = math.hypot(rare, common)
        assert relevances("aa bb", ["aa bb", "bb cc"]) == pytest.approx([1.0, common * common / norm / norm])

    @pytest.mark.parametrize("query", ["", "the of and", "zebra", "!?"])
    def test_a_query_without_a_known_word_is_relevant_to_nothing(self, query: str) -> None:
        assert relevances(query, ["aa bb", ""]) == [0.0, 0.0]

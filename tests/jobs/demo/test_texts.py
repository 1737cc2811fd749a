from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import wordllama

from jobs.demo.grammar import say
from jobs.demo.sizes import DEFAULT, LARGE, SMALL, of_copies, of_named
from jobs.demo.story import tell
from jobs.demo.texts import LONG_WORD, copies, organizations
from jobs.demo.vectors import DIMENSIONS, embed
from jobs.demo.vocabulary import phrases, project, topics
from tests.jobs.conftest import NOW
from tests.jobs.stores import rows

if TYPE_CHECKING:
    from random import Random

    from jobs.demo.history import History
    from jobs.demo.story import Story


def hostile_organization() -> Story:
    (org,) = (org for org in organizations() if org.id == "org_hostile")
    return tell(org, SMALL, NOW, "tide")


class TestContent:
    def test_six_organizations_fifteen_projects_forty_agents(self, stories: list[Story]) -> None:
        assert len(stories) == 6
        assert sum(len(story.org.projects) for story in stories) == 15
        agents = {(story.org.id, entry.agent) for story in stories for entry in story.placed}
        assert 38 <= len(agents) <= 50
        assert [len(story.placed) > 2_000 for story in stories] == [True] * 4 + [False] * 2
        assert [len(story.placed) for story in stories[4:]] == [11, 0]

    def test_twelve_thousand_observations_and_three_thousand_sessions(self, stories: list[Story]) -> None:
        assert 11_500 <= sum(len(story.placed) for story in stories) <= 12_500
        assert 2_950 <= sum(len(story.sessions) for story in stories) <= 3_050

    def test_six_thousand_retrievals_and_their_log(self, lived: dict[str, History]) -> None:
        retrievals = [found for history in lived.values() for found in history.retrievals]
        assert 5_500 <= len(retrievals) <= 6_500
        assert 105_000 <= sum(len(found.order) for found in retrievals) <= 125_000

    def test_ninety_days_up_to_now(self, filled: str) -> None:
        ((first, last),) = rows(filled, "select min(created_at), max(created_at) from retrieval_ab_logs")
        assert NOW - timedelta(days=90) < first < NOW - timedelta(days=80)
        assert NOW - timedelta(days=2) < last < NOW

    def test_flags(self, filled: str) -> None:
        found = dict(rows(filled, "select id, features from organizations"))
        assert found["org_quillworks"] == {"feedback_weighting_disabled": True}
        assert found["org_tidewater"] == {"corroboration_boost_enabled": True}
        assert found["org_newfound"] == {}

    def test_an_organization_without_anything(self, filled: str) -> None:
        tables = ("projects", "sessions", "observations", "retrieval_ab_logs")
        for table in tables:
            assert rows(filled, f"select count(*) from {table} where org_id = 'org_newfound'") == [(0,)]  # noqa: S608

    def test_every_kind_and_route(self, filled: str) -> None:
        assert {kind for (kind,) in rows(filled, "select distinct kind from observations")} == {
            "observation",
            "reflection",
        }
        found = rows(
            filled,
            """select granularity, array_agg(distinct route order by route)
                 from observations o join observation_embeddings e on e.org_id = o.org_id and e.observation_id = o.id
                group by granularity""",
        )
        routes = dict(found)
        assert routes["turn"] == ["assistant", "full", "next_user", "user"]
        assert routes["session"] == ["events", "full", "personal_info", "preferences"]
        assert set(routes["observation"]) >= {"full", "personal_info", "preferences"}

    def test_every_observation_has_a_full_vector_of_unit_length(self, filled: str) -> None:
        odd = """select count(*) from observations o left join observation_embeddings e
                     on e.org_id = o.org_id and e.observation_id = o.id and e.route = 'full'
                  where e.embedding is null or vector_dims(e.embedding) <> 256
                     or abs(vector_norm(e.embedding) - 1) > 1e-5"""
        assert rows(filled, odd) == [(0,)]

    def test_the_next_question_is_the_question_of_the_next_turn(self, filled: str) -> None:
        found = rows(
            filled,
            """select a.embedding <=> b.embedding from observation_embeddings a
                 join observations o on o.org_id = a.org_id and o.id = a.observation_id
                 join lateral (select id from observations n where n.org_id = o.org_id and n.session_id = o.session_id
                   and n.granularity = 'turn' and n.created_at > o.created_at order by n.created_at limit 1) n on true
                 join observation_embeddings b on b.org_id = a.org_id and b.observation_id = n.id and b.route = 'user'
                where a.route = 'next_user'""",
        )
        assert found
        assert max(distance for (distance,) in found) < 1e-6

    def test_vectors_are_those_of_the_package_bit_for_bit(self, stories: list[Story]) -> None:
        texts = ["", "word", *(entry.memory.text for story in stories for entry in story.placed[:100])]
        package = wordllama.WordLlama.load(
            cache_dir=Path(wordllama.__file__).parent, dim=DIMENSIONS, disable_download=True
        )
        means = package.embed(texts).astype(np.float64)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        expected = (means / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
        assert embed(texts).tobytes() == expected.tobytes()


class TestWording:
    def test_observations_are_sentences_of_a_readable_length(self, stories: list[Story]) -> None:
        for story in stories:
            for entry in story.placed:
                assert 8 <= len(entry.memory.text.split()) <= 60
                assert not re.search(r"[{}\[\]|]| {2}", entry.memory.text) or story.org.id == "org_hostile"

    def test_no_two_are_the_same_and_few_begin_alike(self, stories: list[Story]) -> None:
        texts = [entry.memory.text for story in stories for entry in story.placed]
        said = {(story.org.id, entry.memory.project, entry.memory.text) for story in stories for entry in story.placed}
        assert len(said) == len(texts)
        openings = Counter(" ".join(text.split()[:6]) for text in texts)
        assert openings.most_common(1)[0][1] < len(texts) / 100

    def test_a_slot_of_a_component_has_one_value(self, stories: list[Story]) -> None:
        """Nothing contradicts itself by accident: whoever speaks of a limit names the same one."""
        slots = set(phrases().values)
        told = {
            sentence: re.compile(_pattern(sentence, slots))
            for topic in topics()
            for sentence in topic.what
            if any(f"{{{slot}}}" in sentence for slot in slots) and "{component}" in sentence
        }
        values: dict[tuple[str, str, str, str], set[str]] = defaultdict(set)
        for story in stories:
            for entry in story.placed:
                for sentence, pattern in told.items():
                    for found in pattern.finditer(entry.memory.text):
                        values[story.org.id, entry.memory.project, sentence, found["component"]].add(found["value"])
        assert len(values) > 200
        assert {len(found) for found in values.values()} == {1}

    def test_what_is_said_depends_on_the_seed_and_not_on_the_day(self) -> None:
        org = organizations()[1]
        texts = [
            {entry.memory.text for entry in tell(org, SMALL, now, seed).placed if entry.memory.granularity != "session"}
            for now, seed in ((NOW, "tide"), (NOW + timedelta(days=3, hours=5), "tide"), (NOW, "ebb"))
        ]
        assert len(texts[0] & texts[1]) > 0.9 * len(texts[0])
        assert len(texts[0] & texts[2]) < 0.3 * len(texts[0])

    def test_the_same_seed_and_now_give_the_same_past(self) -> None:
        for org in organizations():
            assert tell(org, SMALL, NOW, "tide") == tell(org, SMALL, NOW, "tide")

    def test_words_of_every_project_are_complete(self) -> None:
        for org in organizations():
            for name, _ in org.projects if org.share else ():
                words = project(name)
                assert len(words.parts) >= 10
                assert len({component.name for component in words.parts}) == len(words.parts)
                assert len(set(words.subjects)) == len(words.subjects) == 22

    def test_a_template_takes_one_of_each_choice_and_the_words(self) -> None:
        class Last:
            def random(self) -> float:
                return 0.99

        random: Random = Last()  # type: ignore[assignment]
        assert say("the {component} [waits|sleeps] for {n} s", random, {"component": "a", "n": "5"}) == (
            "The a sleeps for 5 s"
        )


class TestHostile:
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
        hostile = hostile_organization()
        said = [hostile.org.name, *hostile.org.features, *map(str, hostile.org.features.values())]
        said += [text for names in hostile.org.projects for text in names]
        said += [
            text for e in hostile.placed for text in (e.memory.text, e.agent, e.memory.title or "", *e.memory.tags)
        ]
        said += [text for session in hostile.sessions for text in (session.id, *session.queries)]
        assert any(piece in text for text in said)

    def test_every_hostile_text_is_stored_letter_for_letter(self, filled: str) -> None:
        hostile = hostile_organization()
        assert rows(filled, "select name, features from organizations where id = 'org_hostile'") == [
            (hostile.org.name, hostile.org.features)
        ]
        stored = rows(filled, "select id, content, tags, agent_id from observations where org_id = 'org_hostile'")
        assert sorted(stored) == [(e.id, e.memory.text, list(e.memory.tags), e.agent) for e in hostile.placed]
        asked = rows(
            filled, "select distinct session_id, query_text from retrieval_ab_logs where org_id = 'org_hostile'"
        )
        assert set(asked) == {(session.id, query) for session in hostile.sessions for query in session.queries}


class TestSizes:
    def test_a_large_store_keeps_the_named_organizations_as_they_are(self) -> None:
        assert of_named(LARGE) == DEFAULT
        assert of_copies(LARGE).observations + DEFAULT.observations == 1_000_000
        assert of_named(SMALL) == SMALL

    def test_copies_share_the_rest_unevenly_and_have_names_of_their_own(self) -> None:
        found = copies(LARGE.copies)
        assert sum(org.share for org in found) == pytest.approx(1)
        assert found[0].share > 5 * found[-1].share
        names = {org.id for org in (*found, *organizations())}
        assert len(names) == LARGE.copies + 6


def _pattern(sentence: str, slots: set[str]) -> str:
    """A sentence as a pattern that finds its component and its value wherever it was said."""
    parts = re.split(r"(\[[^\]]*\]|\{\w+\})", sentence)
    found = ""
    for part in parts:
        name = part.strip("{}")
        if part.startswith("["):
            found += f"(?:{'|'.join(map(re.escape, part[1:-1].split('|')))})"
        elif part == "{component}":
            found += "(?P<component>[a-z -]+?)" if "?P<component>" not in found else "(?P=component)"
        elif part.startswith("{") and name in slots:
            found += r"(?P<value>[\d,]+)"
        else:
            found += "[^.]+?" if part.startswith("{") else re.escape(part)
    return found

"""Alerts of a scope against planted facts: how they are weighted, filtered and read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import log2
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift import weighing
from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import ChangedMeanwhileError, find_alerts, harm, read_alerts
from queries.recorded import recording
from ranking.contradictions import Kind
from tests import sample
from tests.analysis.drift.conftest import ALL, pairs
from tests.drift_store import PORTS, add_given, add_pair, window
from tests.hostile import TEXTS

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]


class TestExposure:
    def test_harm_is_the_published_formula(self) -> None:
        assert harm(80, 0, 0, 0) == 20
        assert harm(80, 3, 4, 1) == pytest.approx(80 * (1 + log2(8) / 10 + 2 * log2(2) / 5) / 4)
        assert harm(80, 1023, 0, 31) == 80
        assert harm(80, 10**9, 10**9, 10**9) == 80
        assert harm(80, None, None, None) == 20

    def test_what_agents_were_given_comes_before_what_is_merely_severe(
        self, store: Store, owner: Owner, acme: dict[str, tuple[str, str]]
    ) -> None:
        assert next(pairs([one]) for one in find_alerts(store, window("org_a"), ALL).listed) == {acme["ports"]}
        for session in range(8):
            add_given(owner, "org_a", f"s{session}", list(acme["retries"]))
        add_given(owner, "org_a", "s0", [acme["retries"][0]], name="again")
        add_given(owner, "org_a", "long-ago", list(acme["ports"]), days=40)
        add_given(owner, "org_a", "not", list(acme["ports"]), injected=False)
        add_given(owner, "org_a", "unknown", list(acme["ports"]), injected=None)
        add_given(owner, "org_b", "theirs", list(acme["ports"]))
        first, second = find_alerts(store, window("org_a"), ALL).listed
        assert pairs([first]) == {acme["retries"]}
        assert (first.older_injected, first.newer_injected, first.both_injected) == (9, 8, 8)
        assert first.harm == pytest.approx(first.severity * (1 + log2(18) / 10 + 2 * log2(9) / 5) / 4)
        assert (second.older_injected, second.newer_injected, second.both_injected) == (0, 0, 0)

    def test_against_a_slow_count_in_python(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        random = Random(3)  # noqa: S311 - any log will do
        made = [
            add_pair(
                owner,
                "org_a",
                f"p{n}",
                (PORTS[0].replace("dispatch", f"d{n}x"), PORTS[1].replace("dispatch", f"d{n}x")),
            )
            for n in range(6)
        ]
        ids = [id_ for pair in made for id_ in pair]
        given: list[tuple[str, str, str]] = []
        for number in range(40):
            session, chosen = f"s{number % 9}", random.sample(ids, random.randrange(6))
            add_given(owner, "org_a", session, chosen, name=str(number), days=random.choice((1, 5, 29, 31, 60)))
        rows = owner.execute(
            "select observation_id::text, retrieval_id::text, session_id from retrieval_ab_logs where created_at >= %s",
            (window("org_a").since,),
        ).fetchall()
        given = list(set(rows))
        listed = find_alerts(store, window("org_a"), ALL).listed
        assert pairs(listed) >= set(made)
        for one in listed:
            sessions = [{s for o, _, s in given if o == side} for side in (one.older.id, one.newer.id)]
            counts = [sum(o == side for o, _, _ in given) for side in (one.older.id, one.newer.id)]
            expected = (*counts, len(sessions[0] & sessions[1]))
            assert (one.older_injected, one.newer_injected, one.both_injected) == expected

    def test_a_log_that_says_nothing_of_injections(
        self, store: Store, owner: Owner, acme: dict[str, tuple[str, str]]
    ) -> None:
        owner.execute("alter table retrieval_ab_logs drop column injected")
        for one in find_alerts(store, window("org_a"), ALL).listed:
            assert (one.older_injected, one.newer_injected, one.both_injected) == (None, None, None)
            assert one.harm == one.severity / 4
        assert acme


class TestFilter:
    def test_each_field_narrows(self, store: Store, owner: Owner, acme: dict[str, tuple[str, str]]) -> None:
        def found(**fields: Any) -> set[tuple[str, str]]:  # noqa: ANN401 - AlertFilter's own
            return pairs(find_alerts(store, window("org_a"), AlertFilter(0.5, **fields)).listed)

        both, ports, retries = set(acme.values()), {acme["ports"]}, {acme["retries"]}
        assert found(kinds=frozenset({Kind.VALUE})) == ports
        assert found(least_severity=50.0) == ports
        assert found(agents=frozenset({"agent-newer"})) == both
        assert found(agents=frozenset({"nobody"})) == set()
        assert found(since=sample.TODAY - timedelta(days=10)) == ports
        assert found(states=frozenset({"resolved"})) == set()
        print_of = next(
            one.fingerprint for one in find_alerts(store, window("org_a"), ALL).listed if pairs([one]) == retries
        )
        owner.execute(
            """insert into rankscope.drift_triage (org_id, fingerprint, state, snoozed_until, changed_by)
               values ('org_a', %s, 'snoozed', now() + interval '1 day', 'me')""",
            (print_of,),
        )
        assert found(states=frozenset({"snoozed"})) == retries
        assert found(states=frozenset({"new"})) == ports
        owner.execute("update rankscope.drift_triage set snoozed_until = now() - interval '1 minute'")
        assert found(states=frozenset({"new"})) == both

    def test_what_is_not_listed_is_counted_by_state_and_makes_another_version(
        self, store: Store, owner: Owner, acme: dict[str, tuple[str, str]]
    ) -> None:
        assert acme
        scope, new = window("org_a"), replace(ALL, states=frozenset({"new"}))
        first, second = find_alerts(store, scope, ALL).fingerprints
        insert = (
            "insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by) values ('org_a', %s, %s, 'me')"
        )
        owner.execute(insert, (first, "acknowledged"))
        before = find_alerts(store, scope, new)
        owner.execute("update rankscope.drift_triage set state = 'false_positive'")
        after = find_alerts(store, scope, new)
        assert before.fingerprints == after.fingerprints == (second,)
        assert (before.unlisted, after.unlisted) == ((("acknowledged", 1),), (("false positive", 1),))
        assert before.data_version != after.data_version
        assert find_alerts(store, scope, ALL).unlisted == ()

    def test_what_another_filter_leaves_out_too_is_not_counted_as_left_out_by_its_state(
        self, store: Store, owner: Owner, acme: dict[str, tuple[str, str]]
    ) -> None:
        scope, new = window("org_a"), replace(ALL, states=frozenset({"new"}))
        owner.execute(
            """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by)
               select 'org_a', unnest(%s::text[]), 'resolved', 'me'""",
            (list(find_alerts(store, scope, ALL).fingerprints),),
        )
        assert len(acme) == 2
        assert find_alerts(store, scope, new).unlisted == (("resolved", 2),)
        for narrower in (
            replace(new, kinds=frozenset({Kind.VALUE})),
            replace(new, least_severity=50.0),
            replace(new, since=sample.TODAY - timedelta(days=10)),
        ):
            assert find_alerts(store, scope, narrower).unlisted == (("resolved", 1),)
        assert find_alerts(store, scope, replace(new, agents=frozenset({"nobody"}))).unlisted == ()


class TestTexts:
    def test_a_text_that_changed_meanwhile_is_refused(
        self, store: Store, owner: Owner, acme: dict[str, tuple[str, str]]
    ) -> None:
        found = find_alerts(store, window("org_a"), ALL)
        owner.execute("update observations set content = content || ' Really.' where id = %s", (acme["ports"][0],))
        with pytest.raises(ChangedMeanwhileError):
            list(read_alerts(store, window("org_a"), found))
        again = find_alerts(store, window("org_a"), ALL)
        assert pairs(again.listed) == pairs(found.listed)
        assert set(again.fingerprints) != set(found.fingerprints)
        assert again.data_version != found.data_version

    def test_long_texts_are_read_in_portions_and_none_is_left_out(
        self, store: Store, owner: Owner, acme: dict[str, tuple[str, str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two pairs of 2 000 characters and more: together below 5 000 characters, one by one below 4 999 and 10."""
        assert acme
        owner.execute("update observations set content = rpad(content || ' ', 1250, 'y ') where org_id = 'org_a'")
        found = find_alerts(store, window("org_a"), ALL)
        assert len(found.fingerprints) == 2
        for most, portions in ((5_000, 1), (4_999, 2), (10, 2)):
            monkeypatch.setattr(weighing, "MOST_CHARACTERS", most)
            with recording(store) as asked:
                alerts = list(read_alerts(store, window("org_a"), found))
                times = [one.times for one in asked.asked() if "content_hash" in one.text]
            assert [alert.fingerprint for alert in alerts] == list(found.fingerprints)
            assert {len(side.content) for alert in alerts for side in (alert.older, alert.newer)} == {1_250}
            assert times == [portions]

    def test_whole_texts_however_long_and_hostile(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        long = "x" * 1_000_000
        for number, hostile in enumerate([*TEXTS, long]):
            subject = f"The z{number}q collector listens on port"
            add_pair(owner, "org_a", f"h{number}", (f"{subject} 8080.\n{hostile}", f"{subject} 9090.\n{hostile}"))
        found = find_alerts(store, window("org_a"), ALL)
        alerts = list(read_alerts(store, window("org_a"), found, batch=7))
        assert [alert.fingerprint for alert in alerts] == list(found.fingerprints)
        contents = {alert.older.content for alert in alerts}
        read = sum(any(content.endswith(f"\n{hostile}") for content in contents) for hostile in (*TEXTS, long))
        assert read > 0.8 * len(TEXTS)
        for alert in alerts:
            for word in alert.evidence:
                side = alert.older if word.side == "older" else alert.newer
                assert side.content[word.start : word.end] == word.text

"""Which texts contradict each other, which restate, and which only look alike."""

import pytest

from ranking import DEFAULT_PAIRS, classify, contradicts, detect_contradictions
from ranking.contradictions import Verdict
from tests.ranking.findings import only


class TestAsDocumented:
    """What RANKING names as conflicts and as none."""

    @pytest.mark.parametrize(
        ("old", "new", "kind"),
        [
            ("The worker always retries a failed upload.", "The worker never retries a failed upload.", "opposition"),
            ("The gateway signs its requests.", "The gateway does not sign its requests.", "negation"),
            ("The metrics endpoint listens on port 8080.", "The metrics endpoint listens on port 9090.", "value"),
            ("The admin console is built with React 18.", "The admin console is built with React 19.", "value"),
            ("Invoices come from the old daemon.", "Invoices no longer come from the old daemon.", "superseded"),
            ("We use Memcached for carts.", "We switched from Memcached to Valkey for carts.", "superseded"),
        ],
    )  # fmt: skip
    def test_each_kind_is_told_from_the_others(self, old: str, new: str, kind: str) -> None:
        assert only(detect_contradictions([old, new])).kind == kind
        assert classify(old, new) is Verdict.UPDATE

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("The standup is at 9am.", "The standup is at 9:00."),
            ("Two reviewers approve each change.", "2 reviewers approve each change."),
            ("Attachments are limited to 5 MB.", "Attachments are limited to 5 megabytes."),
            ("Backups are kept for 14 days.", "Backups are kept for two weeks."),
            ("The lock expires after 60 seconds.", "The lock expires after one minute."),
            ("The search team owns the crawler.", "The crawler is owned by the search team."),
            ("Jobs are stored in Postgres.", "Jobs were stored in PostgreSQL."),
            ("Uploads are retried.", "Uploads are retried, capped at five attempts."),
        ],
    )
    def test_a_restatement_or_an_added_detail_is_none(self, old: str, new: str) -> None:
        assert detect_contradictions([old, new]) == []
        assert classify(old, new) is Verdict.RESTATEMENT

    def test_unrelated_texts_are_distinct(self) -> None:
        assert classify("The crawler honours robots.txt.", "Payroll is run on the 25th.") is Verdict.DISTINCT

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("The staging cluster has three nodes.", "The production cluster has seven nodes."),
            ("In Q1 the shop had 99.95% uptime.", "In Q2 the shop had 99.7% uptime."),
            ("The scanner depends on Redis.", "The scanner depends on Postgres."),
            ("PR 311 renames the queue.", "PR 348 renames the queue."),
            ("The search service is written in Rust.", "The billing service is written in Go."),
            ("Mobile builds are signed with fastlane match.", "Mobile builds are distributed through TestFlight."),
            ("We retired the spare printer.", "The spare printer is noisy."),
        ],
    )
    def test_what_is_said_of_another_or_with_another_value_restates_nothing(self, old: str, new: str) -> None:
        assert classify(old, new) is Verdict.DISTINCT
        assert classify(new, old) is Verdict.DISTINCT

    def test_about_forty_pairs_of_this_fields_language_are_given(self) -> None:
        assert 40 <= len(DEFAULT_PAIRS) <= 120
        assert all(contradicts(f"The export step is {one}.", f"The export step is {other}.") for one, other in (
            ("enabled", "disabled"), ("mutable", "immutable"), ("synchronous", "asynchronous"), ("stable", "flaky"),
        ))  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Two dogs are fighting", "Two dogs are not fighting"),
        ("Two dogs are fighting", "There are no dogs fighting"),
        ("Three men are sitting on a bench", "Three men are not sitting on a bench"),
    ],
)
def test_a_claim_is_no_restatement_of_its_denial(one: str, other: str) -> None:
    assert classify(one, other) is not Verdict.RESTATEMENT
    assert classify(other, one) is not Verdict.RESTATEMENT


def test_two_denials_and_a_denied_opposite_restate() -> None:
    assert classify("Do not use tabs.", "Never use tabs.") is Verdict.RESTATEMENT
    denied, opposite = (
        "Search indexing is not enabled for archived pages.",
        "Search indexing is disabled for archived pages.",
    )
    assert classify(denied, opposite) is Verdict.RESTATEMENT


class TestHostileText:
    @pytest.mark.parametrize(
        "text", ["", " ", "\n", "\0", "''", '"', "`", "((((", "—", "9:99", "1/0", "e.g.", "\ud800", "¼ ½", "x" * 50_000]
    )
    def test_nothing_breaks_and_nothing_is_found(self, text: str) -> None:
        assert detect_contradictions([text, "The lobby holds 8 players.", text]) == []

    def test_many_copies_of_both_sides_stay_readable(self) -> None:
        texts = ["The lobby holds 8 players."] * 300 + ["The lobby holds 12 players."] * 300
        found = detect_contradictions(texts)
        assert 1 <= len(found) <= 64


class TestNoAlarm:
    """Pairs that share nearly every word and yet may both be true."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("The public API is rate limited.", "The private API is rate limited."),
            ("Two dogs are running.", "Three dogs are running."),
            ("A man is standing near a Toyota.", "A man is standing near a Honda."),
            ("Some dogs are black.", "Some dogs are not black."),
            ("A man is smoking.", "A man who is not smoking is sitting."),
            ("A man without a hat is standing.", "A man with a hat is standing."),
            ("The job takes twenty-five minutes.", "The job takes 25 minutes."),
            ("The build takes two and a half hours.", "The build takes 2.5 hours."),
            ("The limit is 1 GB.", "The limit is 1024 MB."),
            ("The freeze starts on 2024-03-05.", "The freeze starts on March 5."),
            ("The cache is on. The flag is off.", "The flag is off and the cache is on."),
            ("Server A listens on port 8080.", "Server B listens on port 9090."),
            ("Node 1 is healthy and uses 4 GB.", "Node 2 is healthy and uses 8 GB."),
            ("Service 3473 listens on port 7392.", "Service 4235 listens on port 7392."),
            ("The service uses Postgres.", "The service uses Redis."),
            ("The app supports English.", "The app supports German."),
            ("Tokens expire after 1 hour.", "Refresh tokens expire after 30 days."),
            ("I have been listening to music nonstop.", "I have never really listened to his music."),
            ("The curation job removes blurry frames.", "Blurry frames were removed by the curation job."),
        ],
    )
    def test_nothing_is_said(self, one: str, other: str) -> None:
        assert not contradicts(one, other)
        assert not contradicts(other, one)

    def test_a_denied_claim_of_strangers_is_still_denied(self) -> None:
        assert contradicts("A man is playing a guitar.", "A man is not playing a guitar.")


class TestCrowds:
    """What many observations speak of in the same words is still found."""

    @pytest.mark.parametrize("count", [10, 60, 400])
    def test_two_among_many_that_share_their_words(self, count: int) -> None:
        crowd = [f"The nightly backup job writes {row} archives to bucket number {row * 7}." for row in range(count)]
        texts = ["The nightly backup job is enabled.", *crowd, "The nightly backup job is disabled."]
        assert only(detect_contradictions(texts)).ids == (0, count + 1)

    def test_each_of_many_things_with_its_own_name_and_nothing_across_them(self) -> None:
        first = [f"The shard-{row}b service listens on port {row + 1000}." for row in range(300)]
        moved = [f"The shard-{row}b service listens on port {row + 5000}." for row in range(300)]
        found = detect_contradictions([*first, *moved])
        assert sorted(one.ids for one in found) == [(row, row + 300) for row in range(300)]

    @pytest.mark.parametrize(
        "form",
        [
            "Errors of the {} importer are tracked in Sentry.",
            "The {} job is enabled for all tenants and keeps logs for {number} days.",
            "Never restart {} while the queue drains, it takes {number} seconds.",
            "In staging, {} uses Adyen with a limit of {number} calls per minute.",
            "{} writes its events to the main queue, and the worker picks them up in batches of {number}.",
        ],
    )
    def test_what_is_said_of_other_things_in_the_same_words_is_none(self, form: str) -> None:
        texts = [form.format(f"node-{row:x}7", number=row + 40) for row in range(120)]
        assert detect_contradictions(texts) == []

    def test_one_slot_with_a_thousand_values_stays_readable(self) -> None:
        texts = [f"The gateway service listens on port {row + 1000}." for row in range(1000)]
        assert 0 < len(detect_contradictions(texts)) <= 2 * len(texts)

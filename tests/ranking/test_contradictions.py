import math
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pytest

from ranking import (
    DEFAULT_PAIRS,
    Contradiction,
    Kind,
    Severity,
    classify,
    cluster_near_duplicates,
    contradicts,
    detect_contradictions,
)
from ranking.contradictions import Verdict
from ranking.contradictions.findings import fingerprint
from ranking.simhash import fingerprints

MORNING = datetime(2026, 5, 1, 9, 0, tzinfo=UTC).replace(tzinfo=None)


def only(found: list[Contradiction]) -> Contradiction:
    assert len(found) == 1, found
    return found[0]


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


class TestEvidence:
    def test_spans_are_of_the_text_as_written(self) -> None:
        older, newer = "Note:  the API\tlistens on PORT 8080!", "The api listens on port 9090, as of today."
        found = only(detect_contradictions([older, newer]))
        assert [(e.side, e.text) for e in found.evidence] == [("older", "8080"), ("newer", "9090")]
        for evidence in found.evidence:
            text = older if evidence.side == "older" else newer
            assert text[evidence.start : evidence.end] == evidence.text

    def test_the_older_side_comes_first_whatever_the_order_of_rows(self) -> None:
        rows = {
            "ids": ["late", "early"],
            "content": ["Mail is sent through SES.", "Mail is sent through Postmark."],
            "created_at": [MORNING + timedelta(days=1), MORNING],
        }
        found = only(detect_contradictions(rows))
        assert (found.older, found.newer) == ("early", "late")
        assert [e.text for e in found.evidence] == ["Postmark", "SES"]

    def test_the_overlap_leaves_out_what_conflicts(self) -> None:
        assert (
            only(detect_contradictions(["Mail goes through SES daily.", "Mail goes through SES weekly."])).overlap
            == 1.0
        )


class TestCallersPairs:
    def test_a_pair_of_ones_own_is_found_and_a_default_can_be_left_out(self) -> None:
        texts = ["The rollout is green.", "The rollout is red."]
        assert detect_contradictions(texts) == []
        assert only(detect_contradictions(texts, opposition_pairs=[("green", "red")])).kind is Kind.OPPOSITION
        assert (
            detect_contradictions(["The cache is enabled.", "The cache is disabled."], opposition_pairs=[("a1", "b1")])
            == []
        )

    def test_a_pair_of_one_word_is_refused(self) -> None:
        with pytest.raises(ValueError, match="opposition_pairs: expected two different words, found 'run' and 'runs'"):
            detect_contradictions(["a"], opposition_pairs=[("run", "runs")])

    def test_a_threshold_outside_0_to_1_is_refused(self) -> None:
        with pytest.raises(ValueError, match="threshold"):
            detect_contradictions(["a"], threshold=1.5)

    def test_a_higher_threshold_finds_no_more(self) -> None:
        texts = [
            "The nightly export of the ledger to the bank runs at 02:00.",
            "The export of the ledger runs at 04:00.",
        ]
        found = [len(detect_contradictions(texts, threshold=threshold)) for threshold in (0.3, 0.5, 0.8, 1.0)]
        assert found == sorted(found, reverse=True)


class TestSeverity:
    def test_the_formula_with_all_its_parts(self) -> None:
        parts = Severity(recency=math.exp(-15 / 30), domain=1.0, frequency=math.log2(3) / 3, gap=0.5)
        assert parts.score == pytest.approx(100 * (0.4 * math.exp(-0.5) + 0.3 + 0.3 * math.log2(3) / 3) * 0.75)

    def test_recency_domain_and_gap_come_from_the_observations(self) -> None:
        rows = {
            "content": ["The admin password rotates every 30 days.", "The admin password rotates every 90 days."],
            "created_at": [MORNING - timedelta(days=90), MORNING - timedelta(days=30)],
            "weight": [0.4, 1.0],
        }
        parts = only(detect_contradictions(rows, now=np.datetime64(MORNING))).parts
        assert parts.recency == pytest.approx(math.exp(-1))
        assert parts.domain == 1.0
        assert parts.frequency == pytest.approx(math.log2(3) / 3)
        assert parts.gap == pytest.approx(0.6)

    def test_more_observations_on_a_side_weigh_more(self) -> None:
        few = ["The lobby holds 8 players.", "The lobby holds 12 players."]
        many = [*few, "A lobby holds 12 players.", "Our lobby holds 12 players!"]
        most = max(one.parts.frequency for one in detect_contradictions(many))
        assert most > only(detect_contradictions(few)).parts.frequency

    def test_without_dates_recency_is_unknown_and_not_zero(self) -> None:
        found = only(detect_contradictions(["The lobby holds 8 players.", "The lobby holds 12 players."]))
        assert found.parts.recency is None
        assert found.severity == pytest.approx(100 * (0.3 * 0.4 + 0.3 * math.log2(3) / 3) / 0.6)

    def test_the_most_severe_comes_first(self) -> None:
        texts = [
            "The lobby holds 8 players.", "The lobby holds 12 players.",
            "Access tokens expire after 5 minutes.", "Access tokens expire after 60 minutes.",
        ]  # fmt: skip
        found = detect_contradictions(texts)
        assert [one.severity for one in found] == sorted((one.severity for one in found), reverse=True)
        assert found[0].parts.domain == 1.0


class TestFingerprint:
    def rows(self, **changed: object) -> dict[str, object]:
        return {
            "ids": ["a", "b"],
            "content": ["The lobby holds 8 players.", "The lobby holds 12 players."],
            "created_at": [MORNING, MORNING + timedelta(hours=1)],
            **changed,
        }

    def test_it_is_the_same_whichever_row_comes_first_and_whenever_it_is_asked(self) -> None:
        one = only(detect_contradictions(self.rows()))
        turned = self.rows(
            ids=["b", "a"],
            content=["The lobby holds 12 players.", "The lobby holds 8 players."],
            created_at=[MORNING + timedelta(hours=1), MORNING],
        )
        other = only(detect_contradictions(turned, now=np.datetime64(MORNING + timedelta(days=100))))
        assert one.fingerprint == other.fingerprint
        assert len(one.fingerprint) == 32

    def test_other_content_or_another_id_is_another_finding(self) -> None:
        one = only(detect_contradictions(self.rows()))
        changed = self.rows(content=["The lobby holds 8 players.", "The lobby holds 16 players."])
        assert only(detect_contradictions(changed)).fingerprint != one.fingerprint
        assert only(detect_contradictions(self.rows(ids=["a", "c"]))).fingerprint != one.fingerprint


class TestEmbeddings:
    """A cosine moves the overlap that is needed a little, and finds nothing by itself."""

    # two of three words in common: 0.67
    TEXTS = ("The export of the ledger runs slow.", "The export of the ledger works fast.")

    def test_close_vectors_do_not_make_unrelated_texts_conflict(self) -> None:
        same = np.ones((2, 4))
        unrelated = ["The crawler is fast.", "Payroll is slow."]
        assert detect_contradictions({"content": unrelated, "embeddings": same}) == []

    @pytest.mark.parametrize(
        ("vectors", "threshold", "found"),
        [
            (np.ones((2, 3)), 0.7, 1),  # cosine 1: 0.6 is enough
            (np.eye(2, 3), 0.6, 0),  # cosine 0: 0.7 is needed
            (np.zeros((2, 3)), 0.6, 1),  # no vector moves nothing
            (np.zeros((2, 3)), 0.7, 0),
        ],
    )
    def test_a_cosine_moves_what_is_needed_by_a_tenth(
        self, vectors: npt.NDArray[np.float64], threshold: float, found: int
    ) -> None:
        rows = {"content": list(self.TEXTS), "embeddings": vectors}
        assert len(detect_contradictions(rows, threshold=threshold)) == found


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


def test_a_fingerprint_takes_ids_as_they_are_written() -> None:
    sides = ("The port is 8080.", "The port is 9090.")
    kept = fingerprint(("1", sides[0]), ("2", sides[1]), Kind.VALUE)
    # stored with triage decisions: another value here would lose them
    assert kept == "17ea23e7b9ec2c2e096ff8ab6362d650"
    assert fingerprint((1, sides[0]), (2, sides[1]), Kind.VALUE) == kept


class TestDisputed:
    STORY = (
        "The payment webhook handler in the billing service validates the signature of each incoming event before it "
        "is written to the outbox table{} and the retry worker of that service picks it up there within {} seconds{}"
    )
    TEXTS = (STORY.format("", 30, "."), STORY.format("", 45, "."), STORY.format(",", 30, "!"))

    def test_a_member_that_contradicts_its_canonical_does_not_corroborate_it(self) -> None:
        rows = {"ids": ["a", "b", "c"], "content": list(self.TEXTS), "weight": [1.0, 0.9, 0.8]}
        plain = cluster_near_duplicates(rows, threshold=8)
        assert plain.corroboration_score.tolist() == [2]
        assert plain.contradicts.tolist() == [False, True, False]
        assert plain.disputed.tolist() == [True]
        settled = cluster_near_duplicates(rows, threshold=8, exclude_disputed=True)
        assert settled.contradicts.tolist() == [False, True, False]
        assert settled.disputed.tolist() == [True]
        assert settled.corroboration_score.tolist() == [1]

    def test_pairs_that_are_given_are_not_looked_for(self) -> None:
        rows = {"ids": ["a", "b", "c"], "content": list(self.TEXTS), "weight": [1.0, 0.9, 0.8]}
        given = cluster_near_duplicates(rows, threshold=8, exclude_disputed=True, disputes=())
        assert given.contradicts.tolist() == [False, False, False]

    def test_every_copy_of_a_text_that_contradicts_the_canonical_does(self) -> None:
        agrees, denies = self.TEXTS[0], self.TEXTS[1]
        clusters = cluster_near_duplicates({"content": [agrees] + [denies] * 40}, threshold=8)
        assert clusters.contradicts.tolist() == [False] + [True] * 40

    def test_without_texts_nothing_is_disputed(self) -> None:
        hashed = fingerprints(list(self.TEXTS))
        clusters = cluster_near_duplicates({"weight": [1.0, 0.9, 0.8]}, threshold=8, hashed=hashed)
        assert clusters.size.tolist() == [3]
        assert clusters.disputed.tolist() == [False]


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


class TestInput:
    def test_rows_may_come_as_records(self) -> None:
        rows = [
            {"id": "a", "content": "The lobby holds 8 players.", "created_at": MORNING, "tag": 1},
            {"id": "b", "content": "The lobby holds 12 players.", "created_at": MORNING + timedelta(hours=1), "tag": 2},
        ]
        assert only(detect_contradictions(rows)).ids == ("a", "b")

    @pytest.mark.parametrize("texts", [["The lobby holds 8 players.", None], [("a", "The lobby holds 8 players.")]])
    def test_what_is_no_text_is_refused(self, texts: list[object]) -> None:
        with pytest.raises(TypeError, match="content: expected a text in every row, found"):
            detect_contradictions(texts)

    @pytest.mark.parametrize("pairs", [["ab"], [("a", "b", "c")], [(None, "x")]])
    def test_pairs_that_are_none_are_refused(self, pairs: list[object]) -> None:
        with pytest.raises(ValueError, match="opposition_pairs: expected pairs of words"):
            detect_contradictions(["a"], opposition_pairs=pairs)  # type: ignore[arg-type]

    @pytest.mark.parametrize("threshold", [-0.1, 5, math.nan])
    def test_a_threshold_is_checked_by_every_door(self, threshold: float) -> None:
        for door in (classify, contradicts):
            with pytest.raises(ValueError, match="threshold"):
                door("a", "b", threshold)

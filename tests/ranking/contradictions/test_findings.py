"""What a caller may give beside texts, and what a finding then says."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pytest

from ranking import Kind, Severity, classify, contradicts, detect_contradictions
from ranking.contradictions.findings import fingerprint
from tests.ranking.findings import only

MORNING = datetime(2026, 5, 1, 9, 0, tzinfo=UTC).replace(tzinfo=None)


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


def test_a_fingerprint_takes_ids_as_they_are_written() -> None:
    sides = ("The port is 8080.", "The port is 9090.")
    kept = fingerprint(("1", sides[0]), ("2", sides[1]), Kind.VALUE)
    # stored with triage decisions: another value here would lose them
    assert kept == "17ea23e7b9ec2c2e096ff8ab6362d650"
    assert fingerprint((1, sides[0]), (2, sides[1]), Kind.VALUE) == kept


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

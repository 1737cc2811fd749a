import pytest

from ranking import classify, contradicts, detect_contradictions
from ranking.contradictions import Verdict
from tests.ranking.contradiction_pairs import (
    HELD_OUT,
    STYLES_HELD_OUT,
    STYLES_TUNED_ON,
    TUNED_ON,
    LabelledPair,
    joined,
    labelled_pairs,
    score,
)

PAIRS = labelled_pairs(*TUNED_ON, *HELD_OUT)


def test_the_held_out_half_shares_no_text_with_what_the_rules_were_tuned_on() -> None:
    tuned = {text.lower() for pair in labelled_pairs(*TUNED_ON, *STYLES_TUNED_ON) for text in pair[:2]}
    held = {text.lower() for pair in labelled_pairs(*HELD_OUT, *STYLES_HELD_OUT) for text in pair[:2]}
    assert not tuned & held
    assert len(labelled_pairs(*HELD_OUT)) >= 150


@pytest.mark.parametrize("names", [TUNED_ON, HELD_OUT], ids=["tuned on", "held out"])
def test_most_conflicts_are_found_and_hardly_anything_else(names: tuple[str, ...]) -> None:
    found = score(labelled_pairs(*names))
    assert found.precision >= 0.95
    assert found.recall >= 0.8


@pytest.mark.parametrize("names", [STYLES_TUNED_ON, STYLES_HELD_OUT], ids=["tuned on", "held out"])
def test_captions_chat_and_logs_of_changes_raise_no_false_alarm(names: tuple[str, ...]) -> None:
    found = score(labelled_pairs(*names))
    assert found.false_alarms == 0
    assert found.recall >= 0.6


@pytest.mark.parametrize("kind", ["value", "negation", "opposition", "superseded"])
def test_no_kind_is_left_to_the_others(kind: str) -> None:
    assert score([pair for pair in PAIRS if pair.kind == kind]).recall >= 0.75


@pytest.mark.parametrize(
    "pair",
    [pair for pair in labelled_pairs(*TUNED_ON) if "restatement" in pair.cause],
    ids=lambda pair: pair.cause,
)
def test_a_restatement_is_no_update(pair: LabelledPair) -> None:
    assert classify(pair.older, pair.newer) is not Verdict.UPDATE
    assert classify(pair.newer, pair.older) is not Verdict.UPDATE


def test_among_many_texts_the_same_pairs_are_found_as_one_by_one() -> None:
    texts = [text for pair in PAIRS for text in pair[:2]]
    found = {frozenset(one.ids) for one in detect_contradictions(texts)}
    one_by_one = {
        frozenset((2 * row, 2 * row + 1)) for row, pair in enumerate(PAIRS) if contradicts(pair.older, pair.newer)
    }
    assert one_by_one <= found
    assert all(contradicts(texts[min(pair)], texts[max(pair)]) for pair in found)


@pytest.mark.parametrize("names", [TUNED_ON, HELD_OUT, STYLES_TUNED_ON, STYLES_HELD_OUT])
def test_the_index_finds_of_two_texts_alone_what_judging_them_finds(names: tuple[str, ...]) -> None:
    for pair in labelled_pairs(*names):
        expected = contradicts(pair.older, pair.newer)
        assert bool(detect_contradictions(pair[:2])) == expected, pair
        assert bool(detect_contradictions(pair[1::-1])) == expected, pair


def _among_others(row: int) -> tuple[str, str]:
    """A pair, each side a clause beside one of another pair, before or after it, in one of the ways of joining them."""
    one, other = (PAIRS[(row + step) % len(PAIRS)].newer for step in (7, 31))
    older, newer = PAIRS[row].older, PAIRS[row].newer
    before, after = joined(one, older), joined(newer, other)
    return before[row % len(before)], after[row // 3 % len(after)]


def test_clauses_around_a_claim_hide_nothing_from_the_index() -> None:
    texts = [_among_others(row) for row, pair in enumerate(PAIRS) if contradicts(pair.older, pair.newer)]
    hidden = [pair for pair in texts if bool(detect_contradictions(pair)) != contradicts(*pair)]
    assert len(texts) > 200
    assert hidden == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PRs require two approvals.", "PRs require one approval."),
        ("We keep one backup per day.", "We keep three backups per day."),
        ("The API allows one retry.", "The API allows five retries."),
        ("I'm using Python for data analysis.", "I'm using R for data analysis."),
        ("My favorite color is blue.", "My favorite color is green."),
        ("The invoice currency is euro.", "The invoice currency is dollar."),
        ("The nightly job runs on server A.", "The nightly job runs on server B."),
        ("The port is 8080, so the gateway restarts.", "The port is 9090, but nobody knows."),
        ("The door is open, so guests come in.", "Rain is likely, but the door is closed."),
        ("Wikis use LDAP for all logins.", "Wikis use Okta in place of LDAP for all logins."),
        ("Metrics of experiments go to TensorBoard.", "For metrics of experiments, TensorBoard was replaced by Comet."),
        (
            "Free plans are in euro: The sandbox of tenants has network access.",
            "The sandbox of tenants has no network access.",
        ),
    ],
)
def test_what_stands_apart_for_the_index_is_found_too(one: str, other: str) -> None:
    assert contradicts(one, other)
    assert detect_contradictions([one, other])
    assert detect_contradictions([other, one])

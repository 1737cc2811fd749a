import pytest

from ranking import classify, contradicts, detect_contradictions
from ranking.contradictions import Verdict
from tests.ranking.contradiction_pairs import HELD_OUT, TUNED_ON, LabelledPair, labelled_pairs, score

PAIRS = labelled_pairs(*TUNED_ON, *HELD_OUT)


def test_the_held_out_half_shares_no_text_with_what_the_rules_were_tuned_on() -> None:
    tuned = {text.lower() for pair in labelled_pairs(*TUNED_ON) for text in pair[:2]}
    held = {text.lower() for pair in labelled_pairs(*HELD_OUT) for text in pair[:2]}
    assert not tuned & held
    assert len(labelled_pairs(*HELD_OUT)) >= 150


@pytest.mark.parametrize("names", [TUNED_ON, HELD_OUT], ids=["tuned on", "held out"])
def test_most_conflicts_are_found_and_hardly_anything_else(names: tuple[str, ...]) -> None:
    found = score(labelled_pairs(*names))
    assert found.precision >= 0.95
    assert found.recall >= 0.8


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
    # the index may pass over a pair whose clauses it cuts otherwise; it never adds one
    assert len(one_by_one & found) >= 0.98 * len(one_by_one)
    assert all(contradicts(texts[min(pair)], texts[max(pair)]) for pair in found)

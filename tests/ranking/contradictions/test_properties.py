import re

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from ranking import Kind, classify, contradicts, detect_contradictions
from ranking.contradictions import Verdict

SUBJECTS = ("The export job", "The search service", "Our billing database", "Nightly backup", "The admin console")
SAYS = (
    "runs at 9am", "runs at 10pm", "listens on port 8080", "listens on port 9090", "is enabled", "is disabled",
    "is not monitored", "is monitored", "always retries failed calls", "never retries failed calls",
    "uses Redis for sessions", "uses Postgres for sessions", "no longer uses Redis", "keeps logs for 30 days",
    "keeps logs for two weeks", "is written in Go", "is written in Rust", "can restart without a lock",
    'returns "not found"', "will move to AWS", "was removed from the cluster", "needs 3 approvals",
)  # fmt: skip
LEADS = ("", "In staging, ", "Since May, ", "If the queue is full, ", "By the way, ")
UNRELATED = ("Lisbon is sunny in October.", "My aunt paints small boats.", "Penguins huddle against the wind.")

sentences = st.builds("{}{} {}.".format, st.sampled_from(LEADS), st.sampled_from(SUBJECTS), st.sampled_from(SAYS))
texts = st.lists(sentences, min_size=1, max_size=3).map(" ".join)
# short claims of one subject each, alone or joined to one of another: those that the index cuts out of their sentences
SHORT = (
    ("retries are enabled", "retries are disabled"),
    ("paging is on", "paging is off"),
    ("the port is 8080", "the port is 9090"),
    ("uploads are safe", "uploads are unsafe"),
    ("backups run nightly", "backups run weekly", "alerts fire when the disk fills up"),
    ("the door is not locked", "the door is locked"),
    ("PRs need one approval", "PRs need two approvals"),
    ("we no longer use Redis", "we use Redis"),
)
LINKS = (", so ", ", but ", " where ", ", and ", ". ")
two_claims = st.permutations(SHORT).flatmap(lambda order: st.tuples(*map(st.sampled_from, order[:2])))
joined_texts = st.one_of(
    st.sampled_from(SHORT).flatmap(st.sampled_from),
    st.builds(lambda claims, link: f"{claims[0]}{link}{claims[1]}.", two_claims, st.sampled_from(LINKS)),
)


def _changed(text: str, change: str) -> str:
    match change:
        case "bare":
            return re.sub(r"[.,!?;]", "", text)
        case "spaced":
            return "  " + text.replace(" ", "   ") + "\n"
        case "exclaimed":
            return text.replace(".", "!")
        case "lines":
            return text.replace(". ", ".\n")
    return {"lower": text.lower(), "upper": text.upper(), "title": text.title()}[change]


@st.composite
def paraphrases(draw: st.DrawFn) -> tuple[str, str]:
    """A text and the same words in other case, punctuation and spacing."""
    text = draw(texts)
    change = draw(st.sampled_from(("lower", "upper", "title", "bare", "spaced", "exclaimed", "lines")))
    return text, _changed(text, change)


def _in_another_order(given: list[str]) -> st.SearchStrategy[tuple[list[str], list[int]]]:
    return st.tuples(st.just(given), st.permutations(range(len(given))))


@given(texts)
def test_a_text_never_contradicts_itself(text: str) -> None:
    assert not contradicts(text, text)
    assert classify(text, text) is Verdict.RESTATEMENT


@given(paraphrases())
def test_case_punctuation_and_spaces_contradict_nothing(pair: tuple[str, str]) -> None:
    assert not contradicts(*pair)


@given(texts, texts)
def test_a_text_that_goes_on_contradicts_nothing_of_what_it_goes_on_from(text: str, more: str) -> None:
    assert not contradicts(text, f"{text} {more}")
    assert not contradicts(text, f"{text.rstrip('.')}, and {more}")


@given(texts, texts, st.sampled_from(UNRELATED), st.booleans())
def test_an_unrelated_sentence_on_either_side_changes_nothing(
    one: str,
    other: str,
    unrelated: str,
    first: bool,  # noqa: FBT001 - drawn
) -> None:
    longer = f"{unrelated} {one}" if first else f"{one} {unrelated}"
    if other.startswith(one) or one.startswith(other):
        return  # one goes on from the other: then nothing was compared
    assert contradicts(longer, other) == contradicts(one, other)
    assert contradicts(other, longer) == contradicts(other, one)


@given(st.one_of(texts, joined_texts), st.one_of(texts, joined_texts))
def test_the_kinds_without_an_order_are_the_same_both_ways(one: str, other: str) -> None:
    there = detect_contradictions([one, other])
    back = detect_contradictions([other, one])
    assert [found.kind for found in there] == [found.kind for found in back]
    for found, turned in zip(there, back, strict=True):
        if found.kind is not Kind.SUPERSEDED:
            assert {(e.side, e.text) for e in found.evidence} == {
                ("newer" if e.side == "older" else "older", e.text) for e in turned.evidence
            }


@given(st.lists(st.one_of(texts, joined_texts), min_size=2, max_size=7).flatmap(_in_another_order))
def test_the_order_of_dated_observations_means_nothing(orders: tuple[list[str], list[int]]) -> None:
    given, order = orders
    written = np.datetime64("2026-05-01T00:00:00") + np.arange(len(given)).astype("timedelta64[h]")
    ids = np.array([f"o{row}" for row in range(len(given))])
    there = detect_contradictions({"ids": ids, "content": given, "created_at": written})
    turned = {"ids": ids[order], "content": [given[row] for row in order], "created_at": written[order]}
    assert detect_contradictions(turned) == there


@given(joined_texts, joined_texts)
def test_a_claim_joined_to_another_is_found_as_the_judge_finds_it(one: str, other: str) -> None:
    assert bool(detect_contradictions([one, other])) == contradicts(one, other)


@given(st.lists(texts, max_size=6))
def test_every_finding_shows_words_of_its_texts_and_is_the_same_next_time(given: list[str]) -> None:
    found = detect_contradictions(given)
    assert found == detect_contradictions(given)
    for one in found:
        assert one.older != one.newer
        assert 0 <= one.severity <= 100
        assert 0 < one.overlap <= 1
        for evidence in one.evidence:
            text = given[one.older if evidence.side == "older" else one.newer]
            assert text[evidence.start : evidence.end] == evidence.text
            assert evidence.text.strip()


@given(st.lists(texts, max_size=5))
@example(["Nightly backup was removed from the cluster.", "Since May, Nightly backup runs at 9am."])
@example(["In staging, Nightly backup runs at 9am.", "In staging, Nightly backup was removed from the cluster."])
@example(["Since May, Nightly backup is enabled.", "Since May, Nightly backup is disabled."])
def test_what_is_found_among_many_is_what_two_alone_give(given: list[str]) -> None:
    found = {frozenset(one.ids) for one in detect_contradictions(given)}
    alone = {
        frozenset((left, right))
        for left in range(len(given))
        for right in range(left)
        if given[left] != given[right] and contradicts(given[left], given[right])
    }
    assert found == alone

"""What a text claims, put together from its sentences, against reading the text as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ranking.contradictions.claim import Neighbours
from ranking.contradictions.claims import Read, claims_of
from ranking.contradictions.opposition import DEFAULT_PAIRS, compiled
from ranking.contradictions.sentences import read_sentences
from ranking.contradictions.wholes import Wholes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ranking.contradictions.claim import Word

PIECES = (
    "The cart service", "listens on port", "8080", "is not", "enabled", "uses", "Redis", "and keeps logs for", "2-3",
    "30 days", "cart-3f", "it was moved there", "and runs", "5", "pm", "e.g.", "p.m.", '"open', 'shut"', "it's", "'so",
    "don't", "1/2", "cups", "#4", "me@x.org", "https://x.org/a;b", "- no longer", "-", "$", "but", ", which", ":",
    "def", "return", "()", "etc.", "vs.", "Ben", "?", "3.10", "v2.1.0", "/etc/hosts", "C:\\x", "I", "used to", "—", "–",
)  # fmt: skip
MARKS = (" ", " ", " ", ". ", ".", "! ", "? ", "; ", ";", "\n", ".\n", "\r\n", "\r", " \n", ".\t", "\u00a0", "\0", ", ")
texts = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(MARKS)), min_size=1, max_size=16).map(
    lambda parts: "".join(piece + mark for piece, mark in parts)
)


def _from_sentences(text: str) -> Read:
    return Wholes([text], read_sentences([text], compiled(DEFAULT_PAIRS))).text(0)


def _claimed(read: Read) -> list[tuple[object, ...]]:
    """All that a claim says, with spans counted from the beginning of its text."""

    def span(start: int, end: int, place: int) -> tuple[int, int]:
        return (start + place, end + place)

    def said(words: Mapping[str, Word], place: int) -> list[tuple[object, ...]]:
        return [(word.key, *span(word.start, word.end, place), *word[3:]) for word in words.values()]

    def beside(part: object, place: int) -> object:
        """What a slot says besides its value; words next to it have spans, too."""
        return (said(part.words, place), part.values) if isinstance(part, Neighbours) else part

    return [
        (
            span(*claim.span, place),
            said(claim.words, place),
            [
                (
                    slot.value.key,
                    *span(slot.value.start, slot.value.end, place),
                    *(beside(each, place) for each in slot[1:]),
                )
                for slot in claim.slots
            ],
            [(key, span(*spoken, place)) for key, spoken in claim.said.items()],
            claim.cue and (*span(claim.cue.start, claim.cue.end, place), *claim.cue[2:]),
            [span(*denied, place) for denied in claim.negation],
            *(claim.sequence, claim.retired, claim.instead, claim.asks, claim.marks, claim.scopes, claim.times),
            claim.conditions,
        )
        for place, claim in read.claims
    ]


@given(texts)
@example("The cart service. 30 days The cart service ")
def test_a_text_claims_what_its_sentences_claim(text: str) -> None:
    assert _claimed(_from_sentences(text)) == _claimed(claims_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "The cart service listens on port 8080. It was moved there together with cart-3f.",
        "Requests time out after 200 milliseconds; the mailer retries them twice.",
        "The job is enabled\nand keeps logs for 30 days! Who reads them?",
    ],
)
def test_the_sentences_of_a_plain_text_are_not_read_again(text: str) -> None:
    claims_of.cache_clear()
    assert [place for place, _ in _from_sentences(text).claims][-1] > 0
    assert claims_of.cache_info().misses == 0

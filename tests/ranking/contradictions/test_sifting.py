"""Pairs that are sifted out unread, against reading and judging every one of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.contradictions.claims import read_alone
from ranking.contradictions.classifying import may_agree
from ranking.contradictions.judging import conflict
from ranking.contradictions.kinds import Kinds
from ranking.contradictions.opposition import DEFAULT_PAIRS, compiled
from ranking.contradictions.sentences import read_sentences
from ranking.contradictions.sifting import sift
from tests.ranking.contradiction_pairs import TUNED_ON, labelled_pairs

OPPOSITIONS = compiled(DEFAULT_PAIRS)
THRESHOLD = 0.5
SUBJECTS = (
    "The cart service",
    "cart-3f",
    "Our ledger-ab job",
    "In staging, the mailer",
    "It",
    "Alerts of cart-3f",
    "Ben",
)
SAYS = (
    "listens on port", "uses", "is enabled for", "is disabled for", "does not need", "needs", "no longer uses",
    "moved to", "keeps its logs for", "is called", "is turned on after", "runs on", "is older than", "takes about",
)  # fmt: skip
THINGS = (
    "8080",
    "9090",
    "30 days",
    "two weeks",
    "Redis",
    "Adyen",
    "mailer-9a",
    "the audit queue",
    "it",
    "Monday",
    "5 GB",
)
ENDS = (
    "", " and keeps 3 copies", ", and the worker reads them first", " when the cache is cold", ": Ben owns two nodes",
    ", which is slow", " rather than Postgres", ", and cart-3f is deployed", ", he's glad",
)  # fmt: skip
sentences = st.tuples(*map(st.sampled_from, (SUBJECTS, SAYS, THINGS, ENDS))).map(
    lambda parts: " ".join(parts[:3]) + parts[3] + "."
)


def _sifted_out(texts: list[str]) -> set[tuple[str, str]]:
    """The pairs of sentences of which no stretches are left, whatever kind of conflict they could be."""
    read = read_sentences(texts, OPPOSITIONS)
    left, right = np.triu_indices(len(read.owner), 1)
    apart = read.owner[left] != read.owner[right]
    left, right = left[apart], right[apart]
    kept = sift(read, left, right, Kinds(*[np.ones(len(left), np.bool_)] * len(Kinds._fields)))
    pairs = list(zip(read.owner[left].tolist(), read.owner[right].tolist(), strict=True))
    left_over = {pair for pair, stays in zip(pairs, kept.tolist(), strict=True) if stays}
    return {(read.written[one], read.written[other]) for one, other in set(pairs) - left_over}


def _conflict(one: str, other: str) -> bool:
    return any(
        may_agree(left, right, THRESHOLD) and conflict(left, right, OPPOSITIONS, THRESHOLD) is not None
        for (_, left), (_, right) in product(read_alone(one).claims, read_alone(other).claims)
    )


@settings(max_examples=60)
@given(st.lists(sentences, min_size=2, max_size=12))
@pytest.mark.long
def test_no_pair_that_conflicts_is_sifted_out(texts: list[str]) -> None:
    assert not [pair for pair in _sifted_out(texts) if _conflict(*pair) or _conflict(*reversed(pair))]


def test_no_labelled_pair_that_conflicts_is_sifted_out() -> None:
    for pair in labelled_pairs(*TUNED_ON):
        dropped = _sifted_out([pair.older, pair.newer])
        assert not [sides for sides in dropped if _conflict(*sides)], pair


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cart-3f service listens on port 80.", "The mailer-9a service listens on port 90."),
        ("cart-3f writes its events to the ledger-1a queue.", "cart-3f writes its events to the audit-2b queue."),
        ("The build is cold when the cache is off.", "The build is not cold."),
    ],
)
def test_what_cannot_conflict_is_not_read(one: str, other: str) -> None:
    assert _sifted_out([one, other]) == {(one, other)}

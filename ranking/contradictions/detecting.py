import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, product, repeat

import numpy as np
import numpy.typing as npt

from ranking.columns import instant
from ranking.components import Positions
from ranking.contradictions.classifying import THRESHOLD
from ranking.contradictions.conflicts import Conflict
from ranking.contradictions.findings import Contradiction, Evidence, fingerprint
from ranking.contradictions.opposition import DEFAULT_PAIRS, Oppositions, compiled
from ranking.contradictions.search import near_sentences
from ranking.contradictions.sentences import Sentences, read_sentences
from ranking.contradictions.severity import Severity, domain, frequency, recency
from ranking.contradictions.wholes import Wholes
from ranking.limits import within
from ranking.observations import Given, Observations, read_observations
from ranking.similar import unit_rows

# of a sentence that many observations hold, the newest few speak for all
_COPIES = 8
_MANY = 16
# what a cosine may add to the words' overlap or take from it; alone it decides nothing
_SUPPORT, _CLOSE, _FAR = 0.1, 0.75, 0.25
_DAY_US = 86_400_000_000.0
_NO_DATE = np.iinfo(np.int64).min
Units = npt.NDArray[np.float64] | None
Found = dict[tuple[int, int], Conflict]


def detect_contradictions(
    observations: Given,
    threshold: float = THRESHOLD,
    opposition_pairs: Iterable[tuple[str, str]] = DEFAULT_PAIRS,
    *,
    now: np.datetime64 | None = None,
) -> list[Contradiction]:
    """Every pair of observations whose claims conflict, the most severe first (Rensei, 000: Drift Alerts).

    0.5 of the smaller claim's words must agree, as 000's published peers have it. ``now`` dates the severity; without
    it the newest observation does. Candidates come from an inverted index, so nothing here looks at all pairs.
    """
    within("threshold", threshold, 0, 1)
    seen = read_observations(observations)
    oppositions = compiled(opposition_pairs)
    texts = _texts(seen)
    ages = seen.ages()
    # newest first; rows of one age, or of none, by their order of arrival
    order = np.lexsort((-np.arange(seen.count), -ages.astype(np.float64)))
    ranked = [texts[row] for row in order.tolist()]
    units = unit_rows(seen["embeddings"])[order] if "embeddings" in seen.columns else None
    with _uncollected():
        found = _conflicts(ranked, oppositions, threshold, units)
    return _described(seen, order, ranked, found, now)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Claims hold no cycles: looking for some while thousands are made takes an eighth of the time and finds none."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _texts(seen: Observations) -> list[str]:
    column = seen["content"] if seen.count else []
    texts = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"content: expected a text in every row, found {type(text).__name__} in row {row}")
    return texts


def _sentence_pairs(read: Sentences, threshold: float) -> Iterable[tuple[int, int]]:
    left, right = near_sentences(read, threshold)
    width = np.int64(len(read.written))
    keys = np.unique(np.minimum(left, right) * width + np.maximum(left, right))
    return zip((keys // width).tolist(), (keys % width).tolist(), strict=True)


def _conflicts(texts: list[str], oppositions: Oppositions, threshold: float, units: Units) -> Found:
    least = max(threshold - _SUPPORT, 0.0) if units is not None else threshold
    read = read_sentences(texts, oppositions)
    order = np.argsort(read.sentence, kind="stable")
    bounds = np.searchsorted(read.sentence[order], np.arange(len(read.written) + 1)).tolist()
    rows: list[int] = read.text[order].tolist()
    found: Found = {}
    judged: set[tuple[int, int]] = set()
    wholes = Wholes(texts, read)

    def holders(number: int) -> list[int]:
        return rows[bounds[number] : bounds[number + 1]][:_COPIES]

    def only(number: int) -> int | None:
        row = rows[bounds[number]]
        return row if texts[row] == read.written[number] else None

    for one, other in _sentence_pairs(read, least):
        ones, others = holders(one), holders(other)
        # where both are all of a text, judging the sentences is judging the texts
        alone = ones == [only(one)] and others == [only(other)]
        # sentences are numbered from the newest text on
        if not alone and not wholes.may_conflict(other, one, oppositions, least):
            continue
        for left, right in _speakers(ones, others):
            newer, older = sorted((left, right))
            if newer == older or (newer, older) in judged:
                continue
            judged.add((newer, older))
            needed = _needed(threshold, units, newer, older)
            conflicting = wholes.conflict((older, newer), oppositions, needed)
            if conflicting is not None:
                found[newer, older] = conflicting
    return found


def _speakers(ones: list[int], others: list[int]) -> Iterable[tuple[int, int]]:
    """The texts to compare for two sentences: all that hold them, or each of many with the newest of the other side."""
    if len(ones) * len(others) <= _MANY:
        return product(ones, others)
    return chain(zip(ones, repeat(others[0])), zip(repeat(ones[0]), others[1:]))


def _needed(threshold: float, units: Units, one: int, other: int) -> float:
    """The overlap two observations need: less where their embeddings are close, more where they are far apart."""
    if units is None or not units[one].any() or not units[other].any():
        return threshold
    cosine = float(units[one] @ units[other])
    shift = -_SUPPORT if cosine >= _CLOSE else _SUPPORT if cosine <= _FAR else 0.0
    return min(max(threshold + shift, 0.0), 1.0)


def _described(
    seen: Observations,
    order: Positions,
    texts: list[str],
    found: Found,
    now: np.datetime64 | None,
) -> list[Contradiction]:
    against = Counter(side for pair in found for side in pair)  # a pair is in it once
    dated = "created_at" in seen.columns
    ages = seen.ages()[order]
    latest = int(ages.max(initial=_NO_DATE)) if now is None else int(instant("now", now).view(np.int64))
    weights = seen["weight"][order] if "weight" in seen.columns else None
    ids = order if seen.ids is None else seen.ids[order]
    described = []
    while found:  # taken out one by one: of many, both forms at once would be twice the memory
        (newer, older), conflicting = found.popitem()
        undated = not dated or ages[newer] == _NO_DATE
        parts = Severity(
            recency=None if undated else recency((latest - int(ages[newer])) / _DAY_US),
            domain=domain(texts[older], texts[newer]),
            # whoever contradicts the one stands with the other
            frequency=frequency(against[newer] + against[older]),
            gap=0.0 if weights is None else min(abs(float(weights[newer] - weights[older])), 1.0),
        )
        names = [ids[older], ids[newer]]
        old, new = (int(name) if isinstance(name, np.integer) else name for name in names)
        described.append(
            Contradiction(
                older=old,
                newer=new,
                kind=conflicting.kind,
                evidence=_evidence(conflicting, texts[older], texts[newer]),
                overlap=conflicting.overlap,
                severity=parts.score,
                parts=parts,
                fingerprint=fingerprint((old, texts[older]), (new, texts[newer]), conflicting.kind),
                rule=conflicting.rule,
            )
        )
    return sorted(described, key=lambda one: (-one.severity, one.fingerprint))


def _evidence(conflicting: Conflict, older: str, newer: str) -> tuple[Evidence, ...]:
    return (
        *(Evidence("older", older[start:end], start, end) for start, end in conflicting.left),
        *(Evidence("newer", newer[start:end], start, end) for start, end in conflicting.right),
    )

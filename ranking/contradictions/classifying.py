import re
from enum import StrEnum

from ranking.contradictions.aligning import Aligned, align
from ranking.contradictions.claim import Claim
from ranking.contradictions.claims import Read, claims_of
from ranking.contradictions.conflicts import Conflict
from ranking.contradictions.judging import conflict
from ranking.contradictions.opposition import DEFAULT_PAIRS, Oppositions, Pairs, compiled
from ranking.limits import within

THRESHOLD = 0.5
_RESTATES = 0.5
_WORDS = re.compile(r"[^\W_]+")
_NO_LETTERS = bytes(point for point in range(128) if not _WORDS.match(chr(point)))


class Verdict(StrEnum):
    """What a newer text is to an older one."""

    RESTATEMENT = "restatement"
    UPDATE = "update"
    DISTINCT = "distinct"


def extends(old: str, new: str) -> bool:
    """Whether one text is the other in other case, punctuation and spaces, or goes on where the other ends."""
    if old.isascii() and new.isascii():
        # most differ in their letters already
        letters = [text.encode().lower().translate(None, _NO_LETTERS) for text in (old, new)]
        if not letters[0].startswith(letters[1]) and not letters[1].startswith(letters[0]):
            return False
    one, other = _WORDS.findall(old.casefold()), _WORDS.findall(new.casefold())
    short, long = sorted((one, other), key=len)
    return long[: len(short)] == short or "".join(one) == "".join(other)


def may_agree(one: Claim, other: Claim, threshold: float) -> bool:
    """Whether two claims share enough words to be looked at more closely."""
    smaller = min(len(one.keys), len(other.keys))
    return len(one.keys & other.keys) >= max(1, threshold * (smaller - 1))


def conflict_between(old: str, new: str, oppositions: Oppositions, threshold: float = THRESHOLD) -> Conflict | None:
    """The first conflict between claims of two texts, ``left`` the older's; what both say word for word is settled."""
    return conflict_of(old, new, (claims_of(old), claims_of(new)), oppositions, threshold)


def conflict_of(
    old: str, new: str, claims: tuple[Read, Read], oppositions: Oppositions, threshold: float
) -> Conflict | None:
    """The same for texts whose claims were read already."""
    olds, news = claims[0].claims, claims[1].claims
    for before, one in olds:
        for after, other in news:
            found = conflict(one, other, oppositions, threshold) if may_agree(one, other, threshold) else None
            if found is None:
                continue
            settled = {claim.sequence for _, claim in olds} & {claim.sequence for _, claim in news}
            if one.sequence not in settled and other.sequence not in settled and not extends(old, new):
                return found.moved(before, after)
    return None


def contradicts(one: str, other: str, threshold: float = THRESHOLD, opposition_pairs: Pairs = DEFAULT_PAIRS) -> bool:
    """Whether two texts contradict each other, in either order."""
    within("threshold", threshold, 0, 1)
    oppositions = compiled(opposition_pairs)
    return any(conflict_between(*pair, oppositions, threshold) for pair in ((one, other), (other, one)))


def classify(old: str, new: str, threshold: float = THRESHOLD, opposition_pairs: Pairs = DEFAULT_PAIRS) -> Verdict:
    """Whether the newer text restates the older, updates it (every kind of conflict), or speaks of something else."""
    within("threshold", threshold, 0, 1)
    oppositions = compiled(opposition_pairs)
    if conflict_between(old, new, oppositions, threshold) is not None:
        return Verdict.UPDATE
    return Verdict.RESTATEMENT if _restates(old, new, oppositions) else Verdict.DISTINCT


def _restates(old: str, new: str, oppositions: Oppositions) -> bool:
    olds, news = claims_of(old).claims, claims_of(new).claims
    if extends(old, new):
        return bool(olds and news)
    return any(_says_the_same(one, other, oppositions) for _, one in olds for _, other in news)


def _says_the_same(one: Claim, other: Claim, oppositions: Oppositions) -> bool:
    ended = [claim.cue is not None and claim.cue.retired is None for claim in (one, other)]
    opposed = any(not other.said.keys().isdisjoint(oppositions.against.get(word, ())) for word in one.said)
    # "is not enabled" restates "is disabled", and no claim restates its own denial or end
    if (one.negated != other.negated) != opposed or ended[0] != ended[1]:
        return False
    pair = align(one, other)
    if _of_others(pair):
        return False
    values = len(one.slots) - len(pair.a_slots)
    shared = len(pair.strong) + values
    smaller = min(len(one.strong) + len(one.slots), len(other.strong) + len(other.slots))
    beyond = values or any(not one.words[key].head for key in pair.strong if key in one.words)
    share = shared / smaller if smaller and beyond else 0.0
    # where each side says more, half is as much of one as of the other
    return share > _RESTATES or (share == _RESTATES and not (pair.a_words and pair.b_words))


def _of_others(pair: Aligned) -> bool:
    """Whether each side says what the other does not: of another place or time, with another value or name."""
    names = [any(word.name or word.kind for word in words) for words in (pair.a_words, pair.b_words)]
    apart = pair.a.scopes ^ pair.b.scopes
    return (
        all(names)
        or bool(pair.a_slots and pair.b_slots)
        or bool(pair.a.times and pair.b.times and pair.a.times != pair.b.times)
        or len({group for group, _ in apart}) < len(apart)
    )

from itertools import pairwise

from ranking.contradictions.aligning import Aligned
from ranking.contradictions.claim import Claim
from ranking.contradictions.conflicts import WHEN, Conflict, Kind
from ranking.contradictions.grammar import BE
from ranking.contradictions.lexicon import VERBS, WEAK
from ranking.contradictions.roles import links_of

_NO_LONGER = frozenset({"no", "longer"})
_DENIED = _NO_LONGER | {"not"}
_IS = BE | {"isn't", "aren't"}
_WHEN = frozenset({"before", "after"})
_ALLOWS = frozenset({"able", "may"})
_OVERLAP = 0.6
# words the other side may say beside what ended
_BESIDE = 3


def superseded(pair: Aligned, threshold: float) -> Conflict | None:
    """The conflict between a side that says something ended and one that still says it."""
    if (pair.a.cue is None) == (pair.b.cue is None):
        return None
    if pair.a.cue is None:
        turned = superseded(pair.turned(), threshold)
        return None if turned is None else turned._replace(left=turned.right, right=turned.left)
    over, other, cue = pair.a, pair.b, pair.a.cue
    if other.negated or over.negated or "told" not in other.marks or cue.verb in other.keys or _describes(other, over):
        return None
    if ("past" in other.marks and "past" not in over.marks) or "change" in other.marks:
        # "I was taking them", "I stopped taking them": one story; "Added X", "Removed X": two changes
        return None
    fires = _ended(pair, threshold, exactly=cue.was) if cue.retired is None else _replaced(pair)
    if not fires:
        return None
    still = [(word.start, word.end) for key, word in other.words.items() if key in over.retired]
    shown = (min(start for start, _ in still), max(end for _, end in still)) if still else other.span
    return Conflict(Kind.SUPERSEDED, ((cue.start, cue.end),), (shown,), pair.overlap(), "one side says that it ended")


def _describes(claim: Claim, over: Claim) -> bool:
    """Whether a clause only tells what something is like: "the old laptop is slow" does not say that it is in use.

    Where just that is over, "is no longer slow", it is what was said.
    """
    *_, before, last = ("", "", *claim.sequence)
    word = claim.words.get(str(last))
    inflected = word is not None and word.end - word.start > len(word.key)
    if before not in BE or word is None or word.name or (word.key in VERBS and inflected):
        return False
    said = pairwise(key for key in over.sequence if key not in _DENIED)
    return not any(one in _IS and key == last for one, key in said)


def _ended(pair: Aligned, threshold: float, *, exactly: bool) -> bool:
    """Whether all that is said to have ended is what the other side says, its names and values included."""
    smaller = min(len(pair.a.keys - WEAK), len(pair.b.keys - WEAK)) or 1
    over = [word for word in pair.a_words if word.key not in pair.a.instead]
    lone = smaller == 1 == len(pair.strong) and len(pair.shared) > 1
    return (
        not any(word.name or word.head for word in over)
        # when it ended is nothing that ended
        and all(slot.value.kind in WHEN for slot in pair.a_slots)
        and len(pair.strong) / smaller >= max(_OVERLAP, threshold)
        and (len(pair.strong) > 1 or lone or bool(pair.a.slots) or _word_for_word(pair))
        and len(over) <= (0 if exactly else 1)
        and len(pair.b_words) <= _BESIDE
        and not any(word.head and word.name for word in pair.b_words)
    )


def _word_for_word(pair: Aligned) -> bool:
    """Whether one side says of oneself what the other does, but for the cue: "I'm vegetarian", "no longer"."""
    said = tuple(key for key in pair.a.sequence if key not in _NO_LONGER)
    return "me" in pair.a.marks & pair.b.marks and said == pair.b.sequence


def _replaced(pair: Aligned) -> bool:
    """Whether the other side still says what was replaced, of the same thing, and not what came instead."""
    known = pair.b.keys | {str(slot.value.norm) for slot in pair.b.slots}
    retired = pair.a.retired - WEAK
    if not retired or not retired <= known | pair.shared or (pair.a.instead - retired) & known:
        return False
    beside = [word for word in pair.b_words if word.key not in retired]
    context = pair.shared - retired - WEAK
    only = not pair.b.keys - retired - WEAK
    links = links_of(pair.b)
    if any(not _WHEN.isdisjoint(links.get(key, ())) for key in retired):
        # "instead of the bed" and "before bed" are of two things
        return False
    if "order" in pair.b.marks or not _ALLOWS.isdisjoint(pair.a.marks | pair.b.marks):
        # what may be used in place of another has not replaced it
        return False
    return (bool(context) or only) and len(beside) <= min(len(context) + (len(context) > 1), _BESIDE)

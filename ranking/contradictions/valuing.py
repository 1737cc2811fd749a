from collections.abc import Iterable
from itertools import pairwise

from ranking.contradictions.aligning import Aligned
from ranking.contradictions.claim import Claim, Slot
from ranking.contradictions.conflicts import WHEN, Conflict, Kind
from ranking.contradictions.grammar import RAISED
from ranking.contradictions.lexicon import (
    ATTRIBUTES,
    HOLDS_ONE,
    MOMENTARY,
    OFTEN,
    SEVERAL,
    SEVERAL_NAMES,
    SEVERAL_VERSIONS,
)
from ranking.contradictions.naming import other_name
from ranking.contradictions.roles import linked_alike, same_verb
from ranking.contradictions.stems import stem

# words one side may say beside the value; twice as many where plenty is shared
_BESIDE = 2
_PLENTY = 3
# shared words that numbers under different labels need
_SHARED = 2
# shared words that make one event of two tellings, and words beside a value that make one slot of two
_EVENT = 4
_FRAME = 4
_RAISED = frozenset(map(stem, RAISED))
_LIMITS = frozenset(map(stem, ("limit", "cap", "maximum", "minimum")))
_STATED = frozenset(map(stem, ("version", "release")))
# say when something is done, and so of what is done
_TIMED = WHEN | {"clock", "frequency", "duration"}
_HAVE = stem("have")
_NAMED_VALUES = frozenset({"quoted", "address"})


def valued(pair: Aligned, threshold: float) -> Conflict | None:
    """The conflict between two sides that give one slot different values, or different names."""
    a, b = pair.a, pair.b
    if a.negated != b.negated or "past" in a.marks ^ b.marks or "told" not in a.marks & b.marks:
        return None
    marks, both = a.marks | b.marks, a.marks & b.marks
    if "request" in marks or "change" in marks or "passing" in both or "here" in both:
        return None
    return _other_value(pair, threshold) or other_name(pair, threshold)


def _same_slot(one: Slot, other: Slot, shared: frozenset[str]) -> bool:
    """Whether two different values answer one question."""
    left, right = one.value, other.value
    if (
        left.kind != right.kind
        or left.norm == right.norm
        or left.bound == "range"
        or (left.bound != right.bound and "about" not in (left.bound, right.bound) and not _bounded(one, other, shared))
    ):
        return False
    if left.kind in _NAMED_VALUES:
        return one.label == other.label != ""
    if left.kind != "number":
        return True
    if {one.noun, one.label} & {other.noun} - {""} or (one.noun and one.noun == other.label):
        return True
    return _label(one) == _label(other) != "" and "" in (one.noun, other.noun)


def _label(slot: Slot) -> str:
    """What is named before a value; "the pool size was raised to 40" names the size."""
    if slot.label not in _RAISED:
        return slot.label
    return next((key for key in slot.before if key not in _RAISED), "")


def _bounded(one: Slot, other: Slot, shared: frozenset[str]) -> bool:
    """Whether it is what both speak of that bounds a value, said right beside it or not: "the limit is now 5"."""
    return "" in (one.value.bound, other.value.bound) and not _LIMITS.isdisjoint(shared)


def _other_value(pair: Aligned, threshold: float) -> Conflict | None:
    swaps = [(one, other) for one in pair.a_slots for other in pair.b_slots if _same_slot(one, other, pair.shared)]
    exact = [(one, other) for one, other in swaps if one.noun == other.noun != ""]
    swaps = exact if len(exact) == 1 else swaps
    if len(swaps) != 1 or not pair.strong or pair.overlap() < threshold:
        return None
    one, other = swaps[0]
    if one.value.kind == "number" and _label(one) != _label(other) and len(pair.strong) < _SHARED:
        return None
    once = "event" in pair.a.marks | pair.b.marks
    a_rest = [slot for slot in pair.a_slots if slot is not one]
    b_rest = [slot for slot in pair.b_slots if slot is not other]
    fires = (
        not (
            one.value.kind in _NAMED_VALUES
            and not (
                (not pair.shared & SEVERAL and pair.states_a_thing)
                or (pair.shared & (HOLDS_ONE | ATTRIBUTES) and pair.told_of_a_thing)
            )
        )
        and not (one.value.kind in _NAMED_VALUES and pair.shared & SEVERAL_NAMES)
        and not (once and (len(pair.strong) < _EVENT or one.noun != other.noun or not _counts(one)))
        and (_has_verb(pair) or _same_fragment(pair, one, other))
        and (_agree_beside(pair) or _framed(pair, one, other))
        and not (a_rest and b_rest)
        and not any(slot.value.kind in WHEN or slot.value.kind == one.value.kind for slot in (*a_rest, *b_rest))
        # "in version 2 of the SDK" says which; "is at version 2" says what
        and not (one.which and other.which and not _stated(one) and not _stated(other))
        and not str(one.value.norm).startswith("http")
        and "stranger" not in pair.a.marks | pair.b.marks
        and linked_alike(pair)
        and not _hold_both(pair, one, other)
        and not (one.head and other.head and one.place == 0 == other.place)
        and not of_the_moment(pair)
        and (one.value.kind not in _TIMED or same_verb(pair))
    )
    if not fires:
        return None
    kind = one.value.kind if one.value.kind != "address" else "name"
    left, right = (one.value.start, one.value.end), (other.value.start, other.value.end)
    return Conflict(Kind.VALUE, (left,), (right,), pair.overlap(), f"the same slot holds another {kind}")


def _hold_both(pair: Aligned, one: Slot, other: Slot) -> bool:
    """Whether both values may be meant: a lesson on two days, a train at two hours, two supported versions."""
    often = OFTEN.get(one.value.kind)
    if often is not None:
        said = frozenset(pair.a.sequence) & frozenset(pair.b.sequence)
        taken = _HAVE not in said
        seldom = pair.shared & OFTEN["dated"] or len(pair.strong) < _SHARED + taken
        mine = "me" in pair.a.marks | pair.b.marks and said & OFTEN["mine"] and seldom
        # "Lucia's flight" is one
        owned = any(word.bound for key, word in pair.a.words.items() if key in pair.shared)
        return bool(mine or pair.shared & often) and not owned
    return one.value.kind == "number" and not (one.noun or other.noun) and bool(pair.shared & SEVERAL_VERSIONS)


def _has_verb(pair: Aligned) -> bool:
    """Whether a side says something with a verb, and not only behind a colon."""
    return any("verb" in claim.marks and "listed" not in claim.marks for claim in (pair.a, pair.b))


def _counts(slot: Slot) -> bool:
    return slot.value.kind == "number" and slot.noun != ""


def _same_fragment(pair: Aligned, one: Slot, other: Slot) -> bool:
    """Whether two lines without a verb say the same beside their value, more than one word or before a colon."""
    alike = not (pair.a_words or pair.b_words) and one.label == other.label
    return alike and one.value.kind not in WHEN | {"clock"} and (one.value.bound == "" or len(pair.strong) > _PLENTY)


def of_the_moment(pair: Aligned) -> bool:
    """Whether what is spoken of is only this text's: "the answer" and "the recipe" of another are others."""
    if MOMENTARY.isdisjoint(pair.a.words):
        return False
    heads = {key for claim in (pair.a, pair.b) for key, word in claim.words.items() if word.head}
    return bool(heads) and heads <= MOMENTARY


def _stated(slot: Slot) -> bool:
    """Whether a number that says which one is also what is told: it ends the clause, after "version"."""
    return not slot.head and not slot.after and slot.label in _STATED


def _agree_beside(pair: Aligned) -> bool:
    """Whether the rest of two clauses differs in a detail at most, on one side, and not in the subject."""
    ones, others = _per(pair.a), _per(pair.b)
    if (pair.a_words and pair.b_words) or (ones and others and ones != others):
        return False
    detail = len(pair.a_words) + len(pair.b_words)
    if detail and "order" in pair.a.marks & pair.b.marks:
        return False
    if detail > _BESIDE + _BESIDE * (len(pair.shared) >= _PLENTY):
        return False
    if any(slot.head for slot in (*pair.a_slots, *pair.b_slots)) and (detail or _indexed(pair)):
        return False
    heads = [word for word in (*pair.a_words, *pair.b_words) if word.head]
    # "it" may stand for any subject, where the rest agrees
    vague = pair.a if pair.b_words else pair.b
    return not heads or ("vague" in vague.marks and len(pair.strong) >= _PLENTY)


def _per(claim: Claim) -> set[object]:
    """What a value is counted for: "per user per year"."""
    return {after for before, after in pairwise(claim.sequence) if before == "per"}


def _indexed(pair: Aligned) -> bool:
    return any(slot.which for slot in (*pair.a_slots, *pair.b_slots))


def _framed(pair: Aligned, one: Slot, other: Slot) -> bool:
    """Whether the words right before and after two values are the same, whatever else the clauses say."""
    sides = ((pair.a_words, pair.a_slots), (pair.b_words, pair.b_slots))
    two_subjects = all(any(word.head for word in words) or any(slot.head for slot in slots) for words, slots in sides)
    if two_subjects or not pair.told_of_a_thing:
        return False
    before, after = _agreeing(one.before, other.before), _agreeing(one.after, other.after)
    return before > 0 and before + after >= _FRAME and len(pair.strong) >= _PLENTY and not (one.head or other.head)


def _agreeing(one: Iterable[str], other: Iterable[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count

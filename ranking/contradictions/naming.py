from itertools import pairwise

from ranking.contradictions.aligning import Aligned
from ranking.contradictions.claim import Claim, Word
from ranking.contradictions.conflicts import Conflict, Kind
from ranking.contradictions.lexicon import (
    ATTRIBUTES,
    FINITE,
    HOLDS_ONE,
    NOMINAL,
    ONE_HOLDER,
    SEVERAL,
    SEVERAL_LINKED,
    SEVERAL_NAMES,
)
from ranking.contradictions.roles import links_of
from ranking.contradictions.stems import stem

# more shared words than this make one slot of two, wherever the names stand
_SHARED = 2
_LISTING = frozenset({"and", "or"})
_HAVE, _ANY = stem("have"), frozenset({"a", "an"})
_ALLOWS = frozenset({"able", "may"})
_YOUR = stem("your")
_I_HAVE, _BEEN = stem("i've"), stem("been")
# letters by which a verb's forms are longer than its stem
_ENDING = 3
# places from a subject's noun to what is said of it
_LINK = 3


def other_name(pair: Aligned, threshold: float) -> Conflict | None:
    """The conflict between two sides that differ in one name, in a slot that holds one at a time."""
    if (
        not pair.a_words
        or not pair.b_words
        or (pair.a_slots and pair.b_slots)
        or "event" in pair.a.marks ^ pair.b.marks
    ):
        return None
    ones, others = _run(pair.a_words), _run(pair.b_words)
    if not ones or not others or _abbreviates(ones, others):
        return None
    same_kind = pair.one_kind
    beside = len(pair.a_words) + len(pair.b_words) - len(ones) - len(others)
    without = frozenset(word.key for word in (*ones, *others))
    if beside > same_kind or pair.overlap(without) < threshold or not _swapped(pair, ones, others, same_kind=same_kind):
        return None
    left, right = (ones[0].start, ones[-1].end), (others[0].start, others[-1].end)
    return Conflict(Kind.VALUE, (left,), (right,), pair.overlap(without), "the same slot holds another name")


def _swapped(pair: Aligned, ones: list[Word], others: list[Word], *, same_kind: bool) -> bool:
    """Whether one name stands where the other stood, in a slot that holds one at a time."""
    marks = pair.a.marks | pair.b.marks
    kinds = {word.kind for word in (*ones, *others)} - {""}
    # Postgres and Redis may both be used: they answer different questions
    beside_each_other = len(kinds) > 1 and len(pair.strong) <= 1
    bound = any(word.bound for word in (*ones, *others))
    # "a soldier stands guard in London": one there, another elsewhere
    anyone = "anyone" in marks and not same_kind
    # a heading says nothing, but "Cache: Redis" does
    title = "title" in marks and not (same_kind and "listed" in pair.a.marks & pair.b.marks)
    if title or "stranger" in marks or anyone or bound or beside_each_other or _hold_both(pair, ones, others):
        return False
    names = all(word.name for word in (*ones, *others))
    holder = _says_who(pair) and all(word.name or word.place == 0 for word in (*ones, *others))
    plenty = len(pair.strong) > 1
    if any(word.head for word in (*ones, *others)) and not (same_kind and plenty) and not holder:
        return False
    in_place = ones[0].before == others[0].before and (ones[0].before != "" or same_kind)
    attribute = ones[0].before in ATTRIBUTES and in_place and _follows(pair.a, ones[0]) and _follows(pair.b, others[0])
    if same_kind:
        return in_place or plenty
    if names or holder:
        held = bool(pair.shared & (HOLDS_ONE | ATTRIBUTES)) and pair.told_of_a_thing
        framed = attribute or holder or held or pair.states_a_thing
        return framed and (in_place or holder or len(pair.strong) > _SHARED) and bool(pair.strong)
    # "the cache is shared", "the cache is warm": what it is like, not what it is
    nominal = ones[0].before in NOMINAL or (_listed(pair.a) and _listed(pair.b))
    if not (attribute and nominal) or len(ones) > 1 or len(others) > 1 or pair.a_slots or pair.b_slots:
        return False
    return _closes(pair.a, ones[0]) and _closes(pair.b, others[0])


def _says_who(pair: Aligned) -> bool:
    """Whether both sides say whose something is: "owns", "leads", "manages", but not "the management page"."""
    said = ((pair.a.words.get(key), pair.b.words.get(key)) for key in pair.shared & ONE_HOLDER)
    return any(one and other and _is_verb(one) and _is_verb(other) for one, other in said)


def _is_verb(word: Word) -> bool:
    return word.end - word.start - len(word.key) <= _ENDING


def _hold_both(pair: Aligned, ones: list[Word], others: list[Word]) -> bool:
    """Whether two names may both be meant: what is supported, required or can be done with is often several."""
    if pair.shared & (SEVERAL | SEVERAL_NAMES) or not _ALLOWS.isdisjoint(pair.a.marks | pair.b.marks):
        return True
    if all(_I_HAVE in claim.sequence and _BEEN not in claim.sequence for claim in (pair.a, pair.b)):
        # "I've used", "I've tried": one thing then, another at another time
        return True
    if all(_YOUR in claim.sequence for claim in (pair.a, pair.b)):
        # advice: of whom, only the text around it tells
        return True
    if all(_HAVE in claim.sequence and not _ANY.isdisjoint(claim.sequence) for claim in (pair.a, pair.b)):
        # "I have a cousin named": and another
        return True
    if any(_in_list(claim, words) for claim, words in ((pair.a, ones), (pair.b, others))):
        return True
    links = links_of(pair.a).get(ones[0].key, set())
    return any(SEVERAL_LINKED.get(key) in links for key in pair.shared)


def _in_list(claim: Claim, words: list[Word]) -> bool:
    """Whether a name is one of several: "with Baker and Dacus"."""
    first, last = words[0].key, words[-1].key
    return any(
        (one == last and other in _LISTING) or (other == first and one in _LISTING)
        for one, other in pairwise(claim.sequence)
    )


def _follows(claim: Claim, word: Word) -> bool:
    """Whether a word comes right after the subject's noun, a verb or a colon between them."""
    subject = claim.words[word.before]
    return subject.head and not word.head and word.place - subject.place <= _LINK


def _listed(claim: Claim) -> bool:
    """Whether a clause has no verb, as "cache: redis" has none."""
    return FINITE.isdisjoint(map(str, claim.sequence))


def _closes(claim: Claim, word: Word) -> bool:
    return word.place == max(other.place for other in claim.words.values())


def _run(words: tuple[Word, ...]) -> list[Word]:
    """The words of one name: those that stand side by side, or the only word there is."""
    ordered = sorted(words, key=lambda word: word.place)
    named = [word for word in ordered if word.name or word.kind]
    if not named:
        return ordered if len(ordered) == 1 else []
    apart = any(after.place - before.place > 1 for before, after in pairwise(named))
    return [] if apart else named


def _abbreviates(ones: list[Word], others: list[Word]) -> bool:
    """Whether one name is made of the other's first letters."""
    short, long = sorted((ones, others), key=len)
    return len(short) == 1 < len(long) and short[0].key == "".join(word.key[0] for word in long)

from ranking.contradictions.aligning import Aligned, align
from ranking.contradictions.claim import Claim, Span, Word
from ranking.contradictions.conflicts import WHEN, Conflict, Kind
from ranking.contradictions.lexicon import FINITE, PERSONS
from ranking.contradictions.opposition import Oppositions, are_opposed
from ranking.contradictions.roles import linked_alike, of_one_deed, of_one_doer
from ranking.contradictions.stems import stem
from ranking.contradictions.superseding import superseded
from ranking.contradictions.valuing import of_the_moment, valued

_NEGATION_OVERLAP = 0.75
# words that may stand beside opposed ones
_BESIDE = 2
PLENTY = 3
# letters that one form of a word may have more than another
_ENDING = 3
_NOT_CLAIMED = frozenset({"unreal", "compares"})
# two lines of a log of changes, two texts that each speak of a part of themselves
_OF_THEIR_TEXTS = frozenset({"change", "part", "nameless"})
_SAME_MANNER = frozenset({"may", "other"})
_MANNERS = frozenset({"duty", "able"})
_HEDGES = frozenset(map(stem, ("still", "yet", "really", "exactly", "quite", "too", "always")))
_BARE = frozenset({"not", "no"})
_YOURS = frozenset(map(stem, ("your", "yours", "you")))
_OVER = frozenset({"past", "event"})
_MOMENTS = frozenset({stem("before"), stem("after")})
_ADVERBS = frozenset({stem("always")})
_DIFFERS_AT_ALL = frozenset({"environment", "platform", "tier"})


def conflict(a: Claim, b: Claim, oppositions: Oppositions, threshold: float) -> Conflict | None:
    """How two claims conflict, if they do: a superseding cue first, then opposed words, a negation, another value."""
    if not _comparable(a, b):
        return None
    pair = align(a, b)
    # what "it" is nobody knows in another text, unless the rest tells; two of them may be anything
    vague = len(pair.strong) < PLENTY * (("vague" in a.marks) + ("vague" in b.marks))
    if vague or not (pair.strong or pair.one_kind):
        return None
    if a.cue or b.cue:
        return superseded(pair, threshold) if _one_scope(pair) else None
    opposed = _opposed_words(pair, oppositions)
    if opposed is not None:
        # opposed words beside another difference are a second difference: two things are spoken of
        return _opposed(pair, *opposed, threshold)
    if not _one_scope(pair):
        return None
    return _negated(pair, threshold) or valued(pair, threshold)


def _comparable(a: Claim, b: Claim) -> bool:
    """Whether both claims are made in earnest, of one time and under one condition."""
    if a.asks or b.asks or a.conditions != b.conditions or (a.times != b.times and not _when_it_ended(a, b)):
        return False
    return (
        _OF_THEIR_TEXTS.isdisjoint(a.marks & b.marks)
        and _NOT_CLAIMED.isdisjoint(a.marks)
        and _NOT_CLAIMED.isdisjoint(b.marks)
        and _SAME_MANNER.isdisjoint(a.marks ^ b.marks)
    )


def _when_it_ended(a: Claim, b: Claim) -> bool:
    """Whether only the side that says that something ended tells when: "we dropped it last week"."""
    return bool((a.cue and not b.cue and not b.times) or (b.cue and not a.cue and not a.times))


def _one_scope(pair: Aligned, without: frozenset[str] = frozenset()) -> bool:
    """Whether both sides speak of one environment, platform, tier and part."""
    if pair.a.scopes == pair.b.scopes:
        return True
    one = {scope for scope in pair.a.scopes - pair.b.scopes if scope[1] not in without}
    other = {scope for scope in pair.b.scopes - pair.a.scopes if scope[1] not in without}
    if any(group in _DIFFERS_AT_ALL for group, _ in one | other):
        return False
    return not ({group for group, _ in one} & {group for group, _ in other})


def _opposed_words(pair: Aligned, oppositions: Oppositions) -> tuple[str, str] | None:
    """A word of one side and the word opposed to it on the other, neither said by both."""
    a, b = pair.a.said, pair.b.said
    for word in a:
        for other in oppositions.against.get(word, ()):
            if other in b and other not in a and word not in b:
                return word, other
    for prefixed, plain, turned in ((b, a, False), (a, b, True)):
        for word in prefixed:
            if word.startswith("non") and (bare := word[3:]) in plain and word not in plain:
                return (word, bare) if turned else (bare, word)
    return next(
        ((one.key, other.key) for one in pair.a_words for other in pair.b_words if are_opposed(one.key, other.key)),
        None,
    )


def _opposed(pair: Aligned, word: str, other: str, threshold: float) -> Conflict | None:
    left, right = pair.a.said[word], pair.b.said[other]
    a_words = [one for one in pair.a_words if not _within(one, left)]
    b_words = [one for one in pair.b_words if not _within(one, right)]
    inside = (one.key for one in (*pair.a_words, *pair.b_words) if one not in a_words and one not in b_words)
    without = frozenset({word, other, *inside})
    same_sense = len([1 for span in pair.a.negation if span != left]) % 2 == (
        len([1 for span in pair.b.negation if span != right]) % 2
    )
    short = min(len(pair.a.keys - without), len(pair.b.keys - without)) <= 1
    slots = (*pair.a_slots, *pair.b_slots)
    fires = (
        same_sense
        and "verb" in pair.a.marks | pair.b.marks
        and "told" in pair.a.marks & pair.b.marks
        and bool(pair.strong - without)
        and pair.overlap(without) >= threshold
        and not (a_words and b_words)
        and len(a_words) + len(b_words) <= (1 if short else _BESIDE)
        and not any(one.head for one in (*a_words, *b_words))
        and not _tells_which(pair, left, right)
        and not _other_form(word, other, left, right)
        and ("verb" in pair.a.marks & pair.b.marks or word not in _MOMENTS)
        and "event" not in pair.a.marks | pair.b.marks
        and "stranger" not in pair.a.marks | pair.b.marks
        and not (pair.a_slots and pair.b_slots)
        and not any(slot.head or slot.value.kind in WHEN for slot in slots)
        and not of_the_moment(pair)
        and _one_scope(pair, without)
    )
    if not fires:
        return None
    return Conflict(Kind.OPPOSITION, (left,), (right,), pair.overlap(without), "the two sides use opposed words")


def _tells_which(pair: Aligned, left: Span, right: Span) -> bool:
    """Whether an opposed word only tells which one is spoken of: public endpoints are not the private ones."""
    one, other = _word_at(pair.a, left), _word_at(pair.b, right)
    describes = _describes(pair.a, one), _describes(pair.b, other)
    if all(describes) or not any(describes):
        return all(describes)
    # "is served by an internal proxy" and "an external proxy serves" are of one proxy
    nouns = _after(pair.a, one), _after(pair.b, other)
    return nouns[0] != nouns[1] or nouns[0] is None


def _other_form(word: str, other: str, left: Span, right: Span) -> bool:
    """Whether of one word and its denial one is only what makes so: validating something does not say it is valid."""
    if not (word.endswith(other) or other.endswith(word)):
        return False
    endings = [end - start - len(key) for key, (start, end) in ((word, left), (other, right))]
    return abs(endings[0] - endings[1]) >= _ENDING


def _word_at(claim: Claim, span: Span) -> Word | None:
    return next((word for word in claim.words.values() if _within(word, span)), None)


def _after(claim: Claim, word: Word | None) -> str | None:
    return next((other.key for other in claim.words.values() if word and other.place == word.place + 1), None)


def _describes(claim: Claim, word: Word | None) -> bool:
    """Whether a word is part of the subject and does not end it: "private endpoints", "known issues are"."""
    if word is None or word.key in _ADVERBS:
        return False
    if word.head:
        return word.place + 1 < max(other.place for other in claim.words.values())
    return word.place == 0 and _after(claim, word) is not None and not FINITE.isdisjoint(map(str, claim.sequence[2:3]))


def _within(word: Word, span: Span) -> bool:
    return span[0] <= word.start and word.end <= span[1]


def _negated(pair: Aligned, threshold: float) -> Conflict | None:
    if pair.a.negated == pair.b.negated:
        return None
    apart = (pair.a.marks ^ pair.b.marks) & _MANNERS or _OVER.isdisjoint(pair.a.marks) != _OVER.isdisjoint(pair.b.marks)
    if apart:
        return None
    if not pair.a.negated:
        turned = _negated(pair.turned(), threshold)
        return None if turned is None else turned._replace(left=turned.right, right=turned.left)
    denies, says = pair.a, pair.b
    both, either = denies.marks & says.marks, denies.marks | says.marks
    # nobody is no boy, and no child at all is not some child
    more = [word for word in pair.b_words if not (word.head and "nobody" in denies.marks and _of_a_person(says))]
    of_some = "of some" in denies.marks or ("of some" in says.marks and "none" not in denies.marks)
    # what is denied of less is not denied of more: only the side that affirms may say more
    fires = (
        "verb" in denies.marks | (says.marks if "without" not in denies.marks else frozenset())
        and "told" in both
        and not pair.a_words
        and not pair.a_slots
        and len(more) <= 1 + ("stranger" in both)
        and not any(word.head or word.name for word in more)
        and not any(slot.head or slot.value.kind in WHEN for slot in pair.b_slots)
        and all(len(claim.keys) + len(claim.slots) > 1 for claim in (denies, says))
        and not of_some
        and not of_the_moment(pair)
        and not ("stranger" in either and _of_others(pair))
        and pair.overlap() >= max(_NEGATION_OVERLAP, threshold)
        and not _said_in_passing(pair)
        and linked_alike(pair)
        and of_one_doer(pair)
        and of_one_deed(pair)
    )
    if not fires:
        return None
    left, right = denies.negation[0], _denied(says, denies)
    return Conflict(Kind.NEGATION, (left,), (right,), pair.overlap(), "one side denies what the other says")


def _of_a_person(claim: Claim) -> bool:
    return any(word.head and word.key in PERSONS for word in claim.words.values())


def _of_others(pair: Aligned) -> bool:
    """Whether a denial of strangers may be of other ones: counted otherwise, or with more said of them."""
    denies, says = pair.a, pair.b
    return "without" in denies.marks or (
        bool(denies.slots) and bool(pair.b_words or len(says.slots) != len(denies.slots))
    )


def _said_in_passing(pair: Aligned) -> bool:
    """Whether the denial, on the left, is a line of a list or what somebody says of himself in other words."""
    denies, says = pair.a, pair.b
    # "no one" is read as one word
    rest = denies.sequence[1 if "nobody" in denies.marks else 2 :]
    if not _BARE.isdisjoint(denies.sequence[:1]) and FINITE.isdisjoint(map(str, rest)):
        # "not getting enough sleep", "no requirement to pay"
        return True
    if "me" not in denies.marks | says.marks:
        return False
    ones, others = frozenset(denies.sequence), frozenset(says.sequence)
    # "I still don't see the point", "I see your point"
    other = bool((ones | others) & _HEDGES) or bool((ones ^ others) & _YOURS)
    return "me" not in denies.marks & says.marks or bool(pair.b_words) or other


def _denied(says: Claim, denies: Claim) -> Span:
    """The word that is denied: the first shared one after the negation."""
    at = denies.negation[0][0]
    after = [word for word in denies.words.values() if word.start > at and word.key in says.words]
    word = says.words[min(after, key=lambda w: w.start).key] if after else next(iter(says.words.values()))
    return (word.start, word.end)

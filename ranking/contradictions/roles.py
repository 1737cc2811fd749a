"""Who does what to whom, and where: claims of the same words may still be of another deed."""

from ranking.contradictions.aligning import Aligned
from ranking.contradictions.claim import Claim
from ranking.contradictions.lexicon import SAME_LINK, VERBS, WEAK
from ranking.contradictions.stems import stem

Links = dict[str, set[str]]
# under which the links are kept that no word follows: "playing outside"
_LAST = ""
_THERE = stem("there")
_PASSIVE = frozenset({"by", "in", "on"})


def links_of(claim: Claim) -> Links:
    """For every word the prepositions between it and the word before, those of one sense as one."""
    links: Links = {}
    open_links: set[str] = set()
    for key in claim.sequence:
        if not isinstance(key, str):
            open_links = set()
        elif key in SAME_LINK:
            open_links.add(SAME_LINK[key])
        elif key in claim.words:
            links.setdefault(key, open_links)
            open_links = set()
    return links | {_LAST: open_links}


def linked_alike(pair: Aligned) -> bool:
    """Whether no shared word stands behind one preposition here and behind another there: to Berlin, from Berlin."""
    if len(pair.a.sequence) == len(pair.b.sequence):
        # most pairs differ in what is compared alone
        apart = {
            key for both in zip(pair.a.sequence, pair.b.sequence, strict=True) if both[0] != both[1] for key in both
        }
        if apart.isdisjoint(SAME_LINK) and apart.isdisjoint(pair.shared):
            return True
    ones, others = links_of(pair.a), links_of(pair.b)
    return all(ones[key] <= others[key] or ones[key] >= others[key] for key in ones.keys() & others.keys())


def _subject(claim: Claim) -> set[str]:
    heads = {key for key, word in claim.words.items() if word.head}
    if heads or not claim.words:
        return heads
    first, *rest = sorted(claim.words.values(), key=lambda word: word.place)
    # "there is no dog chasing a ball"; "auth depends on billing" orders nothing
    verb = rest[0] if rest and first.place == 0 and rest[0].place == 1 else None
    named = verb is not None and verb.key in VERBS and verb.end - verb.start > len(verb.key)
    unknown = first.place == 0 and "order" not in claim.marks
    return {first.key} if named or unknown or claim.sequence[:1] == (_THERE,) else heads


def of_one_doer(pair: Aligned) -> bool:
    """Whether what one side tells of A and B the other does not tell of B and A; said in the passive it is the same."""
    ones, others = _subject(pair.a) & pair.shared, _subject(pair.b) & pair.shared
    if ones <= others or others <= ones:
        return True
    return _behind(pair.b, ones - others) != _behind(pair.a, others - ones)


def _behind(claim: Claim, keys: set[str]) -> bool:
    """Whether one of these words stands behind a preposition that a passive has before its doer or its place."""
    links = links_of(claim)
    return any(not _PASSIVE.isdisjoint(links.get(key, ())) for key in keys)


def of_one_deed(pair: Aligned) -> bool:
    """Whether the sides do not differ in verbs that say little: sitting is not standing."""
    return not (_said_weakly(pair.a, pair) and _said_weakly(pair.b, pair))


def same_verb(pair: Aligned) -> bool:
    """Whether no side has a verb of its own where the other has one that says little: backups run, are verified."""
    sides = ((pair.a_words, pair.b), (pair.b_words, pair.a))
    return not any(
        any(word.key in VERBS and not word.head for word in words) and _said_weakly(other, pair)
        for words, other in sides
    )


def _said_weakly(claim: Claim, pair: Aligned) -> bool:
    weak = (word for key, word in claim.words.items() if key in WEAK and key not in pair.shared)
    return any(not word.head for word in weak)

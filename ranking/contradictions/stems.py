from functools import lru_cache

from ranking.contradictions.word_lists import by_group

_IRREGULAR = by_group("irregular")
# one thing under several names, and words of one meaning for a slot
_SAME = by_group("same")
_SHORT = 3
_VOWELS = "aeiou"
# what must be left of a word, or be there, for an ending to be one
_BEFORE_IES, _BEFORE_SUFFIX, _BEFORE_AT = 2, 4, 4
HEAD = 5


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) - len("ies") >= _BEFORE_IES:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _untensed(word: str) -> str:
    """Without -ing or -ed, and without the letter doubled for it."""
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _SHORT and any(letter in "aeiouy" for letter in rest):
            doubled = len(rest) > _SHORT and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word


def _unsuffixed(word: str) -> str:
    if word.endswith("ically"):
        word = word[:-4]
    for ending in ("ment", "ation", "ion", "ly"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _BEFORE_SUFFIX:
            return rest
    return word


def _plain(word: str) -> str:
    """A light stem: enough that number, tense and the commonest endings of one word fall together."""
    if len(word) <= _SHORT:
        return word
    bare = _singular(word)
    word = _unsuffixed(_untensed(bare))
    if word.endswith("ate") and len(word) - len("ate") >= _BEFORE_AT:
        word = word[:-3]
    elif word != bare and word.endswith("at") and len(word) - len("at") >= _BEFORE_AT and word[-3] not in _VOWELS:
        word = word[:-2]
    if word.endswith("e") and len(word) > _SHORT:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > _SHORT else word


_SAME_STEMS = {_plain(name): _plain(first) for name, first in _SAME.items()}


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The form under which a lower-case word is compared: one for its inflections and for its usual other names."""
    word = _SAME.get(word, word)
    plain = _plain(_IRREGULAR.get(word, word))
    return _SAME_STEMS.get(plain, plain)


def alike(one: str, other: str) -> bool:
    """Whether two stems are forms of one name: five leading letters in common and one the head of the other."""
    if one[:HEAD] != other[:HEAD] or len(one) < HEAD or len(other) < HEAD:
        return False
    return one.startswith(other) or other.startswith(one)

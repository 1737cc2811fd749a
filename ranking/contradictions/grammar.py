from itertools import pairwise

from ranking.contradictions.claim import Slot, Word
from ranking.contradictions.facts import SHORTEST, Facts, facts
from ranking.contradictions.lexicon import FINITE, INDEFINITE, NOUNS_TOO, STOP, STRANGERS
from ranking.contradictions.measures import NUMBERS
from ranking.contradictions.reading import Token
from ranking.contradictions.stems import stem
from ranking.contradictions.values import VALUE_STARTS
from ranking.contradictions.word_lists import words

BE = words("be")
_HAVE = BE | words("perfect")
BEFORE_NOUN = words("before_noun")
# what is changed to a value has it since
RAISED = words("raised")
_BEFORE_VERB = words("before_verb")
_OBJECT_STARTS = words("object_starts")
_WHOSE = frozenset({"my", "our", "his", "her", "their"})
# what is counted where nothing follows: "we have 20 dozen", "we met twice"
_UNCOUNTED = {"dozen": "dozen", "twice": stem("time")}
_COUNTED_TOO = frozenset({"new", "different"})
# how far before a form its auxiliary may stand, and how long a noun may be
_PERFECT = 3
_NOUN = 3
# words from somebody to what he is doing
_SCENE = 4


def happened(lowers: list[str], at: int, known: Facts) -> bool:
    """Whether a past form is a simple past: told of once, so another telling may be of another time."""
    before = lowers[max(at - _PERFECT, 0) : at]
    if holds_since(lowers, at):
        return False
    if known.word == "got":
        # "got approved" and "got my best score" are what one is or has since
        following, *_ = (*lowers[at + 1 :], "-")
        return following in {"a", "an"} or following[0].isdigit()
    if not known.word.endswith("ed"):
        return at + 1 < len(lowers) and not any(word in _HAVE for word in before[-2:])
    # "a signed note", "retains deleted lines": what something is like
    following, *_ = (*lowers[at + 1 :], "")
    like = bool(before) and (before[-1] in BEFORE_NOUN or (before[-1].endswith("s") and _is_content(following)))
    return at > 0 and not like and not any(word in _HAVE or word.endswith("ly") for word in before)


def holds_since(lowers: list[str], at: int) -> bool:
    """Whether what was done here tells how it is since: "was raised to 10", "we raised the limit to 10"."""
    if at >= len(lowers) or lowers[at] not in RAISED:
        return False
    return any(word == "to" and _is_value(following) for word, following in pairwise(lowers[at + 1 :]))


def _is_value(word: str) -> bool:
    return word in VALUE_STARTS or not word[0].isalpha()


def _is_content(word: str) -> bool:
    """Whether a word is neither grammar nor a number."""
    return word.isalpha() and not facts(word).stop and word not in NUMBERS


def means_to(lowers: list[str], at: int) -> bool:
    """Whether a word of plans and wishes speaks of one: "is going to", "plans to", but not "two payment plans"."""
    to = lowers[at + 1 : at + 2] == ["to"]
    if lowers[at] == "going":
        return to and at > 0 and lowers[at - 1] in BE
    return to or lowers[at] != "plans"


def is_verb(lowers: list[str], at: int, known: Facts) -> bool:
    """Whether a word that may be a verb is one here: inflected after a subject, or opening an order."""
    if at == 0 and known.word.endswith("ing"):
        return False
    if at == 0:
        return len(lowers) == 1 or (lowers[1] not in FINITE and not verb_follows(lowers))
    before = lowers[at - 1]
    if before in BEFORE_NOUN:
        return False
    surely = known.inflected or known.event or known.key not in NOUNS_TOO
    return surely or before in _BEFORE_VERB or before.endswith("s")


def verb_at(lowers: list[str], at: int) -> bool:
    """Whether the word here is a verb told of one thing: "PR 12 fixes"."""
    return at < len(lowers) and facts(lowers[at]).verb and lowers[at].endswith("s")


def verb_follows(lowers: list[str]) -> bool:
    """Whether a plural with a verb of its own comes later: "refresh tokens expire" orders nothing."""
    for before, word in pairwise(lowers[1:]):
        known = facts(word)
        if before.endswith("s") and known.verb and known.key not in NOUNS_TOO and not word.endswith("ing"):
            return True
    return False


def ends_subject(tokens: list[Token], at: int, known: Facts) -> bool:
    """Whether a word we do not know as a verb is one: inflected, and an object begins right after it."""
    if at == 0 or not known.third or at + 1 >= len(tokens):
        return False
    following = tokens[at + 1]
    starts = following.kind == "number" or following.lower in _OBJECT_STARTS
    return starts and tokens[at - 1].lower not in BEFORE_NOUN


def reads_as_sentence(words: dict[str, Word], slots: list[Slot]) -> bool:
    """Whether a clause without a verb we know says something: no heading, no line of a list."""
    large = sum(word.name for word in words.values())
    return 2 * large < len(words) and not (slots and slots[0].place == 0)


def of_strangers(lowers: list[str], words: dict[str, Word]) -> bool:
    """Whether a clause is of a man, two dogs, some people: of nobody known."""
    if lowers[:2] == ["i", "have"] and not NUMBERS.keys().isdisjoint(lowers[2:3]):
        # "I have two kids"
        return False
    if lowers[0] in INDEFINITE and any(
        word in BE and following.endswith("ing") for word, following in pairwise(lowers)
    ):
        return True
    if STRANGERS.isdisjoint(words):
        return False
    who = next((at for at, word in enumerate(lowers) if facts(word).key in STRANGERS), len(lowers))
    if who == 0 and lowers[0].endswith(("s", "men")):
        # "firefighters put out a fire"
        return True
    if any(word in BE and following.endswith("ing") for word, following in pairwise(lowers[who + 1 : who + _SCENE])):
        # "the chef is cooking": a scene, whoever says "the"
        return True
    # "a signed note" holds no sign
    met = (word for key, word in words.items() if key in STRANGERS)
    first = next((word for word in met if not lowers[word.place].endswith(("ed", "ing"))), None)
    return first is not None and not INDEFINITE.isdisjoint(lowers[: first.place])


def _of_theirs(tokens: list[Token]) -> bool:
    """Whether two tokens say that what follows is counted, some of all: "of my", "of Emma's"."""
    _, whose, *_ = (*(token.lower for token in tokens), "", "")
    return tokens[:1] != [] and tokens[0].lower == "of" and (whose in _WHOSE or whose.endswith("'s"))


def counted_noun(tokens: list[Token], at: int) -> str:
    """What is counted: up to three plain words after a number, before grammar begins, as stems."""
    before = tokens[at - 1].lower if at else ""
    if _of_theirs(tokens[at : at + 2]):
        # "three of Emma's recipes"
        at += 2
    nouns: list[str] = []
    for place, token in enumerate(tokens[at : at + _NOUN], at + 1):
        stop = token.lower in STOP
        if token.kind != "word" or token.lower in FINITE or (stop and token.lower not in _COUNTED_TOO):
            break
        known = facts(token.lower)
        if known.verb and (nouns or (known.inflected and known.key not in NOUNS_TOO)):
            break
        if token.lower.endswith("ed") and (place >= len(tokens) or tokens[place].lower in STOP):
            # "20 dozen stocked up in the fridge"
            break
        if not stop:
            nouns.append(known.key)
    return " ".join(nouns) or _UNCOUNTED.get(before, "")


def written_as_name(token: Token, *, first: bool) -> bool:
    """Whether a word is written as names are: large letters inside it, or at its head where no clause begins."""
    text = token.text
    if len(text) < SHORTEST or text.islower():
        return False
    if text[1:] != text[1:].lower():
        return "'" not in text and "\u2019" not in text
    return text[0].isupper() and not first

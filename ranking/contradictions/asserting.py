"""Whether a clause says in earnest how something is: not a wish, a check, a belief, a recipe or one day's event."""

from collections.abc import Iterator
from itertools import pairwise, takewhile

from ranking.contradictions.facts import facts
from ranking.contradictions.grammar import verb_follows
from ranking.contradictions.lexicon import CHANGES, FINITE, TEXT_PARTS, WEAK
from ranking.contradictions.word_lists import words

# words after "not" that make it deny nothing, or less than the clause
_NOT_A_DENIAL = frozenset({"only", "just", "mention", "least"})
_NOT_YET = frozenset({"yet", "sure", "certain", "necessarily"})
_HARDLY = frozenset({"exactly", "entirely", "really", "quite", "very", "totally", "completely", "so", "too"})
_NOT_NO = frozenset({",", "one", "matter", "problem"})
# at a clause's head, or after "there is", these deny something of all there are
_NONE = frozenset({"no", "nobody", "none"})
_BEFORE_NONE = frozenset({"there", "is", "are", "was", "were"})
_BELIEVED = words("believed")
_UNTRUE = words("untrue")
_CHECKS = words("checks")
_BEFORE_ORDER = words("before_order")
_OBJECT, _AFTER_ORDER = words("order_objects"), words("after_order")
_ASKS_FOR = words("asks_for")
_DAYS = frozenset({"today", "tonight", "yesterday", "tomorrow"})
_HERE = frozenset({"here", "here's"})
# words before "here", as in "Sure, here are"
_ASIDE = 3
_NOW = frozenset({("current", "date"), ("current", "time"), ("today's", "date")})
_LATEST = frozenset({"last", "this"})
_PARTS_OF_DAY = frozenset({"morning", "afternoon", "evening", "night", "weekend"})
_ANY = frozenset({"a", "an"})
_AFTER_VERB = _OBJECT | _AFTER_ORDER
# what follows one of these only tells more of what a change was made to
_DETAILS = frozenset({",", "(", "which", "that", "who", "because", "so", "since"})
_TOPICS = words("topics")
_THIS = frozenset({"this", "these", "such"})
_SPECIFIED = words("specified")
# of a clause's first words, those among which what it speaks of is pointed at
_POINTED = 5
_DETERMINERS = _THIS | {"the", "a", "an", "any"}
_POINTING = _THIS | _SPECIFIED
# a clause that one of the rules below finds holds one of these
_TELLING = (
    (_BELIEVED | _UNTRUE | _CHECKS | _DAYS | _LATEST | _HERE)
    | {"make", "let", "let's", "e.g.", "current", "today's", "looking", ":"}
)  # fmt: skip
# so far after an order's verb no other verb is expected
_NEAR = 4


def denies_nothing(word: str, following: str) -> bool:
    """Whether a negation before such a word is none: "not only", "no matter"."""
    idle = following in _NOT_A_DENIAL or (word == "not" and following == "like")
    return idle or (word == "no" and following in _NOT_NO)


def denied_of_all(lowers: list[str], at: int) -> set[str]:
    """The marks of a denial at a clause's head: of all there are, and of everybody ("nobody", "no one")."""
    word, following, *_ = (*lowers[at : at + 2], "")
    if word not in _NONE or not _BEFORE_NONE.issuperset(lowers[:at]):
        return set()
    return {"none", "nobody"} if word == "nobody" or (word, following) == ("no", "one") else {"none"}


def doubts(following: str, after: str) -> bool:
    """Whether what follows a negation makes it a doubt: "not yet", "not exactly sure"."""
    return following in _NOT_YET or (following in _HARDLY and after in _NOT_YET)


def manners_of(lowers: list[str]) -> set[str]:
    """The marks of a clause that is no plain claim: unreal, asked for, of one day, of anyone, of nothing named."""
    first = lowers[0]
    marks = {"anyone"} if first in _ANY else set()
    if not _POINTING.isdisjoint(lowers[:_POINTED]):
        marks |= _pointed(lowers)
    if facts(first).key in CHANGES and _reports(lowers):
        marks.add("change")
    elif first.endswith("ly") and _tells_how(lowers):
        marks.add("nameless")
    if _may_order(lowers):
        marks |= {mark for mark, holds in _OPENINGS if holds(lowers)}
    if not _TELLING.isdisjoint(lowers):
        marks |= {mark for mark, holds in _HOLDINGS if holds(lowers)}
    return marks


def _may_order(lowers: list[str]) -> bool:
    """Whether a clause may begin with a verb: before an object or a number, or after "please"."""
    second = lowers[1] if len(lowers) > 1 else ""
    return second in _AFTER_VERB or second[:1].isdigit() or lowers[0] in _BEFORE_ORDER


def _names_nothing(lowers: list[str]) -> bool:
    """Whether a clause begins with a verb told of something it does not name: "offers a 30-day trial"."""
    return lowers[0].endswith("s") and facts(lowers[0]).verb and not _OBJECT.isdisjoint(lowers[1:2])


def _tells_how(lowers: list[str]) -> bool:
    """Whether after such a word a clause says what is done, and not by what: "synchronously copies the file"."""
    return len(lowers) > 1 and facts(lowers[1]).verb


def _pointed(lowers: list[str]) -> set[str]:
    """Whether a clause is of what only its own text tells: "this variable", "the following example"."""
    first, second, *_ = (*lowers, "")
    if second in _SPECIFIED and first in _DETERMINERS:
        return {"here", "part"}
    if any(word in _THIS and facts(after).key in TEXT_PARTS for word, after in pairwise(lowers[: _POINTED + 1])):
        return {"here", "part"}
    return {"here"} if first in _THIS and second not in FINITE and facts(second).key not in WEAK else set()


def _reports(lowers: list[str]) -> bool:
    """Whether a clause tells what one change did, as a log of changes has it: "update undici to 6", "Removed flags"."""
    verb, following, *_ = (*lowers, "")
    if facts(verb).key not in CHANGES or verb.endswith("ing") or not following or following in FINITE:
        return False
    if verb.endswith("ed"):
        return True
    told = list(takewhile(lambda word: word not in _DETAILS, lowers))
    # "updates need two approvals", "patch releases ship monthly"
    return FINITE.isdisjoint(told) and not verb_follows(told)


def _supposed(lowers: list[str]) -> bool:
    """Whether what a clause says is only thought, checked, denied as untrue, or proposed with "let's"."""
    if lowers[0] == "let's" or lowers[:2] == ["let", "us"] or "e.g." in lowers:
        return True
    for at, (word, following) in enumerate(pairwise(lowers)):
        if following == "that" and (word in _BELIEVED or word in _UNTRUE or word in _CHECKS):
            return True
        told = not FINITE.isdisjoint(lowers[at + 2 :])
        if told and (word in _BELIEVED or (word, following) == ("make", "sure")):
            return True
        if told and word in _CHECKS and set(lowers[:at]) <= _BEFORE_ORDER:
            return True
    return False


def _passing(lowers: list[str]) -> bool:
    """Whether a clause tells of the day on which it is said: another text's today is another day."""
    return not _DAYS.isdisjoint(lowers) or any(
        (word in _LATEST and following in _PARTS_OF_DAY) or (word, following) in _NOW
        for word, following in pairwise(lowers)
    )


def _requests(lowers: list[str]) -> bool:
    """Whether a clause asks for something, or orders it after a colon: ten names today, twenty tomorrow."""
    if not _HERE.isdisjoint(lowers[:_ASIDE]) or ("looking", "for") in pairwise(lowers):
        return True
    return any(_orders_once(rest) for rest in _after_colons(lowers))


def _reports_of(lowers: list[str]) -> bool:
    """Whether a change is reported of what stands before a colon: "deps: update undici to 6"."""
    if lowers[0] in _TOPICS and lowers[1:2] == [":"] and len(lowers) > _NEAR and FINITE.isdisjoint(lowers):
        return True
    return any(_reports(rest) for rest in _after_colons(lowers) if rest)


def _after_colons(lowers: list[str]) -> Iterator[list[str]]:
    return (lowers[at + 1 :] for at, word in enumerate(lowers) if word == ":")


def _orders_once(lowers: list[str]) -> bool:
    """Whether words begin with an order that is done once: asked of a writer or a cook, or by a verb unknown here."""
    while lowers and lowers[0] in _BEFORE_ORDER:
        lowers = lowers[1:]
    verb, *rest = lowers or [""]
    if not rest or not FINITE.isdisjoint(rest[:_NEAR]):
        return False
    if verb in _ASKS_FOR:
        return rest[0] in _OBJECT or rest[0] in _AFTER_ORDER or rest[0][0].isdigit()
    known = facts(verb)
    unknown = verb.isalpha() and not (
        known.verb or known.key in WEAK or known.stop or known.inflected or verb.endswith("ly")
    )
    return unknown and rest[0] in _OBJECT


_OPENINGS = (("request", _orders_once), ("vague", _names_nothing), ("nameless", _names_nothing))
_HOLDINGS = (("unreal", _supposed), ("request", _requests), ("passing", _passing), ("change", _reports_of))

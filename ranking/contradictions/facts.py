from functools import lru_cache
from typing import NamedTuple

from ranking.contradictions.lexicon import (
    ABLE,
    AMBIGUOUS,
    BEFORE_TO,
    CONDITIONS,
    DUTY,
    FINITE,
    KIND,
    NEGATORS,
    OTHER_PEOPLE,
    PAST,
    QUANTIFIERS,
    RELATIVE_TIMES,
    SCOPES,
    STAND_INS,
    STOP,
    TIMES,
    UNREAL,
    VERBS,
    is_verb_form,
)
from ranking.contradictions.stems import stem
from ranking.contradictions.values import VALUE_STARTS
from ranking.contradictions.word_lists import words

VAGUE = frozenset({"it", "they", "this", "that", "these", "those"})
PAST_FORMS = words("past_forms")
# what a word says of its claim wherever it stands
_MARKS = {
    "duty": DUTY,
    "able": ABLE,
    "past": PAST,
    "me": frozenset({"you", "your", "you've", "you're"}),
}
# words that the reader of a clause looks at for one rule or another
PARTICLES = frozenset({"on", "off", "up", "down"})
PERSONAL = frozenset({"i", "i'm", "i've", "here", "let"})
_MANNERS = BEFORE_TO | STAND_INS | {"than", "as"}
_ACTS = PARTICLES | PERSONAL | BEFORE_TO | QUANTIFIERS | VALUE_STARTS | {"than", "as"}
# written large and not first, the language and not the verb
GO, LANGUAGE = "Go", "golang"
# one letter names nothing
SHORTEST = 2
# far fewer than a language has: what is not remembered is worked out again
_REMEMBERED = 1 << 17


class Facts(NamedTuple):
    """What a lower-case word is, wherever it stands."""

    word: str
    key: str
    stop: bool
    negator: bool
    condition: bool
    unreal: bool
    may: bool
    marks: frozenset[str]
    finite: bool
    verb: bool
    inflected: bool
    third: bool
    event: bool
    other_person: bool
    vague: bool
    stands_in: bool
    time: bool
    relative_time: bool
    scope: str
    kind: str
    always_name: bool
    manner: bool
    plain: bool


@lru_cache(maxsize=_REMEMBERED)
def facts(word: str) -> Facts:
    """Look a lower-case word up once."""
    word = word.removesuffix("'s").removesuffix("'")
    key = stem(word)
    contracted = "'" in word and word.partition("'")[0] in STOP
    manners = word == "may" or word in UNREAL or word in DUTY or word in ABLE
    known = Facts(
        word=word,
        key=key,
        stop=word in STOP or len(word) < SHORTEST or contracted or manners,
        negator=word in NEGATORS or word.endswith("n't"),
        condition=word in CONDITIONS,
        unreal=word in UNREAL,
        may=word == "may",
        marks=frozenset(mark for mark, marking in _MARKS.items() if word in marking),
        finite=word in FINITE or word.endswith("n't"),
        verb=is_verb_form(word, key),
        inflected=word.endswith(("s", "ed")),
        third=word.endswith("s") and not word.endswith(("ss", "us", "is")),
        event=word in PAST_FORMS or (word.endswith("ed") and key in VERBS and key != word),
        other_person=word in OTHER_PEOPLE,
        vague=word in VAGUE,
        stands_in=word in STAND_INS,
        time=word in TIMES,
        relative_time=word in RELATIVE_TIMES,
        scope=SCOPES.get(word, ""),
        kind=KIND.get(word, ""),
        always_name=word in KIND and word not in AMBIGUOUS,
        manner=manners or word in _MANNERS or any(word in marking for marking in _MARKS.values()),
        plain=False,
    )
    return known._replace(plain=_is_plain(known))


def _is_plain(known: Facts) -> bool:
    """Whether a word does nothing to its clause but be said there."""
    roles = (
        known.negator or known.condition or known.unreal or known.may or known.marks or known.finite or known.event
        or known.other_person or known.vague or known.stands_in or known.time or known.relative_time
    )  # fmt: skip
    return not roles and len(known.word) >= SHORTEST and known.word not in _ACTS and known.key != "fail"

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from ranking.contradictions.facts import facts
from ranking.contradictions.lexicon import STOP
from ranking.contradictions.reading import Token
from ranking.contradictions.word_lists import words

_DASHES = frozenset({"-", "--", "—", "–"})
# words that open a clause which only a comma parts from the one before
OPENERS = words("clause_openers")
GOES_ON = frozenset({"including", "especially"})
SPEAKERS = words("speakers")
STARTS = SPEAKERS | words("clause_starts")
AFTER_ASIDE = frozenset({"i", "i'm", "i've", "we", "we've", "they're", "it's", "he's", "she's"})
# a speaker with a verb
_SPOKEN = frozenset({"i'm", "i've", "we're", "we've"})
_ASIDES = frozenset({"to", "speaking", "by"})
QUESTIONS = frozenset({"how", "what", "why", "who", "whose"})
AUXILIARIES = words("auxiliaries")
SUBJECTS = words("subjects")
ASKING = QUESTIONS | AUXILIARIES | {"do"}
_INTRODUCES = words("introduces")
# words that may part clauses wherever they stand
_JOINS = frozenset({"and", "but", "where"})
OWNERS = frozenset({"the", "our", "my", "your", "this", "these", "those", "all", "each", "every"})
_CASES = words("cases")
# how many tokens no aside has, and how many words of its own a clause needs after a colon or a dash
_LONG_ASIDE = 5
CLAUSE = 4


class Clause(NamedTuple):
    """Tokens of one claim, whether they ask, and whether they go on with the subject of the clause before.

    ``told_of`` marks what is told of a bug or a case and so not claimed: "fixed a bug where retries were disabled".
    """

    tokens: list[Token]
    asks: bool
    goes_on: bool
    told_of: bool = False


def is_verb_form(token: Token) -> bool:
    """Whether a word can be a clause's verb as it is written."""
    if token.kind != "word":
        return False
    known = facts(token.lower)
    return known.finite or (known.inflected and known.verb)


def _stands_alone(tokens: list[Token], at: int) -> bool:
    """Whether what follows a colon or a dash is a clause of its own: long enough, or with a speaker and a verb."""
    if tokens[at : at + 1] and tokens[at].lower in _SPOKEN:
        return True
    content, verb = 0, False
    for token in tokens[at:]:
        if token.kind == "stop":
            break
        content += token.kind == "word" and token.lower not in STOP
        verb = verb or is_verb_form(token)
    return content >= CLAUSE and verb


def asks(tokens: list[Token]) -> bool:
    """Whether a clause is put as a question, whatever sign ends its sentence."""
    if len(tokens) <= 1:
        return False
    first, second = tokens[0].lower, tokens[1].lower
    return (
        first in QUESTIONS
        or (first in AUXILIARIES and second in SUBJECTS)
        or (first in {"do", "have"} and second in {"you", "we", "they", "i"})
    )


def _parts(tokens: list[Token], at: int, clause: list[Token]) -> bool | None:
    """Whether a clause ends before this token: None if not, else whether the next goes on with its subject."""
    token = tokens[at]
    if token.kind == "comma":
        return _parts_at_sign(tokens, at, clause)
    if token.lower in {"but", "where"}:
        return False
    if token.lower != "and" or at + 1 >= len(tokens):
        return None
    if tokens[at + 1].lower in SPEAKERS or (
        tokens[at + 1].lower in OWNERS and any(map(is_verb_form, clause)) and _has_verb(tokens, at + 2)
    ):
        return False
    return True if is_verb_form(tokens[at + 1]) and any(map(is_verb_form, clause)) else None


def _has_verb(tokens: list[Token], at: int) -> bool:
    """Whether a verb comes before the next sign."""
    rest = takewhile(lambda token: token.kind not in {"stop", "comma"}, tokens[at:])
    return any(map(is_verb_form, rest))


def _parts_at_sign(tokens: list[Token], at: int, clause: list[Token]) -> bool | None:
    if tokens[at].text == ":" and len(clause) == 1 and clause[0].lower in _INTRODUCES:
        return False
    if tokens[at].text == ":":
        return False if _stands_alone(tokens, at + 1) else None
    if tokens[at].text != ",":
        return None
    following, after, *_ = (*(token.lower for token in tokens[at + 1 : at + 3]), "", "")
    if following in OPENERS:
        return following in GOES_ON
    if following in ASKING and asks(tokens[at + 1 : at + 3]) and _ends_in_question(tokens, at):
        # "I have nine, how often should I water them?"
        return False
    aside = len(clause) > _LONG_ASIDE or clause[0].lower in _ASIDES
    ends = (following in {"and", "or"} and after in STARTS) or (following in AFTER_ASIDE and aside)
    return False if ends else None


def _ends_in_question(tokens: list[Token], at: int) -> bool:
    stops = (token.text for token in tokens[at + 1 :] if token.kind == "stop" and token.text.strip() not in _DASHES)
    return next(stops, "") == "?"


def clauses(tokens: list[Token]) -> Iterator[Clause]:
    """Cut tokens where one claim ends and another begins."""
    clause: list[Token] = []
    goes_on = told_of = False
    for at, token in enumerate(tokens):
        if token.kind == "stop":
            if token.text.strip() in _DASHES and not _stands_alone(tokens, at + 1):
                continue
            if clause:
                yield Clause(clause, token.text == "?", goes_on, told_of)
            clause, goes_on, told_of = [], False, False
            continue
        parts = _parts(tokens, at, clause) if clause and (token.kind == "comma" or token.lower in _JOINS) else None
        if parts is None:
            clause.append(token)
            continue
        yield Clause(clause, asks=False, goes_on=goes_on, told_of=told_of)
        told_of = token.lower == "where" and any(before.lower in _CASES for before in clause)
        clause, goes_on = [], parts
    if clause:
        yield Clause(clause, asks=False, goes_on=goes_on, told_of=told_of)

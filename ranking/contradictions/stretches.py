from enum import IntFlag
from functools import reduce
from operator import or_

import numpy as np
import numpy.typing as npt

from ranking.contradictions.clause_manner import COMPARED, SENTENCE
from ranking.contradictions.clauses import (
    AFTER_ASIDE,
    ASKING,
    AUXILIARIES,
    CLAUSE,
    GOES_ON,
    OPENERS,
    OWNERS,
    QUESTIONS,
    SPEAKERS,
    STARTS,
    SUBJECTS,
)
from ranking.contradictions.facts import PAST_FORMS, VAGUE
from ranking.contradictions.grammar import BE, BEFORE_NOUN
from ranking.contradictions.lexicon import (
    BEFORE_TO,
    CONDITIONS,
    FINITE,
    NOUNS_TOO,
    OWNED,
    STAND_INS,
    STOP,
    is_verb_form,
)
from ranking.contradictions.measures import UNITS
from ranking.contradictions.values import ONE_AS_PRONOUN

Flags = npt.NDArray[np.bool_]
Ids = npt.NDArray[np.int64]
# signs that stand for a dash, a colon and the hyphen inside "node-7f"
DASH, COLON, TIE = "\x02", ":", "\x01"


class Role(IntFlag):
    """What a piece of text may do to the clause it stands in."""

    COMMA = 1
    COLON = 2
    # parts clauses wherever it stands; after a comma; after "and"; "and" itself
    PARTS = 4
    OPENS = 8
    GOES_ON = 16
    AND = 32
    # may end a clause's subject; as its first word too; surely does, unless a word that needs a noun comes before
    MAY_END = 64
    OPENS_WITH = 128
    ENDS = 256
    BEFORE_NOUN = 512
    # stands for something named elsewhere: always, unless a form of "be" follows, or where nothing comes before
    STANDS_IN = 1024
    IT = 2048
    OWNED = 4096
    BE = 8192
    VERB_FORM = 16384
    # begins a clause of its own after ", and"; after a comma
    STARTS = 32768
    SURELY_OPENS = 65536
    # "it", "they", "this" before a verb: whatever was spoken of
    POINTS = 131072
    FINITE = 262144
    # asks at the head of a clause; asks there before a word that may be its subject; unreal before "to"
    ASKS = 524288
    INVERTS = 1048576
    SUBJECT = 2097152
    BEFORE_TO = 4194304
    TO = 8388608
    # "and", "or"; what compares, and what before it makes a bound of it
    LINKS = 16777216
    THAN = 33554432
    COMPARED = 67108864
    # "one", and what after it makes a pronoun of it
    ONE = 134217728
    AFTER_ONE = 268435456


Roles = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
# how many clauses in a row may go on with one subject
_CHAIN = 3
_SIGNS = {",": Role.COMMA, COLON: Role.COLON | Role.MAY_END, DASH: Role.PARTS | Role.MAY_END, "and": Role.AND}
_PARTS = frozenset({"but", "where"})
_OPENS = OPENERS | AFTER_ASIDE | ASKING | _PARTS | {"and", "or"}
_OPENS_AFTER_AND = SPEAKERS | OWNERS


_WORDS = {
    Role.PARTS: _PARTS,
    Role.OPENS: _OPENS,
    # what follows "including" goes on with the subject before
    Role.SURELY_OPENS: OPENERS - GOES_ON,
    Role.STARTS: STARTS,
    Role.GOES_ON: _OPENS_AFTER_AND,
    Role.OPENS_WITH: CONDITIONS,
    Role.MAY_END: CONDITIONS,
    Role.BEFORE_NOUN: BEFORE_NOUN,
    Role.BE: BE,
    Role.FINITE: FINITE,
    Role.POINTS: VAGUE,
    Role.STANDS_IN: STAND_INS - OWNED - {"it"},
    # "…, which arrived on Monday": what did, only the clause before tells
    Role.OWNED: (STAND_INS & OWNED) | {"which"},
    Role.IT: STAND_INS & {"it"},
    Role.ASKS: QUESTIONS,
    Role.INVERTS: AUXILIARIES,
    Role.SUBJECT: SUBJECTS,
    Role.BEFORE_TO: BEFORE_TO,
    Role.TO: frozenset({"to"}),
    Role.LINKS: frozenset({"and", "or"}),
    Role.THAN: frozenset({"than"}),
    Role.COMPARED: COMPARED,
    Role.ONE: frozenset({"one"}),
    Role.AFTER_ONE: ONE_AS_PRONOUN - frozenset(UNITS),
}
_KNOWN = {
    word: int(reduce(or_, (role for role, held in _WORDS.items() if word in held), _SIGNS.get(word, Role(0))))
    for word in frozenset().union(_SIGNS, *_WORDS.values())
}


# plain numbers: a flag's own operators take ten times as long, once for every distinct word
_FINITE = int(Role.MAY_END | Role.OPENS_WITH | Role.GOES_ON)
_MAY_END, _FORM, _ENDS = int(Role.MAY_END), int(Role.GOES_ON | Role.VERB_FORM), int(Role.ENDS)


def role(word: str, key: str) -> int:
    """The roles of a word in small letters, by itself and its stem."""
    finite, verb, known = word in FINITE or word.endswith("n't"), is_verb_form(word, key), _KNOWN.get(word, 0)
    inflected = word.endswith(("s", "ed"))
    if finite:
        known |= _FINITE
    elif verb or word.endswith("s"):
        known |= _MAY_END
    if (finite or (inflected and verb)) and word not in _OPENS_AFTER_AND:
        known |= _FORM
    surely = verb and word not in STOP and (inflected or word in PAST_FORMS or key not in NOUNS_TOO)
    if (finite or surely) and word not in CONDITIONS:
        known |= _ENDS
    return known


def surely_together(roles: Roles, first: Flags, starts: Ids) -> Flags:
    """Which stretches the reader of claims never parts from the one before; in doubt, none."""
    opening, after = roles[starts], roles[np.minimum(starts + 1, len(roles) - 1)]
    before = roles[np.maximum(starts - 1, 0)]
    parts = np.where(
        opening & Role.COMMA,
        after & Role.OPENS,
        np.where(opening & Role.AND, after & Role.GOES_ON, (opening & Role.PARTS) | (before & Role.COMMA)),
    )
    # what stands after a colon may be a clause of its own
    colons = np.bitwise_or.reduceat(roles, starts) & Role.COLON if len(starts) else parts
    together: Flags = ~first[starts] & ((parts | colons | np.append(0, colons)[:-1]) == 0)
    return together


def surely_apart(roles: Roles, first: Flags, starts: Ids) -> Flags:
    """Which stretches the reader of claims always parts from the one before; in doubt, none."""
    opening, after = roles[starts], roles[np.minimum(starts + 1, len(roles) - 1)]
    before = roles[np.maximum(starts - 1, 0)]
    comma = (before & Role.COMMA) != 0
    apart: Flags = first[starts] | (
        comma & (((opening & Role.SURELY_OPENS) != 0) | (((opening & Role.AND) != 0) & ((after & Role.STARTS) != 0)))
    )
    return apart


def in_subject(roles: Roles, openings: Ids) -> Flags:
    """Which pieces stand before the verb of a clause that surely has one, and no sign between."""
    count = len(roles)
    later = np.ones(count, np.bool_)
    later[openings] = False
    # a verb that opens a clause orders something, or is a noun: either way no identifier after it is what is told
    may = ((roles & Role.MAY_END) != 0) & (later | ((roles & Role.OPENS_WITH) != 0))
    noun = np.append(0, roles[:-1]) & Role.BEFORE_NOUN
    may &= (noun == 0) | ((roles & (Role.FINITE | Role.OPENS_WITH | Role.COLON | Role.PARTS)) != 0)
    sure = ((roles & Role.ENDS) != 0) & later
    sure[1:] &= (roles[:-1] & Role.BEFORE_NOUN) == 0

    def earliest(flags: Flags) -> Ids:
        at = np.append(np.flatnonzero(flags), count)
        return at[np.searchsorted(at, openings)]

    ends = earliest(may)
    known = (ends == earliest(sure)) & (ends < np.append(openings[1:], count))
    ends, starts = ends[known], openings[known]
    commas = np.append(-1, np.flatnonzero(roles & Role.COMMA))
    starts = np.maximum(starts, commas[np.searchsorted(commas, ends, "right") - 1] + 1)
    # runs do not overlap: each is open from its start up to its end
    change = np.zeros(count + 1, np.int8)
    some = starts < ends
    change[starts[some]], change[ends[some]] = 1, -1
    subject: Flags = np.cumsum(change[:-1], dtype=np.int8) > 0
    return subject


def carried(roles: Roles, openings: Ids, bits: Bits) -> Bits:
    """The bits of each clause's subject, with those of the clause before where it goes on: "… and keeps logs"."""
    after = roles[np.minimum(openings + 1, len(roles) - 1)]
    goes_on = ((roles[openings] & Role.AND) != 0) & ((after & Role.VERB_FORM) != 0)
    joined = bits.copy()
    for _ in range(_CHAIN):
        joined[1:] |= np.where(goes_on[1:, None], joined[:-1], np.uint64(0))
    return joined


def stands_in(roles: Roles, openings: Ids) -> Flags:
    """Which clauses surely speak of something that they do not name."""
    flags = (roles & Role.STANDS_IN) != 0
    following = np.append(roles[1:], 0)
    flags |= ((roles & Role.IT) != 0) & ((following & Role.BE) == 0)
    pointed = ((roles[openings] & Role.POINTS) != 0) & ((following[openings] & Role.FINITE) != 0)
    flags[openings] |= ((roles[openings] & Role.OWNED) != 0) | pointed
    vague: Flags = np.logical_or.reduceat(flags, openings)
    return vague


def may_be_told(roles: Roles, openings: Ids) -> Flags:
    """Which runs of stretches may say something: those that hold what may be a verb, or are no heading by length."""
    sizes = np.diff(np.append(openings, len(roles)))
    verbs = np.bitwise_or.reduceat(roles, openings) & Role.MAY_END if len(openings) else sizes
    told: Flags = (sizes >= SENTENCE) | (verbs != 0)
    return told


def supposes(roles: Roles, openings: Ids) -> Flags:
    """Which clauses surely ask, or say what is not yet done; those that a single word gives away are known already."""
    following = np.append(roles[1:], 0)
    after = following[openings]
    asks = (roles[openings] & Role.ASKS) != 0
    asks |= ((roles[openings] & Role.INVERTS) != 0) & ((after & Role.SUBJECT) != 0)
    # a clause of one word asks nothing
    asks &= np.diff(np.append(openings, len(roles))) > 1
    wished = ((roles & Role.BEFORE_TO) != 0) & ((following & Role.TO) != 0)
    # "older than 30 days" compares; "more than 30" bounds
    inside = np.ones(len(roles), np.bool_)
    inside[openings[1:] - 1] = False
    wished |= inside & ((roles & Role.COMPARED) == 0) & ((following & Role.THAN) != 0)
    supposed: Flags = asks | np.logical_or.reduceat(wished, openings)
    return supposed


def pronouns(roles: Roles, first: Flags) -> Ids:
    """The places of "one" where it counts nothing."""
    at = np.flatnonzero((roles & Role.ONE) != 0)
    following = np.minimum(at + 1, len(roles) - 1)
    idle: Ids = at[(following == at) | first[following] | ((roles[following] & Role.AFTER_ONE) != 0)]
    return idle


def told_after_colon(roles: Roles, first: Flags, says: Flags, slash: Flags) -> Flags:
    """Which pieces are a colon, not of an address, after which a clause of its own stands: a verb and words enough."""
    found = np.zeros(len(roles), np.bool_)
    colons = np.flatnonzero(((roles & Role.COLON) != 0) & ~np.append(slash[1:], False))
    if not len(colons):
        return found
    ends = np.append(np.flatnonzero(first), len(roles))
    ends = ends[np.searchsorted(ends, colons, "right")]
    enough = []
    for flags, least in ((says, CLAUSE), ((roles & (Role.VERB_FORM | Role.FINITE)) != 0, 1)):
        so_far = np.append(0, np.cumsum(flags))
        enough.append(so_far[ends] - so_far[colons] >= least)
    found[colons[enough[0] & enough[1]]] = True
    return found

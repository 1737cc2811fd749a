from collections.abc import Callable
from typing import NamedTuple

from ranking.contradictions.facts import facts
from ranking.contradictions.lexicon import OTHER_PEOPLE, PRONOUNS, STOP, STRANGERS
from ranking.contradictions.reading import Token
from ranking.contradictions.stems import stem
from ranking.contradictions.word_lists import words

Places = frozenset[int]
_NONE: Places = frozenset()

_ENDED = words("ended")
_STOPPED = frozenset({"stopped", "quit", "ceased"})
MOVED = words("moved")
_WAS = frozenset({"formerly", "previously"})
_REPLACED = frozenset({"replaced", "replaces"})
_TWO_WORDS = frozenset({("phased", "out"), ("gave", "up"), ("given", "up"), ("shut", "down"), ("ceased", "to")})
# before a participle these make a passive or a perfect
BE = words("passive")
_DENIED = frozenset({"not", "never", "the", "a", "any", "all"})
_FINITE = frozenset({"is", "are", "was", "were", "has", "have", "had", "must", "should", "can"})
_LINKS = frozenset({"by", "with", "for"})
_BEFORE_ADJECTIVE = frozenset({"of", "for", "in", "with", "from", "to", "on", "about", "and", "or", "using", "non"})
_REGION_ENDS = words("phrase_ends")
_WHOSE = frozenset({"you", "i", "we", "they", "that", "which", "who"})
_RELATIVE = frozenset({"that", "which", "who"})
_REASONS = frozenset({"for", "because", "since", "and", "but"})

# words that are a cue only before one other
CUE_PAIRS = {
    "no": "longer",
    "used": "to",
    "instead": "of",
    "rather": "than",
    "phased": "out",
    "gave": "up",
    "shut": "down",
}
# a clause with a cue holds one of these
CUE_WORDS = (
    (_ENDED | _STOPPED | MOVED | _WAS | _REPLACED)
    | frozenset({"anymore", "place", "any", "sunset", "given"})
    | frozenset(CUE_PAIRS)
)


# of these, the ones that may tell what is no longer so apart from the rest, whatever follows
DISPLACING = _REPLACED | {"instead", "rather", "place", "swapped", "superseded", "favour", "favor"}


class Cue(NamedTuple):
    """Words that say something ended: where, which tokens they are, what ended (None: all of it), what came instead.

    ``was`` marks a cue that tells what used to be: all of what it tells must be what the other side says. ``verb`` is
    the stem of its first word: where the other side has that verb too, both tell of one thing done.
    """

    start: int
    end: int
    tokens: Places
    retired: Places | None = None
    instead: Places = _NONE
    was: bool = False
    verb: str = ""


class _Match(NamedTuple):
    tokens: tuple[int, ...]
    retired: Places | None = None
    instead: Places = _NONE
    was: bool = False


class _Clause(NamedTuple):
    """The words of a clause, looked at from one of them."""

    lowers: list[str]
    at: int

    @property
    def word(self) -> str:
        return self.lowers[self.at]

    @property
    def following(self) -> str:
        return self.lowers[self.at + 1] if self.at + 1 < len(self.lowers) else ""

    @property
    def before(self) -> str:
        return self.lowers[self.at - 1] if self.at else ""

    def until(self, start: int, ends: frozenset[str]) -> Places:
        """The places from ``start`` up to a word that ends a phrase."""
        stop = start
        while stop < len(self.lowers) and self.lowers[stop] not in ends and self.lowers[stop] not in ",:()":
            stop += 1
        return frozenset(range(start, stop))

    def place_of(self, words: frozenset[str]) -> int | None:
        """The first later place of one of these words."""
        return next((place for place in range(self.at + 1, len(self.lowers)) if self.lowers[place] in words), None)


def _no_longer(clause: _Clause) -> _Match | None:
    at = clause.at
    if (clause.word, clause.following) != ("no", "longer") or clause.lowers[at + 2 : at + 3] == ["than"]:
        return None
    if at > 1 and clause.before in _WHOSE and clause.lowers[at - 2] not in STOP and clause.lowers[at - 2].isalpha():
        # "items you no longer need" are some of all
        return None
    # "MapLibre, no longer Mapbox" ends a thing, not the clause
    retired = clause.until(at + 2, _REGION_ENDS) if clause.before == "," else None
    return _Match((at, at + 1), retired)


def _any_more(clause: _Clause) -> _Match | None:
    spelled = clause.word == "any" and clause.following == "more"
    if clause.word != "anymore" and not spelled:
        return None
    denials = [
        place
        for place, word in enumerate(clause.lowers[: clause.at])
        if word in {"not", "never", "no", "cannot"} or word.endswith("n't")
    ]
    return _Match((denials[-1], clause.at, *((clause.at + 1,) if spelled else ()))) if denials else None


def _ended(clause: _Clause) -> _Match | None:
    word, following, before = clause.word, clause.following, clause.before
    if (word, following) in _TWO_WORDS:
        return _Match((clause.at, clause.at + 1))
    if word == "superseded" and following == "by":
        return None
    stopped = word in _STOPPED and (following.endswith("ing") or following in {"the", "our"})
    left = word in {"gone", "sunset"} and before in BE and following not in {"from", "to"}
    if not (stopped or left or word in _ENDED) or before in _DENIED or before.endswith("n't"):
        return None
    if _tells_which(clause):
        return None
    if before not in BE and any(word in OTHER_PEOPLE or stem(word) in STRANGERS for word in clause.lowers[: clause.at]):
        # "the cat dropped the toy": something done, nothing over
        return None
    favour = clause.place_of(frozenset({"favour", "favor"}))
    instead = _NONE if favour is None else clause.until(favour, _REGION_ENDS)
    return _Match((clause.at,), instead=instead)


def _tells_which(clause: _Clause) -> bool:
    """Whether what is over only says which ones are meant: "remove obsolete checks", "calls of deprecated methods"."""
    following, before = clause.following, clause.before
    whose = clause.at - 1
    while whose > 0 and clause.lowers[whose] in BE:
        whose -= 1
    if (0 < whose < clause.at - 1 and clause.lowers[whose] in _RELATIVE) or "who" in clause.lowers[1 : clause.at]:
        # "commands that have been removed", "users who came or left"
        return True
    if not following.isalpha() or following in STOP or before in BE or not clause.at:
        return False
    return before in _BEFORE_ADJECTIVE or (facts(before).verb and not before.endswith("ed"))


def _was(clause: _Clause) -> _Match | None:
    if clause.word in _WAS:
        return _Match((clause.at,), was=True)
    if (clause.word, clause.following) != ("used", "to") or clause.before in BE:
        return None
    # "the script used to seed the data is slow": a detail of the script, not its past
    own_verb = clause.before in PRONOUNS or _FINITE.isdisjoint(clause.lowers[clause.at + 2 :])
    return _Match((clause.at, clause.at + 1), was=True) if own_verb else None


def _instead(clause: _Clause) -> _Match | None:
    if clause.word not in {"instead", "rather", "place"} or clause.following not in {"of", "than"}:
        return None
    if clause.lowers[clause.at + 2 : clause.at + 3] in (["just"], ["only"], ["merely"]):
        # "rather than just": that too
        return None
    if clause.at == 0 and clause.lowers[2:3] and clause.lowers[2].endswith("ing"):
        # "instead of asking for a call": advice
        return None
    return _Match((clause.at, clause.at + 1), clause.until(clause.at + 2, _REASONS))


def _replaced(clause: _Clause) -> _Match | None:
    swapped = (clause.word, clause.following) in {("swapped", "out"), ("superseded", "by")}
    if clause.word not in _REPLACED and not swapped:
        return None
    link = clause.place_of(_LINKS)
    if link is None and clause.before not in BE and not swapped:
        # "we replaced the battery": with one of the same
        return None
    instead = _NONE if link is None else clause.until(link + 1, _REGION_ENDS)
    passive = clause.before in BE or link == clause.at + 1
    retired = frozenset(range(clause.at)) if passive else clause.until(clause.at + 1, _LINKS | {"in"})
    return _Match((clause.at,), retired, instead)


def _moved(clause: _Clause) -> _Match | None:
    place = clause.place_of(frozenset({"from", "off"})) if clause.word in MOVED else None
    if place is None:
        return None
    retired = clause.until(place + 1, _REGION_ENDS)
    to = [later for later in range(place + 1, len(clause.lowers)) if clause.lowers[later] == "to"]
    instead = clause.until(to[-1] + 1, _REGION_ENDS) if to else _NONE
    return _Match((clause.at, place), retired, instead) if retired else None


# what may make a cue of a word
_MATCHERS: tuple[tuple[Callable[[_Clause], _Match | None], frozenset[str]], ...] = (
    (_no_longer, frozenset({"no"})),
    (_any_more, frozenset({"any", "anymore"})),
    (_ended, _ENDED | _STOPPED | {"gone", "sunset", "superseded"} | {first for first, _ in _TWO_WORDS}),
    (_was, _WAS | {"used"}),
    (_instead, frozenset({"instead", "rather", "place"})),
    (_replaced, _REPLACED | {"swapped", "superseded"}),
    (_moved, MOVED),
)
_MATCHERS_OF = {word: tuple(matcher for matcher, opening in _MATCHERS if word in opening) for word in CUE_WORDS}


def find_cue(tokens: list[Token], lowers: list[str]) -> Cue | None:
    """The first cue of a clause."""
    if CUE_WORDS.isdisjoint(lowers):
        return None
    for at, word in enumerate(lowers):
        if word not in CUE_WORDS:
            continue
        clause = _Clause(lowers, at)
        for matcher in _MATCHERS_OF[word]:
            match = matcher(clause)
            if match is not None:
                first, last = tokens[at], tokens[max(place for place in match.tokens if place <= at + 1)]
                places = frozenset(match.tokens)
                return Cue(first.start, last.end, places, match.retired, match.instead, match.was, stem(word))
    return None

import re
from functools import lru_cache
from typing import NamedTuple

from ranking.contradictions.claim import Claim
from ranking.contradictions.clause_reader import ClauseReader
from ranking.contradictions.clauses import asks, clauses
from ranking.contradictions.reading import Token, read

# what _CODE may find in any part of a text is found by one of these in all of it
_MAY_BE_CODE = re.compile(r"[={}<>]")
_MAY_OPEN_CODE = re.compile(r"\s*(?:import|def|class|return|elif|let|const|var|function)")
_ENDS = re.compile(r"[.!?;\n]")
# "width: 50px" is no claim
_STYLE = re.compile(r"[a-z]+(?:-[a-z]+)*: ?-?[\d.]+(?:px|r?em|v[hw]|pt)")
_CODE = re.compile(r"==|\w\([^)\n]*=|[{}<>]|=>|\(\)|^\s*(?:import|def|class|return|elif|let|const|var|function)\b")


def _read_claim(tokens: list[Token], before: Claim | None, *, asks: bool, goes_on: bool) -> Claim:
    reader = ClauseReader(tokens, goes_on=goes_on)
    reader.read()
    words, slots = reader.words, tuple(reader.slots)
    if before is not None:
        # "node 2 is healthy and uses 8 GB": what goes on is said of the same subject
        words = {**{key: word for key, word in before.words.items() if word.head}, **words}
        slots = (*(slot for slot in before.slots if slot.head), *slots)
    return Claim(
        span=(tokens[0].start, tokens[-1].end),
        words=words,
        keys=frozenset(words),
        slots=slots,
        said=reader.said,
        sequence=tuple(reader.sequence),
        negation=tuple(reader.negation),
        cue=reader.cue,
        retired=frozenset(reader.retired),
        instead=frozenset(reader.instead),
        asks=asks,
        marks=frozenset(reader.marks),
        scopes=frozenset(reader.scopes),
        times=frozenset(reader.times),
        conditions=frozenset(reader.conditions),
    )


class Read(NamedTuple):
    """The claims of a text in order, each with the place from which its spans are counted.

    ``leans`` marks a sentence that goes on with a subject it does not name: what it says depends on the one before.
    """

    claims: tuple[tuple[int, Claim], ...]
    leans: bool = False


def opens_code(text: str) -> bool:
    """Whether a text may begin with a line of code."""
    return _MAY_OPEN_CODE.match(text) is not None


@lru_cache(maxsize=1 << 12)
def claims_of(text: str) -> Read:
    """The claims of a text, remembered for a while: a text is compared with several."""
    return read_alone(text)


def read_alone(text: str) -> Read:
    """The claims of a text that nothing comes before."""
    found: list[tuple[int, Claim]] = []
    leans = False
    may_be_code = "()" in text or _MAY_BE_CODE.search(text) or _MAY_OPEN_CODE.match(text)
    may_be_style = ":" in text
    for clause in clauses(read(text)):
        if may_be_style and _STYLE.fullmatch(text, clause.tokens[0].start, clause.tokens[-1].end):
            continue
        if may_be_code and _CODE.search(text, clause.tokens[0].start, clause.tokens[-1].end):
            continue
        before = found[-1][1] if clause.goes_on and found else None
        leans = leans or (clause.goes_on and not found)
        claim = _read_claim(
            clause.tokens, before, asks=clause.asks or clause.told_of or asks(clause.tokens), goes_on=clause.goes_on
        )
        if found and "request" in found[-1][1].marks and not _ENDS.search(text, found[-1][1].span[1], claim.span[0]):
            # "write a title, but limited to 60 characters": all of it is asked for
            claim = claim._replace(marks=claim.marks | {"request"})
        if claim.words or claim.slots:
            found.append((0, claim))
    return Read(tuple(found), leans)

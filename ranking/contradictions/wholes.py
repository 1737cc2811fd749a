import re
from collections.abc import Callable

from ranking.contradictions.claims import Read, claims_of, opens_code, read_alone
from ranking.contradictions.sentences import Sentences

# what may reach over the end of a sentence, or take the sign that ends it along: then the text is read as a whole
_REACHES_OVER = re.compile(
    r"""
    ["“`«\0\r@\\\#] | (?<![^\W_])' | ://
  | \d[\d,.]*\s?[-–]\s?\d
  | (?:[ap]\.m|e\.g|i\.e|vs|etc|approx|a\.k\.a)\.
  | [\d$€£]\s*\n
  | [.!?;\n]\s*- | -\s*\n
    """,
    re.VERBOSE,
)


def reader_of(texts: list[str], read: Sentences) -> tuple[Callable[[int], Read], Callable[[int], Read]]:
    """Two functions: the claims of a sentence and those of a text, both by number and each sentence read once.

    A text says what its sentences say one by one, unless something in it reaches from one into the next.
    """
    alone: dict[int, Read] = {}
    bounds = read.text.searchsorted(range(len(texts) + 1)).tolist()

    def sentence(number: int) -> Read:
        if number not in alone:
            alone[number] = read_alone(read.written[number])
        return alone[number]

    def text(row: int) -> Read:
        held = read.sentence[bounds[row] : bounds[row + 1]].tolist()
        whole = texts[row]
        if len(held) == 1 and whole == read.written[held[0]]:
            return sentence(held[0])
        if _REACHES_OVER.search(whole) or any(opens_code(read.written[number]) for number in held):
            return claims_of(whole)
        placed, start = [], 0
        for number in held:
            part, said = read.written[number], sentence(number)
            if said.leans:
                return claims_of(whole)
            start = whole.index(part, start)
            placed += [(start, claim) for _, claim in said.claims]
            start += len(part)
        return Read(tuple(placed))

    return sentence, text

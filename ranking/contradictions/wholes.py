import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ranking.contradictions.claim import Claim
from ranking.contradictions.claims import Read, claims_of, opens_code, read_alone
from ranking.contradictions.classifying import conflict_of, extends, may_agree
from ranking.contradictions.conflicts import Conflict
from ranking.contradictions.foreseen import PLAIN
from ranking.contradictions.judging import conflict
from ranking.contradictions.opposition import Oppositions
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
# of that, what may stand in a text of plain sentences
_SHORT = ("\n", "\r", "\0", "vs.", "etc.", "approx.")
# without one of these no clause goes on with the subject of another
_GOES_ON = re.compile(r"\b(?:and|including|especially)\b", re.IGNORECASE)


class Part(NamedTuple):
    """A sentence by number, and where in its text it stands."""

    start: int
    number: int


class Wholes:
    """The claims of sentences and of texts by number, each sentence read once and only when it is needed.

    A text says what its sentences say one by one, unless something in it reaches from one into the next.
    """

    def __init__(self, texts: list[str], read: Sentences) -> None:
        self._texts, self._read = texts, read
        self._alone: dict[int, Read] = {}
        self._plain: dict[int, bool] = {}
        self._words: dict[int, frozenset[int] | None] = {}
        self._parts: dict[int, tuple[Part, ...] | None] = {}
        self._judged: dict[tuple[int, int, float], Conflict | None] = {}
        self._sentences: list[int] = read.sentence.tolist()
        self._bounds = read.text.searchsorted(np.arange(len(texts) + 1)).tolist()
        self._pieces = read.stream.owner.searchsorted(np.arange(len(read.written) + 1)).tolist()

    def sentence(self, number: int) -> Read:
        """What a sentence claims."""
        if number not in self._alone:
            self._alone[number] = read_alone(self._read.written[number])
        return self._alone[number]

    def text(self, row: int) -> Read:
        """What a text claims."""
        parts = self.parts(row)
        if parts is None:
            return claims_of(self._texts[row])
        return Read(tuple((start, claim) for start, number in parts for _, claim in self.sentence(number).claims))

    def parts(self, row: int) -> tuple[Part, ...] | None:
        """The sentences of a text that says what they say one by one."""
        if row not in self._parts:
            self._parts[row] = self._parts_of(row)
        return self._parts[row]

    def _parts_of(self, row: int) -> tuple[Part, ...] | None:
        held = self._sentences[self._bounds[row] : self._bounds[row + 1]]
        whole, written = self._texts[row], self._read.written
        if len(held) == 1 and whole == written[held[0]]:
            return (Part(0, held[0]),)
        plain = all(map(self._is_plain, held)) and not any(sign in whole for sign in _SHORT)
        if not plain and _REACHES_OVER.search(whole):
            return None
        if any(map(opens_code, map(written.__getitem__, held))):
            return None
        placed, start = [], 0
        for number in held:
            if _GOES_ON.search(written[number]) and self.sentence(number).leans:
                return None
            start = whole.index(written[number], start)
            placed.append(Part(start, number))
            start += len(written[number])
        return tuple(placed)

    def conflict(self, rows: tuple[int, int], oppositions: Oppositions, threshold: float) -> Conflict | None:
        """The first conflict between claims of two texts, as ``conflict_of`` has it, the older first."""
        old, new = (self._texts[row] for row in rows)
        olds, news = (self.parts(row) for row in rows)
        if olds is None or news is None:
            return conflict_of(old, new, (self.text(rows[0]), self.text(rows[1])), oppositions, threshold)
        for before in olds:
            near = self._near(before, news) if len(olds) > 1 or len(news) > 1 else news
            for one in self._claims(before) if near else ():
                for after, other in ((part, claim) for part in near for claim in self._claims(part)):
                    found = self.judge(one, other, oppositions, threshold)
                    if found is None or self._says(one, before, news) or self._says(other, after, olds):
                        continue
                    if not extends(old, new):
                        return found.moved(before.start, after.start)
        return None

    def may_conflict(self, older: int, newer: int, oppositions: Oppositions, threshold: float) -> bool:
        """Whether two sentences conflict, whatever else their texts say."""
        return any(
            self.judge(one, other, oppositions, threshold) is not None
            for _, one in self.sentence(older).claims
            for _, other in self.sentence(newer).claims
        )

    def judge(self, one: Claim, other: Claim, oppositions: Oppositions, threshold: float) -> Conflict | None:
        """How two claims of sentences conflict; asked of the sentences first and of their texts then, told once."""
        if not may_agree(one, other, threshold):
            return None
        # claims are kept with their sentences, so that none takes another's place
        key = id(one), id(other), threshold
        if key not in self._judged:
            self._judged[key] = conflict(one, other, oppositions, threshold)
        return self._judged[key]

    def _claims(self, part: Part) -> Iterator[Claim]:
        return (claim for _, claim in self.sentence(part.number).claims)

    def _says(self, claim: Claim, part: Part, others: tuple[Part, ...]) -> bool:
        """Whether another text says the same word for word."""
        return any(
            claim.sequence == said.sequence for other in self._near(part, others) for said in self._claims(other)
        )

    def _near(self, part: Part, others: tuple[Part, ...]) -> tuple[Part, ...] | list[Part]:
        """The sentences that may share a word with one; of others, the claims are none of each other's business."""
        if len(others) == 1 and others[0].number in self._alone:
            # what was read already tells sooner
            return others
        said = self._words_of(part.number)
        if said is None:
            return others
        words = [self._words_of(other.number) for other in others]
        return [other for other, held in zip(others, words, strict=True) if held is None or not said.isdisjoint(held)]

    def _is_plain(self, number: int) -> bool:
        if number not in self._plain:
            self._plain[number] = PLAIN.fullmatch(self._read.written[number]) is not None
        return self._plain[number]

    def _words_of(self, number: int) -> frozenset[int] | None:
        if number not in self._words:
            plain = self._is_plain(number)
            held = self._read.stream.word[self._pieces[number] : self._pieces[number + 1]]
            self._words[number] = frozenset(held.tolist()) - {-1} if plain else None
        return self._words[number]

"""Labelled pairs of texts, older first: what a careful operator would call a contradiction, and what not."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ranking import contradicts

FOLDER = Path(__file__).parent / "pairs"
# read while the rules were written; the other half was only counted
TUNED_ON, HELD_OUT = ("tune", "tune_more", "traps_more"), ("report",)
# the same of captions, chat, memories and logs of changes: harder, and mostly traps
STYLES_TUNED_ON, STYLES_HELD_OUT = ("styles",), ("report_styles",)


class LabelledPair(NamedTuple):
    """Two texts, the kind of their conflict or "none", and what the pair tries."""

    older: str
    newer: str
    kind: str
    cause: str

    @property
    def conflicts(self) -> bool:
        return self.kind != "none"


class Score(NamedTuple):
    """How many pairs were called what."""

    right: int
    false_alarms: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.false_alarms)

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed)


def labelled_pairs(*names: str) -> list[LabelledPair]:
    """The pairs of these files."""
    tables = (tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")) for name in names)
    return [LabelledPair(**pair) for table in tables for pair in table["pair"]]


def score(pairs: Sequence[LabelledPair]) -> Score:
    """Judge every pair and count."""
    said = [(pair.conflicts, contradicts(pair.older, pair.newer)) for pair in pairs]
    return Score(said.count((True, True)), said.count((False, True)), said.count((True, False)))


def joined(one: str, other: str) -> list[str]:
    """Two texts as clauses of one sentence, in the ways clauses are joined, and as two sentences."""
    bare, small = one.rstrip(".?! "), other[0].lower() + other[1:]
    clauses = [f"{bare}{link} {small}" for link in (", so", ", but", " where", ", and")]
    return [*clauses, f"{bare}. {other}"]

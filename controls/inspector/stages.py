"""A pipeline as an address says it: what differs from a preset, under short names that stay.

The names below are the address's vocabulary. A default that moves would change what old links mean: give ``VERSION`` a
new number then, and such a link says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from ranking.budget import TokenBudget
from ranking.composite import Composite
from ranking.corroboration import Corroboration
from ranking.cross_encoder import CrossEncoder
from ranking.dedup import Dedup
from ranking.feedback import Feedback, Normalise
from ranking.floor import Floor, FloorMode
from ranking.fusion import ReciprocalRankFusion, ScoreFusion
from ranking.memory_score import MemoryScore
from ranking.mmr import Mmr
from ranking.pipeline_text import STAGES
from ranking.reflection import Reflection
from ranking.relevance import Head, Relevance
from ranking.session_recency import SessionRecency
from ranking.session_support import SessionSupport
from ranking.temporal import Temporal, TemporalMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ranking.ranking import Stage

    Pipeline = tuple[Stage, ...]

VERSION = "1"
BETWEEN = "."
NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,17})?(?:e-[0-9]{1,2})?")
SWITCH = {"on": True, "off": False}

# What a pipeline starts from: the store's own score, eight routes, two legs by rank, two legs by score.
STARTS: dict[str, Stage] = {
    "relevance": Relevance(),
    "routes": ReciprocalRankFusion(k=15.0, first_rank=1),
    "legs": ReciprocalRankFusion(k=5.0, first_rank=0),
    "scores": ScoreFusion(),
}
# The stages that may be put in or taken out, in the order in which they run.
PARTS: dict[str, type[Any]] = {
    "head": Head,
    "sessions": SessionSupport,
    "memory": MemoryScore,
    "corroboration": Corroboration,
    "feedback": Feedback,
    "composite": Composite,
    "temporal": Temporal,
    "pairs": CrossEncoder,
    "reflection": Reflection,
    "floor": Floor,
    "recency": SessionRecency,
    "dedup": Dedup,
    "mmr": Mmr,
    "budget": TokenBudget,
}


@dataclass(frozen=True)
class Knob:
    """One field of one stage: its name in the address, in words, and between what an operator may turn it."""

    key: str
    stage: type[Any]
    field: str
    label: str
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    options: type[Enum] | None = None
    switch: bool = False

    @property
    def whole(self) -> bool:
        """Whether it counts something."""
        return isinstance(self.step, int)


KNOBS = (
    Knob("k", ReciprocalRankFusion, "k", "RRF k", 1.0, 100.0, 1.0),
    Knob("alpha", ScoreFusion, "alpha", "α, weight of the vector leg", step=0.05),
    Knob("head", Head, "k", "Best rows kept", 1, 200, 1),
    Knob("share", SessionSupport, "share", "Share of the best turn", step=0.05),
    Knob("cap", SessionSupport, "cap", "Largest support"),
    Knob("mem", MemoryScore, "alpha", "α, share of the memory score"),
    Knob("boost", Corroboration, "scale", "Boost scale"),
    Knob("fb", Feedback, "enabled", "Weighting on", switch=True),
    Knob("norm", Feedback, "normalise", "Relevance before weighting", options=Normalise),
    Knob("wrel", Composite, "relevance", "Weight of relevance"),
    Knob("wrec", Composite, "recency", "Weight of recency"),
    Knob("wimp", Composite, "importance", "Weight of importance"),
    Knob("tboost", Temporal, "boost", "Boost near the date", 0.0, 2.0, 0.05),
    Knob("tmode", Temporal, "mode", "How it joins", options=TemporalMode),
    Knob("twords", Temporal, "whole_words", "Dates as whole words only", switch=True),
    Knob("pool", CrossEncoder, "pool", "Rows read", 0, 100, 1),
    Knob("keep", CrossEncoder, "original", "Share of the score before", step=0.05),
    Knob("rboost", Reflection, "boost", "Factor of a reflection", 0.0, 3.0, 0.05),
    Knob("rdepth", Reflection, "per_depth", "More per depth"),
    Knob("rcap", Reflection, "depth_cap", "Deepest that counts", 0, 10, 1),
    Knob("fmode", Floor, "mode", "Floor", options=FloorMode),
    Knob("floor", Floor, "value", "Least score"),
    Knob("seen", SessionRecency, "boost", "Boost of what the session saw"),
    Knob("limit", Dedup, "limit", "Rows at most, 0 for all", 0, 200, 1),
    Knob("lam", Mmr, "lam", "λ: relevance vs. variety"),
    Knob("dup", Mmr, "duplicate_threshold", "Duplicate at cosine"),
    Knob("pick", Mmr, "k", "Rows chosen", 1, 100, 1),
    Knob("tokens", TokenBudget, "tokens", "Token budget", 0, 5000, 50),
)
NAMES = ("start", "with", "without", *(knob.key for knob in KNOBS))


@dataclass(frozen=True)
class Read:
    """The pipeline an address names, and the names in it that say nothing here."""

    stages: Pipeline
    ignored: tuple[str, ...] = ()


def from_address(address: Mapping[str, str], base: Pipeline) -> Read:
    """The base with what the address changes in it; a value that cannot be read leaves the base's."""
    held, ignored = _kinds(address, base)
    for knob in KNOBS:
        if knob.key in address:
            value = parsed(knob, address[knob.key])
            if value is None or knob.stage not in held:
                ignored.append(knob.key)
            else:
                held[knob.stage] = replace(held[knob.stage], **{knob.field: value})
    return Read(in_order(held.values()), tuple(dict.fromkeys(ignored)))


def _kinds(address: Mapping[str, str], base: Pipeline) -> tuple[dict[type[Any], Any], list[str]]:
    """The stages that are to run, by kind, before any knob is turned."""
    held: dict[type[Any], Any] = {type(stage): stage for stage in base}
    start = address.get("start")
    if start in STARTS:
        held = started(held, start)
    named = {name: [part for part in address.get(name, "").split(BETWEEN) if part] for name in ("with", "without")}
    put = {PARTS[part]: PARTS[part]() for part in named["with"] if part in PARTS}
    gone = {PARTS[part] for part in named["without"] if part in PARTS}
    held = {kind: stage for kind, stage in (put | held).items() if kind not in gone}
    unknown = [name for name, parts in named.items() if any(part not in PARTS for part in parts)]
    return held, [*(["start"] if start is not None and start not in STARTS else []), *unknown]


def to_address(stages: Pipeline, base: Pipeline) -> dict[str, str]:
    """What tells the pipeline from its base, shortest: ``from_address`` of it gives the pipeline back."""
    address: dict[str, str] = {}
    start = start_of(stages)
    if start != start_of(base):
        address["start"] = start
    named = {name: kind for name, kind in PARTS.items() if holds(stages, kind) != holds(base, kind)}
    for name, put in (("with", True), ("without", False)):
        parts = [part for part, kind in named.items() if holds(stages, kind) is put]
        if parts:
            address[name] = BETWEEN.join(parts)
    plain = {type(stage): stage for stage in (*base, *(() if start == start_of(base) else (STARTS[start],)))}
    for stage in stages:
        kind: type[Any] = type(stage)
        default = plain.get(kind) or kind()
        for knob in knobs_of(stage):
            value = getattr(stage, knob.field)
            if value != getattr(default, knob.field):
                address[knob.key] = shown(value)
    return address


def started(held: Mapping[type[Any], Any], start: str) -> dict[type[Any], Any]:
    """The stages with another beginning."""
    kept = {kind: stage for kind, stage in held.items() if kind in PARTS.values()}
    return {type(STARTS[start]): STARTS[start], **kept}


def start_of(stages: Pipeline) -> str:
    """What a pipeline starts from, by name."""
    first = stages[0]
    if isinstance(first, ReciprocalRankFusion):
        return "routes" if first.first_rank == 1 else "legs"
    return "scores" if isinstance(first, ScoreFusion) else "relevance"


def in_order(stages: Iterable[Stage]) -> Pipeline:
    """Stages in the order in which the documents would have them."""
    return tuple(sorted(stages, key=lambda stage: STAGES.index(type(stage))))


def holds(stages: Pipeline, kind: type[Any]) -> bool:
    """Whether a stage of this kind is in the pipeline."""
    return any(type(stage) is kind for stage in stages)


def knobs_of(stage: Stage | type[Any]) -> list[Knob]:
    """The knobs of a stage, in the order in which they are shown."""
    kind = stage if isinstance(stage, type) else type(stage)
    return [knob for knob in KNOBS if knob.stage is kind]


def parsed(knob: Knob, text: str) -> Any:  # noqa: ANN401 - a number, a switch or an option
    """The value a text gives a knob, None where it gives none within its bounds."""
    if knob.switch:
        return SWITCH.get(text)
    if knob.options is not None:
        return next((option for option in knob.options if option.value == text), None)
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    if not knob.low <= value <= knob.high or (knob.whole and not value.is_integer()):
        return None
    return int(value) if knob.whole else value


def shown(value: Any) -> str:  # noqa: ANN401 - a field of any stage
    """A value as the address has it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value.value) if isinstance(value, Enum) else repr(value).removesuffix(".0")

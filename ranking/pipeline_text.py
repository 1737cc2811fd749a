import re
from collections.abc import Sequence
from dataclasses import fields
from enum import Enum
from typing import Any, get_type_hints

from ranking.budget import TokenBudget
from ranking.composite import Composite
from ranking.corroboration import Corroboration
from ranking.cross_encoder import CrossEncoder
from ranking.dedup import Dedup
from ranking.feedback import Feedback
from ranking.floor import Floor
from ranking.fusion import ReciprocalRankFusion, ScoreFusion
from ranking.memory_score import MemoryScore
from ranking.mmr import Mmr
from ranking.ranking import Stage
from ranking.reflection import Reflection
from ranking.relevance import Head, Relevance
from ranking.session_recency import SessionRecency
from ranking.session_support import SessionSupport
from ranking.temporal import Temporal

# the one place that says which stages a text may name
STAGES: tuple[type[Any], ...] = (
    Relevance, ReciprocalRankFusion, ScoreFusion, Head, SessionSupport, MemoryScore, Corroboration, Feedback,
    Composite, Temporal, CrossEncoder, Reflection, Floor, SessionRecency, Dedup, Mmr, TokenBudget,
)  # fmt: skip
# only characters no URL escapes; neither a name nor a number holds a tilde
_BETWEEN_STAGES = "~~"
_BETWEEN_PARTS = "~"


# int() and float() would also take underscores, blanks, other scripts' digits and words for infinity
_PLAIN = {int: re.compile("-?[0-9]{1,18}"), float: re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?")}


class PipelineError(ValueError):
    """A text that names no pipeline: what was expected at which place, and what stood there."""


def to_text(stages: Sequence[Stage]) -> str:
    """The pipeline as URL-safe text, every field written out so that a link keeps its meaning when defaults move."""
    return _BETWEEN_STAGES.join(_stage_text(stage) for stage in stages)


def from_text(text: str) -> tuple[Stage, ...]:
    """The pipeline a text names; fields left out take their default."""
    if not _is_text(text):
        raise PipelineError(f"pipeline: expected a text, found {text!r}")
    if not text:
        return ()
    return tuple(_stage(place, part) for place, part in enumerate(text.split(_BETWEEN_STAGES), 1))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _stage_text(stage: Stage) -> str:
    if type(stage) not in STAGES:
        raise PipelineError(f"pipeline: expected one of {_names()}, found {stage!r}")
    types = get_type_hints(type(stage))
    parts = [type(stage).__name__]
    for entry in fields(stage):  # type: ignore[arg-type]
        value = getattr(stage, entry.name)
        parts += [entry.name, _value_text(types[entry.name](value) if value is not None else value)]
    return _BETWEEN_PARTS.join(parts)


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value.value) if isinstance(value, Enum) else repr(value).replace("+", "")


def _stage(place: int, text: str) -> Stage:
    name, *parts = text.split(_BETWEEN_PARTS)
    kind = next((stage for stage in STAGES if stage.__name__ == name), None)
    if kind is None:
        raise PipelineError(f"stage {place}: expected one of {_names()}, found {name!r}")
    types = get_type_hints(kind)
    allowed = [entry.name for entry in fields(kind)]
    if len(parts) % 2:
        raise PipelineError(
            f"stage {place}, {name}: expected a value after every field, found none after {parts[-1]!r}"
        )
    values: dict[str, object] = {}
    for field, value in zip(parts[::2], parts[1::2], strict=True):
        if not allowed:
            raise PipelineError(f"stage {place}, {name}: expected no field, found {field!r}")
        if field not in allowed or field in values:
            raise PipelineError(f"stage {place}, {name}: expected each of {', '.join(allowed)} once, found {field!r}")
        values[field] = _value(f"stage {place}, {name}.{field}", types[field], value)
    try:
        made: Stage = kind(**values)
    except (ValueError, TypeError) as error:
        raise PipelineError(f"stage {place}, {name}: {error}") from error
    return made


def _value(where: str, kind: type[Any], text: str) -> object:
    try:
        if kind is bool:
            return {"true": True, "false": False}[text]
        return kind(text if kind not in _PLAIN or _PLAIN[kind].fullmatch(text) else "")
    except (KeyError, ValueError):
        expected = ", ".join(option.value for option in kind) if issubclass(kind, Enum) else kind.__name__
        raise PipelineError(f"{where}: expected {expected}, found {text!r}") from None


def _names() -> str:
    return ", ".join(stage.__name__ for stage in STAGES)

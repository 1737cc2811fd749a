"""Which pipeline an organization's retrievals go through, and what its flags and its sessions' work change in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from queries.engine import LIST
from queries.flags.live import FlagsOf
from queries.scope import Reach, is_storable
from ranking.budget import TokenBudget, context_budget
from ranking.feedback import Feedback
from ranking.pipeline_text import PipelineError, from_text
from ranking.presets import INTENDED, LIVE, PRESETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from queries.engine import Store
    from queries.flags.states import FlagStates
    from ranking.ranking import Stage

WEIGHTING_OFF, BOOST_ON = "feedback_weighting_disabled", "corroboration_boost_enabled"

Pipeline = tuple["Stage", ...]


@dataclass(frozen=True)
class Flags:
    """What an organization's flags amount to, and why they are the defaults where they cannot be read."""

    weighting: bool = True
    boost: bool = False
    unreadable: str | None = None

    @classmethod
    def of(cls, states: FlagStates) -> Flags:
        """Only a flag that is set to true counts: the one switches weighting off, the other the boost on."""
        if states.malformed is not None:
            return cls(unreadable=f"the organization's features are {states.malformed}: the defaults hold")
        return cls(weighting=states.state(WEIGHTING_OFF) != "on", boost=states.state(BOOST_ON) == "on")

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline an organization with these flags has."""
        return INTENDED if self.boost else LIVE


def read_flags(connection: Connection, org_id: str) -> Flags:
    """The flags of an organization inside a snapshot that is already open."""
    return Flags.of(FlagsOf(org_id).read(connection))


def is_feedback_weighting_enabled(store: Store, org_id: str | None) -> bool:
    """Whether session feedback weighs in an organization's rankings: unless it said otherwise (001).

    True for a missing flag, for an organization that is not there and for none at all.
    """
    if org_id is None or not is_storable(org_id):
        return True
    with store.reading(Reach.of(frozenset({org_id})), LIST, name="flags") as connection:
        return read_flags(connection, org_id).weighting


def named_pipeline(preset: str | None = None, text: str | None = None) -> Pipeline | None:
    """The pipeline of a preset's name or of a pipeline's text; None where neither is given."""
    if preset is not None and text is not None:
        raise PipelineError("expected a preset or a pipeline, found both")
    if text is not None:
        return from_text(text)
    if preset is None:
        return None
    if preset.upper() not in PRESETS:
        raise PipelineError(f"preset: expected one of {', '.join(PRESETS)}, found {preset!r}")
    return PRESETS[preset.upper()]


def fitted(stages: Sequence[Stage], *, weighting: bool, work_type: str | None) -> Pipeline:
    """The pipeline with the organization's switch, and a preset's budget as the work needs it.

    A pipeline that is no preset keeps the budget it names: somebody chose that number.
    """
    switched = tuple(_switched(stage, weighting=weighting) for stage in stages)
    if tuple(stages) not in PRESETS.values():
        return switched
    return with_budget(switched, work_type)


def with_budget(stages: Sequence[Stage], work_type: str | None) -> Pipeline:
    """The pipeline with the tokens of a work type in its budget, where it has one."""
    budget = TokenBudget(context_budget(work_type))
    return tuple(budget if isinstance(stage, TokenBudget) else stage for stage in stages)


def token_budget(stages: Sequence[Stage], work_type: str | None) -> int:
    """The tokens of the block: those of the pipeline's own budget, else what the work type allows."""
    named = [stage.tokens for stage in stages if isinstance(stage, TokenBudget)]
    return named[-1] if named else context_budget(work_type)


def _switched(stage: Stage, *, weighting: bool) -> Stage:
    return replace(stage, enabled=False) if isinstance(stage, Feedback) and not weighting else stage

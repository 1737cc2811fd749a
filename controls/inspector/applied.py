"""Which budget and which weighting apply to an inspection, and why: what may differ from one to the next unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ranking.budget import BUDGETS, OTHER_BUDGET
from ranking.feedback import Feedback

if TYPE_CHECKING:
    from controls.inspector.pipeline import Chosen
    from controls.inspector.question import Asked


def budget(asked: Asked, chosen: Chosen) -> str:
    """Why the block has this many tokens, to follow their number; of work types only our own are named."""
    logged, work = asked.logged is not None, asked.session.work_type
    if chosen.own_budget:
        return "as chosen in the pipeline"
    if work in BUDGETS:
        whose = f"its session's work (a typed question has {OTHER_BUDGET})" if logged else "named in the address"
        named = next(name for name in BUDGETS if name == work)
        return f"the budget of {named}, {whose}"
    if work is None:
        return f"the budget of other work: {'its session' if logged else 'a typed question'} names no work type"
    whose = "its session's" if logged else "that of the address"
    return f"the budget of other work: {whose} has none of its own"


def weighting(asked: Asked, chosen: Chosen) -> str | None:
    """How feedback weighs here where that needs a word: it is off, or not as the organization has it."""
    own = asked.flags.weighting
    stage = next((stage for stage in chosen.stages if isinstance(stage, Feedback)), None)
    if stage is None or (stage.enabled and own):
        return None
    if stage.enabled:
        return "Weighting is turned on here and off in this organization."
    where = "turned off here and on in this organization" if own else "off in this organization"
    return f"Weighting is {where}: feedback leaves every score as it is."

"""What the tooltips of the Inspector say."""

from __future__ import annotations

from controls import glossary as terms
from controls.inspector.presets import LABELS, ORIGINS

# The pipeline
STAGES_THAT_RUN = "In the order in which they run. A stage put in starts from its documented defaults."
PAIR_SCORER = "Default neural, after `make models`. To run none, take the cross-encoder out."


def pipeline(*, boosted: bool) -> str:
    """What the organization's own pipeline is, what every preset takes from it, and where each preset comes from."""
    return (
        f"The organization's own pipeline runs {'with' if boosted else 'without'} the corroboration boost, by its "
        "flags. A preset's token budget follows the session's work, and weighting the organization's flag.\n\n"
        "The presets' names in links and commands, and the documents they come from:\n"
    ) + "".join(f"\n- {LABELS[name]}: `{name}`, {origin}" for name, origin in ORIGINS.items())


def preset(value: str) -> str:
    """What the preset has here."""
    return f"Preset: {value}."


def default(value: str, *, turned: bool) -> str:
    """A knob's default, and the way back to it where it was turned."""
    return f"Default {value}, reset by the button below." if turned else f"Default {value}."


# The list, the waterfall, pins
PLACE = "After every stage but the budget, from 1."
PLACE_AFTER_STAGE = "Empty where the stage dropped it."
MOVED = "Against the order in which it was recalled."
WHY_ABOVE = "And what it gave both. Open a row for its formulas."
FOUND_BY = "The routes that found it and its place in each."
LOGGED_PLACE = (
    "Its place by weight when it was logged, from 1. Written since: it was not there yet. A dash: not among them."
)
WAS_GIVEN = "Whether it was in the logged block."
TAKE_DOWN = "It is archived with your name, and no longer checked."

# Why not
GATE = "Every gate between the store and the memory block, in the order an observation passes them."
GATE_RESULT = "Missed: this route did not find it, another did."
GATE_SCORE = "What it scored there, in full precision when you open the cell."
GATE_LIMIT = "The score of the last row that passed, or the floor."

# Pipelines compared
RBO = terms.RBO
COMPARE_WITH = "Up to three. A pipeline's text is what “copy as code” gives, for example Relevance~~Head~k~20."
COMPARED_TOP_K = "How many of each list are drawn and compared."
FAILED_OR_DEGRADED = "A failed list is not an empty one, and a degraded one may differ for that reason alone."
OVERLAP = "Observations among the best k of both lists, of the best k of the shorter: 2 of 4 where it has four rows."
JACCARD = "Shared observations among the best k of both, as a share of all different ones there."
TAU_OF_SHARED = (
    f"Of what both lists hold; a dash where fewer than five are shared: the order of so few is chance. {terms.TAU}"
)
IN_BOTH = "Observations in both lists at any place up to 100, not among the best k alone; τ-b is about their order."
ENTER_BLOCK = "In the second's memory block and not in the first's."
LEAVE_BLOCK = "In the first's memory block and not in the second's."
AGAINST_A = "Against the block of A."
RANK_IN_LIST = "A dash: not in its list."

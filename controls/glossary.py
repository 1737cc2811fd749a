"""What every tooltip says, worded once: a term means the same on every page."""

from __future__ import annotations

from queries.retrievals import POOL

FIND = (
    "An id or part of a name: organizations and projects by either, observations, retrievals and alerts by their id. "
    "Looked for in everything you may see."
)
SAVED_VIEW = "Keeps this page with its scope, filters and what is open, for you alone. Its link can be handed on."

# The trust strip
LOG_COVERAGE_AND_POOL = (
    "Log coverage is the share of retrievals whose two rank columns are whole, each rank given once: only these "
    "can say what feedback moved. Logging is lossy by design, so a gap is not an error of this page. "
    f"A pool that is full at {POOL} candidates may have lost the ones after it."
)

# The matrix of organizations
FLIPS_OF_ORGANIZATION = (
    "Observations per 100 retrievals that are in the memory block by feedback alone. "
    "Counts comparable retrievals whose block is logged."
)
OVERLAP_OF_ORGANIZATION = "Rank-biased overlap of the orders without and with feedback; 1: feedback moved nothing."
DRIFT_OF_ORGANIZATION = "Contradictions nobody has looked at yet; all of them per 1 000 observations, at the last pass."
COVERAGE_OF_ORGANIZATION = (
    "Share of retrievals logged completely. Above 95 % is good; below 80 % read the other figures as a sample."
)
WEIGHTING_NOW = "On unless feedback_weighting_disabled is true."
BOOST_NOW = "Corroboration boost: off unless corroboration_boost_enabled is true."
OVERRIDE_AGE = (
    "For how long the oldest flag that was set here has stood. Stale: for longer than 90 days. "
    "Set outside: the audit has never heard of it, or knows another state."
)

# One observation
WEIGHT = "Its feedback weight now: 1 at first, moved by how sessions ended that were given it."
RETRIEVED = "Retrievals that logged it, and in how many of them feedback moved it up or down."
INJECTED = "Retrievals that put it into the memory block."
ACCEPTED_OF_GIVEN = (
    "Of the sessions that were given it and have an outcome, those accepted. It was never their only memory."
)
SAID_BY_OTHERS = "Other observations in its cluster: near-duplicates by SimHash, as of the last aggregation pass."

# Feedback Impact
MOVED_TIMES = "Retrievals that moved it up and down."
RANK_WITH_FEEDBACK = "With feedback, from 1."


def check(formula: str, bands: str, todo: str) -> str:
    """A check of Health: how it is formed, how it is read, and what to do."""
    return f"{formula}. {bands}. When it is red: {todo}"

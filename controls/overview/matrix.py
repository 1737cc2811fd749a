"""Organizations by what needs a look: how far feedback moved things, drift, coverage, flags; each cell leads there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controls import glossary
from controls.drift.standing import new_alerts
from controls.flags.states import organizations, override_age
from controls.health.words import DIP, MEANINGS, SHORT_DIP, change, shown
from controls.links import Heading, open_column
from controls.loading import load
from controls.messages import MISSING, digits, number, percent
from controls.partly import ours
from queries.flags.history import FlagObjects
from queries.flags.registry import DEFAULT_STALE
from queries.flags.standing import StandingChanges
from retrieval.pipelines import BOOST_ON, WEIGHTING_OFF

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from analysis.health.change import Compared
    from queries.scope import Scope

# Column: its heading, the page its cells open, and what names the organization there.
# What decides stands first: in a window of 900 pixels the table shows the name and these up to the boost.
CELLS = {
    "accepted": (Heading("Accepted", 133, explained=glossary.ACCEPTED_OF_ORGANIZATION), "health.py", "org"),
    "alerts": (Heading("Drift", 100, explained=glossary.DRIFT_OF_ORGANIZATION), "drift_alerts.py", "org"),
    "weighting": (Heading("Weighting now", 97, explained=glossary.WEIGHTING_NOW), "feature_flags.py", "target"),
    "boost": (Heading("Boost now", 84, explained=glossary.BOOST_NOW), "feature_flags.py", "target"),
    "coverage": (Heading("Log coverage", 88, explained=glossary.LOG_COVERAGE), "health.py", "org"),
    "override": (Heading("Override age", 112, explained=glossary.OVERRIDE_AGE), "feature_flags.py", "target"),
    "flips": (Heading("Flips / 100", 74, explained=glossary.FLIPS_OF_ORGANIZATION), "feedback_impact.py", "org"),
    "overlap": (Heading("RBO", 60, explained=glossary.OVERLAP_OF_ORGANIZATION), "feedback_impact.py", "org"),
}
NAME = 126  # pixels of the column before them, which stays where the table is moved along
# The flag that a cell is about, with the longest preview: a week is little to decide on.
CHOSEN = {
    "weighting": {"flag": WEIGHTING_OFF, "days": "30d"},
    "boost": {"flag": BOOST_ON, "days": "30d"},
}
PER, PER_MILLE = 100, 1_000
OPENS = " ›"  # a cell that is a button looks like text
ROOM = 30 * " "  # on either side: a button of a table is as wide as its words, and so the whole cell is one
# What stands in a cell of accepted sessions, and what it means there; adjusted for many only where there are many.
UNCLEAR = {
    True: ", ≈ where it is unclear: among so many organizations it may be chance",
    False: ", ≈ where it is unclear: too few sessions to tell it from chance",
}
AGAINST_A_DIP = f",{SHORT_DIP} where it is better only than one bad week"


def explained(accepted: Sequence[str], every: int) -> str:
    """What the cells mean, ``accepted`` being those of that column; a sign that none of them has is not explained."""
    unclear = UNCLEAR[every > 1] if any("≈" in cell for cell in accepted) else ""
    dip = AGAINST_A_DIP if any(SHORT_DIP in cell for cell in accepted) else ""
    return (
        "A click on a cell with a › opens the page behind it; more columns stand to the right. Accepted: "
        f"against the window before{unclear}{dip}. Drift: alerts nobody has looked at, then all per 1 000 observations "
        "(‰) but for those dismissed: false positives, and where both hold. Set outside: a flag that other software "
        "set and the audit does not know. Outcomes: accepted / rework / rejected, in percent."
    )


def columns(orgs: Iterable[str]) -> dict[str, Any]:
    """The columns of the matrix, every cell of which opens its page at that organization."""
    return {
        name: open_column(f"cell_{name}", tuple(orgs), page, at, heading, **CHOSEN.get(name, {}))
        for name, (heading, page, at) in CELLS.items()
    }


def cells(overview: pd.DataFrame, accepted: Mapping[str, Compared], scope: Scope) -> dict[str, list[str]]:
    """What the log, the last aggregation and the flags' audit say of each organization; "—" where they say nothing."""
    drift, ages = new_alerts(scope) or {}, _override_ages(scope)
    said: dict[str, list[str]] = {
        "accepted": [],
        "flips": [],
        "overlap": [],
        "alerts": [],
        "coverage": [],
        "override": [],
    }
    rows: Iterable[Any] = overview.itertuples(index=False)
    for row in rows:
        said["accepted"].append(_accepted(accepted.get(row.org_id)))
        said["flips"].append(digits(PER * row.flips / row.block_known if row.block_known else None))
        said["overlap"].append(f"{row.overlap / row.measured:.3f}" if row.measured else MISSING)
        said["alerts"].append(_alerts(drift.get(row.org_id), row.observations))
        said["coverage"].append(percent(row.complete, row.retrievals))
        said["override"].append(ages.get(row.org_id, MISSING))
    return said


def as_buttons(cells: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same with a sign that each leads somewhere, and as wide as its cell at least."""
    return {name: [f"{ROOM}{value}{OPENS}{ROOM}" for value in values] for name, values in cells.items()}


def _accepted(found: Compared | None) -> str:
    """The share and its change as Health words it, as short as a cell: ≈ alone says that it is unclear."""
    if found is None or found.now is None:
        return MISSING
    said = change(found).removesuffix(MEANINGS["chance"]).replace(DIP, SHORT_DIP)
    told = {"nothing": "", "same": " ="}.get(found.meaning, f" {said}")
    return f"{shown(found.measure, found.now)}{told}"


def _alerts(found: tuple[int, int] | None, observations: int) -> str:
    if found is None:
        return MISSING
    new, every = found
    rate = f" · {digits(PER_MILLE * every / observations, 2)} ‰" if observations else ""
    return f"{number(new)} new{rate}"


def _override_ages(scope: Scope) -> dict[str, str]:
    """How long the oldest override of each organization has stood, and whether one was set outside."""
    standing = ours(StandingChanges(scope))
    if standing is None:
        return {}
    answer = load(FlagObjects(scope))
    found = organizations(answer.frames[0], standing, answer.as_of, DEFAULT_STALE)
    return {org.id: age for org in found if (age := override_age(org)) is not None}

"""Single memories to look at: trusted most, least, misleading, outdated, said by one alone, never retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import streamlit as st

from controls import links
from controls.grid import WRAPPED, grid
from controls.health import head
from controls.health.weighting import why_still_served
from controls.loading import load, shape
from controls.opening import choose_to_open
from queries.health.top import SHOWN, Kind, TopObservations

if TYPE_CHECKING:
    from queries.scope import Scope

KINDS: dict[str, str] = {
    "highest": "Highest weight",
    "lowest": "Lowest weight",
    "misleading": "Misleading",
    "outdated": "Outdated",
    "alone": "Low corroboration",
    "never": "Never retrieved",
}
TO_DO = {
    "highest": "What feedback trusts most among the window's retrievals. Weights start at 1 and are lowered by "
    "failed sessions and raised again by accepted ones, never above 1, so many stand at 1: of those, the most "
    "retrieved come first. Nothing to do, unless one of them is wrong.",
    "lowest": "What feedback has pushed down and retrieval still finds. Open one: if it misleads, archive it; if it is "
    "right, look at the sessions that failed with it.",
    "misleading": "Named as misleading by diagnostics of the window, however the session ended. Correct or archive it: "
    "it is still retrieved, and its weight falls twice as far only in a failed session that names it, or from its "
    "third failed one on.",
    "outdated": "Contradicted by a newer observation and still retrieved. Open it, see the other side, and settle it "
    "in Drift Alerts. Where the newer is right it stays here until it is archived or no longer retrieved; any other "
    "verdict takes it off the list, a snooze until its day.",
    "alone": "Retrieved most while the last aggregation pass read it and found nobody else who says it. Ask whether it "
    "is true: one voice can be wrong without anyone noticing.",
    "never": "Older than a week, and no retrieval has ever found it; the newest first. Open one, and in the Inspector "
    "ask a question that it answers: Why not? names the gate that keeps it out.",
}
NOTHING = {
    "highest": "Nothing was retrieved in this window.",
    "lowest": "Nothing was retrieved in this window.",
    "misleading": "No session's diagnostics in this window name an observation as misleading.",
    "outdated": "No aggregation pass found a newer contradiction of anything that was retrieved in this window, or all "
    "of them are settled or snoozed in Drift Alerts.",
    "alone": "Nothing that was retrieved stands alone, or no aggregation pass has finished yet.",
    "never": "All that is older than a week has been retrieved.",
}
WHEN = "D MMM YYYY"
NARROW = links.Heading(width=60)


def top(scope: Scope) -> None:
    """One list of observations, each opened by its id."""
    kind = head.choose("kind", "Kind", KINDS)
    chosen: Kind = next(each for each in get_args(Kind) if each == kind)
    found = load(TopObservations(scope, chosen, shape())).frames[0]
    st.caption(TO_DO[kind])
    if found.empty:
        st.info(NOTHING[kind], icon=":material/search_off:")
        return
    if kind == "misleading":
        why_still_served(found, scope)
    own = {
        "misleading": {"sessions": "Misled", "helped": "Helped"},
        "outdated": {"severity": "Severity"},
        "alone": {"voices": "Agents"},
    }
    more = own.get(kind, {})
    kept = ["open", "content", *more, "weight", "retrieved", "injected"]
    kept += ["organization"] if scope.org is None else []
    config: dict[str, Any] = {
        "open": links.open_column(f"open_{kind}", tuple(found["id"]), "observation.py", "observation", NARROW),
        "weight": st.column_config.NumberColumn("Weight", width=65, format="%.3g"),
        "retrieved": st.column_config.NumberColumn("Retrieved", width=80, format="localized"),
        "injected": st.column_config.NumberColumn("Injected", width=75, format="localized"),
        "content": st.column_config.TextColumn("Text", width=264),
        "organization": st.column_config.TextColumn("Organization", width=130),
        "project_id": st.column_config.TextColumn("Project", width=95),
        "agent_id": st.column_config.TextColumn("Agent", width=95),
        "created_at": st.column_config.DatetimeColumn("Written (UTC)", format=WHEN, timezone="UTC", width=100),
        "id": st.column_config.TextColumn("Id", width=280),  # whole on one line
    }
    config |= {name: st.column_config.NumberColumn(label, width=70, format="%.3g") for name, label in more.items()}
    labels = dict(zip(found["id"], found["content"], strict=True))
    choose_to_open(f"pick_{kind}", "an observation", labels, _open)
    table = found.assign(open="Open")[[*kept, "project_id", "agent_id", "created_at", "id"]]
    grid(table, hide_index=True, key=f"top_{kind}", row_height=WRAPPED, column_config=config)
    if len(found) == SHOWN:
        st.caption(f"The first {SHOWN}.")


def _open(observation: str) -> None:
    links.go("observation.py", observation=observation)

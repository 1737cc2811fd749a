"""Lists of observations, each opened by its id, and the box that finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pandas as pd
import streamlit as st

from controls import address, links, messages
from controls.grid import grid
from controls.messages import counted
from controls.opening import choose_to_open
from controls.partly import each
from queries.anything import LOOKED_THROUGH
from queries.observation.search import MATCHES, WordMatches
from queries.observation.titled import PART, WORDS, TitleMatches
from queries.scope import is_storable

if TYPE_CHECKING:
    from queries.scope import Scope

PAGE = "observation.py"
WHEN = "D MMM YYYY HH:mm"
LONGEST_WORDS = 500
COLUMNS = ("content", "agent_id", "session_id", "project_id", "created_at", "status", "id")
NUMBERS = {"cosine": "%.3f", "bits": "%d"}


def finder(scope: Scope) -> bool:
    """A box for an id or for words of the text, and what the words found; whether any were asked for."""
    words = st.query_params.get("words", "")[:LONGEST_WORDS]
    st.session_state["find"] = words
    st.text_input(
        "Observation id, or words of its title or text",
        key="find",
        on_change=_asked,
        max_chars=LONGEST_WORDS,
        placeholder="4b2ed51b-0a76-…, or: retry backoff",
        icon=":material/search:",
    )
    if not words or not is_storable(words):
        st.caption(
            f"Words are looked for in {'all organizations' if scope.org is None else 'this scope'}, at any time."
        )
        return False
    found = each({"texts": WordMatches(scope, words), "titles": TitleMatches(scope, words)})
    matches = _together(found.frames)
    if matches.empty:
        messages.no_match()
    else:
        many = len(matches) >= MATCHES
        most = f"The first {MATCHES}" if many else counted(len(matches), "observation")
        titled = "title" in matches
        order = ": those with them in the title as typed first, then the newest" if titled else ": the newest first"
        ordered = order if len(matches) > 1 else ""
        st.caption(f"{most} with all these words in {'title or text' if titled else 'the text'}{ordered}.")
        table(matches.head(MATCHES), "found", ({"title": "Title"} if titled else {}) | {"organization": "Organization"})
    if "titles" in found.frames:
        where = "all organizations, shared equally" if scope.org is None else "the organization in the sidebar"
        st.caption(f"Titles: among the newest {LOOKED_THROUGH:,} active observations of {where}. Texts: of any age.")
    for name, error in found.failed.items():
        messages.left_out(name.capitalize(), error)
    return True


def _together(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """What was found by text or title, each once; a title is named where it holds of the words what the text lacks."""
    texts, titles = found.get("texts"), found.get("titles")
    if texts is None or titles is None:
        return next(iter(found.values()))
    needed = titles[(titles["held"] <= PART) | ~titles["id"].isin(texts["id"])]
    if needed.empty:
        return texts
    rows = pd.concat([needed, texts[~texts["id"].isin(needed["id"])].assign(title="", held=WORDS)], ignore_index=True)
    rows["held"] = rows["held"].where(rows["held"] <= PART, WORDS)
    return rows.sort_values(["held", "created_at"], ascending=[True, False], ignore_index=True)


def _asked() -> None:
    asked = st.session_state["find"].strip()
    try:
        address.say(observation=str(UUID(asked)), words=None)
    except ValueError:
        address.say(observation=None, words=asked)


def table(rows: pd.DataFrame, key: str, first: dict[str, str], what: str = "an observation") -> None:
    """A table of observations, each opened by its id; ``what`` one of them is called in the list above it."""
    kept = [name for name in ("open", *first, *COLUMNS) if name == "open" or name in rows.columns]
    shown = rows.assign(open="Open").reset_index(drop=True)
    config: dict[str, Any] = {
        "open": links.open_column(f"open_{key}", tuple(rows["id"]), PAGE, "observation"),
        "content": st.column_config.TextColumn("Text", width=420),
        "agent_id": st.column_config.TextColumn("Agent"),
        "session_id": st.column_config.TextColumn("Session"),
        "project_id": st.column_config.TextColumn("Project"),
        "created_at": st.column_config.DatetimeColumn("Written (UTC)", format=WHEN, timezone="UTC", width=135),
        "status": st.column_config.TextColumn("Status"),
        "id": st.column_config.TextColumn("Id"),
    }
    for name, label in first.items():
        if name == "retrieved":
            config[name] = st.column_config.NumberColumn(label, width=80, format="localized")
        elif name in NUMBERS:
            config[name] = st.column_config.NumberColumn(label, format=NUMBERS[name])
        else:
            config[name] = st.column_config.TextColumn(label)
    choose_to_open(f"choose_{key}", what, dict(zip(rows["id"], rows["content"], strict=True)), _open)
    grid(shown[kept], hide_index=True, key=key, column_config=config, placeholder=messages.MISSING)


def _open(observation: str) -> None:
    links.go(PAGE, observation=observation)

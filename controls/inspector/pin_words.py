"""What pins say of observations, in the observations' own words: what a form offers, and what a held pin asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import streamlit as st

from analysis.inspector.inspection import before_budget
from queries.errors import StoreError
from queries.matching import Named
from queries.scope import isolated
from retrieval.block import one_line

if TYPE_CHECKING:
    from queries.engine import Store
    from queries.pins import Pin
    from retrieval.retrieve import Retrieval

OFFERED = "pins_offered"
FORM = {name: f"pin_{name}" for name in ("name", "include", "upper", "lower")}
SHOWN = 80  # characters of an observation in a list to choose from


def offered(found: Retrieval) -> dict[str, str] | None:
    """What can be chosen, each with its words: the present ranking from its best, then what is chosen or may be.

    A browser sends a choice by its words, also from a list that has been ranked anew since. So they name no place, and
    what another pipeline ranked for this question stays, as does what was chosen before the question changed.
    """
    ranked = before_budget(found).ids()
    if not ranked:
        return None
    texts = dict(zip(found.ranking.candidates.ids.tolist(), found.ranking.candidates.texts("content"), strict=True))
    words = {label: _words(label, texts[label].as_py()) for label in ranked}
    org, query, before = st.session_state.get(OFFERED, (None, None, {}))
    if org == found.session.org_id:
        given = [st.session_state.get(key) for name, key in FORM.items() if name != "name"]
        chosen = {*(given[0] or ()), *given[1:]}
        words |= {label: each for label, each in before.items() if query == found.query or label in chosen}
    st.session_state[OFFERED] = found.session.org_id, found.query, words
    return words


def asked_for(pin: Pin, found: Retrieval, store: Store) -> list[str]:
    """What a pin asks for, line by line."""
    known = found.ranking.candidates.ids.tolist()
    texts = dict(zip(known, found.ranking.candidates.texts("content").to_pylist(), strict=True))
    labels = dict.fromkeys((*pin.must_include, *(label for pair in pin.must_precede for label in pair)))
    words = {label: _words(label, texts.get(label) or _stored(label, found, store)) for label in labels}
    include = [f"{words[label]} must be in the block" for label in pin.must_include]
    return [*include, *(f"{words[upper]} must rank above {words[lower]}" for upper, lower in pin.must_precede)]


def _stored(label: str, found: Retrieval, store: Store) -> str:
    """The text of what this question did not recall; what is not read is not known here, and its id must do."""
    try:
        match = Named(found.session.org_id, UUID(label)).ask(store, found.session.reach)
    except (ValueError, StoreError):
        return ""
    return "" if match is None else match.content


def _words(label: str, text: str) -> str:
    line = one_line(text)
    return f"{isolated(line[:SHOWN])} · {label[:8]}" if line else label

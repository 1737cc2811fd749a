"""Where feedback weighting is off, and what that means for memories that feedback has marked down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls.partly import unless_lacking
from queries.flags.states import Features, flag_states
from retrieval.pipelines import Flags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from queries.scope import Scope

LITTLE = 0.3  # weights below it take most of its relevance from a memory


def is_on(scope: Scope, orgs: Iterable[str]) -> dict[str, bool]:
    """Whether weighting is on in these organizations of the scope; nothing where the store cannot say."""
    stored = unless_lacking(Features(scope, tuple(sorted(set(orgs)))))
    if stored is None:
        return {}
    told = zip(stored["org_id"], stored["features"], strict=True)
    return {org: Flags.of(flag_states(None if pd.isna(found) else found)).weighting for org, found in told}


def why_still_served(listed: pd.DataFrame, scope: Scope) -> None:
    """How many of a list feedback has marked down, and whether that counts where they are; of none, nothing."""
    light = listed["org_id"][listed["weight"] < LITTLE]
    on = is_on(scope, light)
    known = [on[org] for org in light if org in on]
    if not known or len(known) < len(light):
        return
    off = sum(not each for each in known)
    told = f"{len(light)} of these {len(listed)} weigh under {LITTLE}"
    if off == len(known):
        st.caption(f"{told}; weighting is off here, so they rank as if they weighed 1.")
    elif not off:
        st.caption(f"{told}: feedback already demotes them.")
    else:
        st.caption(
            f"{told}. Where weighting is off, {off} of them rank as if they weighed 1; feedback already demotes the "
            f"other {len(known) - off}."
        )

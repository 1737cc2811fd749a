"""One retrieval opened on Feedback Impact: its session, both orders, and every score with the formula that made it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls import glossary, links
from controls.address import say
from controls.grid import WRAPPED, grid
from controls.messages import MISSING, counted, moved
from controls.opening import choose_to_open
from queries.scope import marked

if TYPE_CHECKING:
    from collections.abc import Hashable

EQUAL = 1e-9


def one_tenant(found: pd.DataFrame) -> pd.DataFrame:
    """The rows of one organization: an id that two of them use names one retrieval here."""
    return found.loc[found["org_id"] == str(found["org_id"].iloc[0])]


def block_size(found: pd.DataFrame) -> int | None:
    """How many were injected; none where that is not logged for every candidate."""
    injected = found["injected"]
    return None if injected.isna().any() else int(injected.sum())


def head(found: pd.DataFrame, retrieval: str) -> None:
    """Its question and session; nothing here is markup."""
    first = found.iloc[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Opened retrieval**")
        st.page_link(
            "inspector.py",
            label="Open in Inspector",
            icon=":material/manage_search:",
            query_params=links.retrieval_address(retrieval),
            width="content",
        )
        st.button("Close", key="close_retrieval", on_click=say, kwargs={"retrieval": None}, type="tertiary")
    st.text(marked(first["query"]))
    at = MISSING if pd.isna(first["at"]) else f"{first['at']:%-d %b %Y, %H:%M:%S} UTC"
    weighting = MISSING if pd.isna(first["weighting_enabled"]) else "on" if first["weighting_enabled"] else "off"
    told = (
        at,
        f"session {first['session_id']}",
        f"agent {_or_dash(first['agent'])}",
        f"work {_or_dash(first['work_type'])}",
        f"outcome {_or_dash(first['outcome'])}",
        f"weighting {weighting}",
        f"pipeline {_or_dash(first['pipeline'])}",
    )
    st.text(marked(" · ".join(told)))


def not_drawn(missing: int, deepest: int) -> None:
    """How many candidates the chart has no line for, and where they stand."""
    if missing:
        st.caption(
            f"{counted(missing, 'candidate')} without a line: a rank beyond {deepest}, or none logged. "
            "The table below has every candidate."
        )


def scores(found: pd.DataFrame) -> None:
    """Every candidate at full precision, with its formula; a row opens the observation."""
    ranks = zip(found["unweighted_rank"], found["weighted_rank"], strict=True)
    texts = found["text"].fillna("(no longer stored)")
    labels = dict(zip(found["observation_id"], texts, strict=True))
    choose_to_open("choose_candidate", "a candidate", labels, links.open_observation)
    grid(
        pd.DataFrame(
            {
                "open": "Open",
                "weighted_rank": found["weighted_rank"] + 1,
                "moved": [moved(before, after) for before, after in ranks],
                "injected": found["injected"].map({True: "● in the block", False: "○ no"}).fillna(MISSING),
                "text": texts,
                "formula": [formula(row) for row in found.to_dict("records")],
                "id": found["observation_id"],
            }
        ),
        hide_index=True,
        key="candidates",
        row_height=WRAPPED,
        column_config={
            "open": links.open_column(
                "open_candidate", tuple(found["observation_id"]), "observation.py", "observation"
            ),
            "weighted_rank": st.column_config.NumberColumn("Rank", width=55, help=glossary.RANK_WITH_FEEDBACK),
            "moved": st.column_config.TextColumn("Moved", width=65),
            "injected": st.column_config.TextColumn("Block", width=105),
            "formula": st.column_config.TextColumn("Relevance × weight = weighted score", width=480),
            "text": st.column_config.TextColumn("Text", width=242),
            "id": st.column_config.TextColumn("Observation", width=120),
        },
    )  # fmt: skip


def formula(row: dict[Hashable, object]) -> str:
    """``relevance × weight = weighted`` in all digits; what the formula does not give is said beside it."""
    relevance, boost, weight, weighted = (_number(row[name]) for name in ("relevance", "boost", "weight", "weighted"))
    base = f"({_digits(relevance)} + {_digits(boost)})" if boost else _digits(relevance)
    if row["weighting_enabled"] is False:
        return f"{base} = {_digits(weighted)} (weighting off; weight {_digits(weight)})"
    said = f"{base} × {_digits(weight)} = {_digits(weighted)}"
    if relevance is None or weight is None or weighted is None:
        return f"{said} (not a number)"
    due = (relevance + (boost or 0.0)) * weight
    if math.isclose(due, weighted, rel_tol=EQUAL, abs_tol=EQUAL):
        return said
    return f"{said} (the formula gives {due!r}: other stages scored before feedback)"


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _digits(value: float | None) -> str:
    return MISSING if value is None else repr(value)


def _or_dash(value: object) -> str:
    return value if isinstance(value, str) else MISSING

"""How far any two of the pipelines that are compared agree, in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls.glossary import inspector as glossary
from controls.grid import grid
from controls.messages import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.inspector.compared import Compared, PairAgreement

LETTERS = "ABCD"
FEWEST = 5  # shared rows from which on their order is more than chance


def figures(result: Compared, labels: Sequence[str]) -> None:
    """A row for every pair of lists, and below it which of them have no order to speak of."""
    rows = [
        {
            "pair": f"{labels[pair.first]}  ↔  {labels[pair.second]}",
            "overlap": f"{pair.shared} of {pair.shorter}" if pair.shorter else None,
            "jaccard": pair.jaccard,
            "rbo": pair.rbo,
            "tau": _order(pair),
            "both": pair.in_both,
            "entered": len(pair.entered),
            "left": len(pair.left),
        }
        for pair in result.pairs
    ]
    if not rows:
        return
    number = st.column_config.NumberColumn
    grid(
        pd.DataFrame(rows).astype(dict.fromkeys(("jaccard", "rbo", "tau"), "float64")),
        key="compare_agreement",
        hide_index=True,
        placeholder=MISSING,
        column_config={
            "pair": st.column_config.TextColumn("Pair", width="large"),
            "overlap": st.column_config.TextColumn(f"Overlap@{result.k}", alignment="right", help=glossary.OVERLAP),
            "jaccard": number(f"Jaccard@{result.k}", format="%.3g", help=glossary.JACCARD),
            "rbo": number("RBO", format="%.3g", help=glossary.RBO),
            "tau": number("τ-b", format="%.3g", help=glossary.TAU_OF_SHARED),
            "both": number("In both", help=glossary.IN_BOTH),
            "entered": number("Enter block", help=glossary.ENTER_BLOCK),
            "left": number("Leave block", help=glossary.LEAVE_BLOCK),
        },
    )
    _too_few(result.pairs)


def _order(pair: PairAgreement) -> float | None:
    """τ-b where enough is shared: two rows are in the same order or reversed by chance alone."""
    return pair.tau if pair.in_both >= FEWEST else None


def _too_few(pairs: Sequence[PairAgreement]) -> None:
    few = [f"{LETTERS[pair.first]} ↔ {LETTERS[pair.second]} {pair.in_both:,}" for pair in pairs if _order(pair) is None]
    if few:
        st.caption(f"No τ-b, too few shared: {', '.join(few)}. It takes {FEWEST}.")

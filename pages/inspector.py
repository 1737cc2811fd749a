"""Inspector: one question, recalled and ranked by the live code under any pipeline, and why each row stands there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from analysis.inspection import standings, way_of
from charts.bump import bump
from charts.waterfall import waterfall
from controls import compare, inspection, loading, messages, pins, pipeline, question, why_not
from controls.view import view
from retrieval.retrieve import rank_recollection

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.delta_generator import DeltaGenerator

    from retrieval.retrieve import Memory, Retrieval

    Panels = dict[str, tuple[str, Callable[[Retrieval, question.Asked, Memory], None]]]

# What can be shown below the picture: name in the address, label, body. Only the body that is shown runs.
PANELS: Panels = {
    "list": ("Ranking", lambda found, asked, _: inspection.results(found, asked.logged)),
    "block": ("Memory block", lambda found, asked, _: inspection.block(found, asked.logged)),
    "compare": ("Compare", lambda found, _, memory: compare.panel(found, memory)),
    "why": ("Why not?", lambda found, _, memory: why_not.panel(found, memory)),
    "pins": ("Pins", lambda found, _, memory: pins.panel(found, memory)),
}
QUIET = {"displayModeBar": False}


def inspect(asked: question.Asked) -> None:
    """Recall, rank and draw one question."""
    picture, settings = st.columns([3, 1], gap="medium")
    own = loading.memory()
    with settings:
        chosen = pipeline.choose(asked, own.scorer)
    memory = replace(own, scorer=chosen.scorer_from(own.scorer))
    recollection = loading.recollected(view().scope, asked.session, asked.query, chosen.stages, asked.at)
    found = rank_recollection(memory, recollection, chosen.stages)
    with picture:
        if found.failed is not None:
            messages.not_looked_up(found.failed)
            return
        inspection.strip(found)
        if not len(found.ranking.candidates):
            messages.nothing_recalled()
            panel({"why": PANELS["why"], "pins": PANELS["pins"]}, found, asked, memory)
            return
        opened = inspection.opened()
        st.plotly_chart(
            bump(standings(found, opened), opened, len(found.block.ids), len(found.ranking.candidates)),
            key="bump",
            on_select=inspection.line_clicked,
            selection_mode="points",
            config=QUIET,
            alt="Place of every candidate after every stage, from recall to the memory block",
        )
        beside = st.container() if opened is None else open_row(found, opened)
        panel(PANELS, found, asked, memory)
        with beside:
            # last, because a flip distance ranks some hundred times
            inspection.beside(found, opened)


def panel(panels: Panels, found: Retrieval, asked: question.Asked, memory: Memory) -> None:
    """The one that the address shows."""
    shown = inspection.choose_panel({name: label for name, (label, _) in panels.items()})
    panels[shown][1](found, asked, memory)


def open_row(found: Retrieval, opened: str) -> DeltaGenerator:
    """The row that was opened: how its score came about, and the place for how firmly it stands there."""
    bars = way_of(found, opened)
    if bars is None:
        messages.not_a_candidate()
        return st.container()
    inspection.heading(found, opened)
    st.plotly_chart(waterfall(bars), key="waterfall", config=QUIET, alt="Change of the score at every stage")
    inspection.bars(bars)
    beside = st.container()
    st.button("Close", key="close_row", type="tertiary", icon=":material/close:", on_click=inspection.close)
    return beside


if (org := view().scope.org) is not None:
    pins.ask_in_address(org, loading.store())
asked = question.ask(view().scope)
if asked is not None:
    inspect(asked)

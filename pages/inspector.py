"""Inspector: one question, recalled and ranked by the live code under any pipeline, and why each row stands there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from analysis.inspector.inspection import standings, way_of
from charts.bump import bump
from charts.look import QUIET
from charts.waterfall import waterfall
from controls import knobs, loading, messages
from controls.inspector import compare, inspection, packed, pins, pipeline, question, ranked, why_not
from controls.view import view

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.delta_generator import DeltaGenerator

    from retrieval.retrieve import Memory, Retrieval

    Panels = dict[str, tuple[str, Callable[[Retrieval, question.Asked, Memory, pipeline.Chosen], None]]]

# What can be shown below the picture: name in the address, label, body. Only the body that is shown runs.
PANELS: Panels = {
    "list": ("Ranking", lambda found, asked, *_: inspection.results(found, asked.logged)),
    "block": ("Memory block", lambda found, *_: packed.block(found)),
    "compare": ("Compare", compare.panel),
    "why": ("Why not?", lambda found, _, memory, __: why_not.panel(found, memory)),
    "pins": ("Pins", lambda found, _, memory, chosen: pins.panel(found, memory, chosen)),
}
WITHOUT_CANDIDATES = ("why", "pins")


def inspect(asked: question.Asked) -> None:
    """Recall, rank and draw one question."""
    picture, settings = inspection.beside_settings([*pipeline.ignored(), *knobs.ignored([compare.TOP])], PANELS)
    own = loading.memory()
    with settings:
        chosen = pipeline.choose(asked, own.scorer)
    memory, found = ranked.ranked(view().scope, asked, chosen, own)
    panels = PANELS if len(found.ranking.candidates) else {name: PANELS[name] for name in WITHOUT_CANDIDATES}
    with picture:
        draw(found, opened := inspection.opened(), asked, chosen)
    if found.failed is not None:
        return
    shown = inspection.choose_panel({name: label for name, (label, _) in panels.items()})
    body, row = inspection.places(shown, opened)
    with row:
        firmly = open_row(found, opened)
    with body:
        panels[shown][1](found, asked, memory, chosen)
    with firmly:  # last, because a flip distance ranks some hundred times
        inspection.beside(found, opened)


def draw(found: Retrieval, opened: str | None, asked: question.Asked, chosen: pipeline.Chosen) -> None:
    """The picture below what is to be known of it."""
    inspection.strip(found, asked, chosen)
    if len(found.ranking.candidates):
        st.plotly_chart(
            bump(standings(found, opened), opened, len(found.block.ids), len(found.ranking.candidates)), key="bump",
            on_select=inspection.line_clicked, selection_mode="points", config=QUIET,
            alt="Place of every candidate after every stage, from recall to the memory block",
        )  # fmt: skip


def open_row(found: Retrieval, opened: str | None) -> DeltaGenerator:
    """The row that was opened, if any, with the place for how firmly that stands where it does."""
    if opened is not None and len(found.ranking.candidates):
        if (bars := way_of(found, opened)) is None:
            messages.not_a_candidate()
        else:
            inspection.heading(found, opened)
            st.plotly_chart(waterfall(bars), key="waterfall", config=QUIET, alt="Change of the score at every stage")
            inspection.bars(bars)
    return st.container()


pins.ask_in_address(view().scope, loading.store())
if (asked := question.ask(view().scope)) is not None:
    inspect(asked)

"""What-if: logged retrievals replayed under other settings, what would have changed, and how sure one can be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from analysis.replay.sensitivity import SAFE
from charts.look import QUIET
from charts.sensitivity import sensitivity
from controls import glossary, loading, messages, one_organization
from controls.ink import ink
from controls.view import view
from controls.what_if import answers, knobs, outcome_ladder, replayed
from controls.what_if.answers import Lacking

if TYPE_CHECKING:
    from analysis.replay.propensity import Reweighted
    from analysis.replay.replaying import Replay
    from analysis.replay.settings import WhatIf
    from queries.scope import Scope

LISTS = {"flips": replayed.flips, "worst": replayed.worst, "fragile": replayed.fragile}


def draw_map(settings: WhatIf, scope: Scope) -> None:
    """The sensitivity map; λ and boost of the settings only move the dotted frame on it."""
    found = answers.sensitivity_map(replace(settings, lam=None, boost=None), scope)
    if found is None:
        return
    lambdas, boosts = knobs.labels()
    st.plotly_chart(
        sensitivity(replayed.cells(found), lambdas, boosts, knobs.place(), SAFE, ink=ink()),
        key=knobs.MAP,
        on_select=knobs.map_clicked,
        selection_mode="points",
        config=QUIET,
        alt="Flips per 100 retrievals for combinations of λ and boost scale; a teal frame around those that keep the "
        "top 5, a dotted one around the present settings; click a cell to set both",
    )


def draw_panel(found: Replay, beyond: Reweighted, scope: Scope, *, on_top: bool) -> None:
    """The list that was chosen, and only that one; of the outcomes a part may stand on top."""
    shown = knobs.choose_panel()
    if shown in LISTS:
        LISTS[shown](found, scope)
    else:
        outcome_ladder.ladder(found.coverage, loading.ladder(scope), beyond, on_top=on_top)


def main(scope: Scope) -> None:
    """Figures, the picture with the knobs beside it or below, and lists of what they would have done."""
    messages.ignored_in_link(knobs.ignored())
    led = knobs.led_to_outcomes()
    above, top = st.container(), st.container()
    picture, panel = answers.beside_knobs()
    settings = knobs.settings()
    with picture:
        found = answers.replay(settings, scope, top)
    if led:
        outcomes = loading.ladder(scope)
        if found is not Lacking.NOT_LOGGED or outcome_ladder.has_any(outcomes):
            with above:
                outcome_ladder.experiments(outcomes)
    if found is Lacking.NOT_LOGGED:
        return  # no knob would change anything
    with panel:
        knobs.choose()
    with picture:
        if not isinstance(found, Lacking):
            draw_map(settings, scope)
        knobs.tell_frames()  # also while the map is awaited: what stands below keeps its place
        st.caption(glossary.REPLAY)
    if not isinstance(found, Lacking):
        if knobs.PANEL.value == "outcomes" and not led:
            with top:
                outcome_ladder.in_short(loading.ladder(scope))
        draw_panel(*found, scope, on_top=led)
        knobs.show_command(settings, scope)


if view().scope.org is None:
    one_organization.offer(view().scope, "Settings are tried on one organization's log.")
else:
    main(view().scope)

"""What-if: logged retrievals replayed under other settings, what would have changed, and how sure one can be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from analysis.replay.propensity import Reweighted
from analysis.replay.sensitivity import SAFE
from analysis.replay.tasks import map_from_json, replay_from_json
from charts.look import QUIET
from charts.sensitivity import sensitivity
from controls import glossary, loading, messages, one_organization, working
from controls.view import view
from controls.what_if import knobs, outcome_ladder, replayed

if TYPE_CHECKING:
    from analysis.replay.replaying import Replay
    from analysis.replay.settings import WhatIf
    from queries.scope import Scope

LISTS = {"flips": replayed.flips, "worst": replayed.worst, "fragile": replayed.fragile}


def replay(settings: WhatIf, scope: Scope) -> tuple[Replay, Reweighted] | None:
    """The replay with its coverage and figures; None where there is nothing to go on with, which is then said."""
    value = working.wait("replay", {"what_if": settings.to_json()}, scope, words="Replaying the log")
    if value is None:
        return None
    found = replay_from_json(value["replay"])
    if not found.coverage.logged:
        messages.nothing_found("retrievals")
        return None
    replayed.coverage(found.coverage, value["as_of"])
    if not found.coverage.replayed:
        messages.nothing_replayed()
        return None
    replayed.figures(found)
    return found, Reweighted.from_json(value["reweighted"])


def draw_map(settings: WhatIf, scope: Scope) -> None:
    """The sensitivity map; λ and boost of the settings only move the ring on it."""
    around = replace(settings, lam=None, boost=None)
    value = working.wait("sensitivity", {"what_if": around.to_json()}, scope, words="Mapping λ against boost scale")
    if value is None:
        return
    lambdas, boosts = knobs.labels()
    st.plotly_chart(
        sensitivity(replayed.cells(map_from_json(value)), lambdas, boosts, knobs.place(), SAFE, ink=replayed.ink()),
        key=knobs.MAP,
        on_select=knobs.map_clicked,
        selection_mode="points",
        config=QUIET,
        alt="Flips per 100 retrievals for combinations of λ and boost scale; click a cell to set both",
    )


def draw_panel(found: Replay, beyond: Reweighted, scope: Scope) -> None:
    """The list that was chosen, and only that one."""
    shown = knobs.choose_panel()
    if shown in LISTS:
        LISTS[shown](found, scope)
    else:
        outcome_ladder.ladder(found.coverage, loading.ladder(scope), beyond)


def main(scope: Scope) -> None:
    """Settings beside the picture; figures and lists of what they would have done."""
    messages.ignored_in_link(knobs.ignored())
    top = st.container()
    with st.container(horizontal=True, gap="medium"):  # one below the other where the window is narrow
        picture, panel = st.container(width=630), st.container(width=290)
    with panel:
        settings = knobs.choose()
    with top:
        found = replay(settings, scope)
    if found is not None:
        with picture:
            draw_map(settings, scope)
            st.caption(glossary.REPLAY)
        draw_panel(*found, scope)
        knobs.show_command(settings, scope)


if view().scope.org is None:
    one_organization.offer(view().scope, "Settings are tried on one organization's log.")
else:
    main(view().scope)

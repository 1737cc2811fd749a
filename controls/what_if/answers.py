"""What What-if asks of a worker, and how the page stands while the answer is on its way."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import streamlit as st

from analysis.replay.propensity import Reweighted
from analysis.replay.tasks import map_from_json, replay_from_json
from charts.sensitivity import HEIGHT
from controls import messages, working
from controls.what_if import replayed

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from analysis.replay.replaying import Replay
    from analysis.replay.sensitivity import SensitivityMap
    from analysis.replay.settings import WhatIf
    from queries.scope import Scope

BAR = 52  # pixels of the progress, with the gap below it
NARROWEST = 265  # pixels that a knob needs to be read; where a third of the width is less, they go below


class Lacking(Enum):
    """Why there is no replay to go on with."""

    AWAITED = auto()
    NOT_LOGGED = auto()
    NOT_REPLAYED = auto()


def beside_knobs() -> tuple[DeltaGenerator, DeltaGenerator]:
    """The place of the picture and that of the knobs: beside it, or below it in a narrow window."""
    thirds = st.grid(3, min_column_width=NARROWEST)
    return thirds.cell(column_span=2), thirds.cell()


def replay(settings: WhatIf, scope: Scope, top: DeltaGenerator) -> tuple[Replay, Reweighted] | Lacking:
    """The replay, its coverage and figures on ``top``; or why there is nothing to go on with, which is said.

    Progress is told where the picture will be, and is as tall: on top it would move the knobs under whoever turns them.
    """
    value = _wait("replay", settings, scope, "Replaying the log")
    with top:
        if value is None:
            replayed.awaited()
            replayed.beside_feedback_impact(settings)  # from the start, so that the knobs stay where they are
            return Lacking.AWAITED
        found = replay_from_json(value["replay"])
        if not found.coverage.logged:
            messages.nothing_found("retrievals")
            return Lacking.NOT_LOGGED
        replayed.coverage(found.coverage, value["as_of"])
        if not found.coverage.replayed:
            messages.nothing_replayed()
            return Lacking.NOT_REPLAYED
        replayed.figures(found)
        replayed.beside_feedback_impact(settings)
    return found, Reweighted.from_json(value["reweighted"])


def sensitivity_map(settings: WhatIf, scope: Scope) -> SensitivityMap | None:
    """The map, or None while there is none."""
    value = _wait("sensitivity", settings, scope, "Mapping λ against boost scale")
    return None if value is None else map_from_json(value)


def _wait(task: str, settings: WhatIf, scope: Scope, words: str) -> Any:  # noqa: ANN401 - JSON, as the task returned it
    """The value of a task; while it is at work, progress and the shape of a picture below it."""
    params = {"what_if": settings.to_json()}
    value = working.wait(task, params, scope, words=words)
    if value is None and working.given_up(task, params, scope) is None:
        st.skeleton(height=HEIGHT - BAR)
    return value

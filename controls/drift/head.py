"""The top of Drift Alerts: what was searched, and five figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from analysis.drift.alerts import OPEN
from analysis.drift.figures import FLOOR, precision_by_threshold
from controls import glossary
from controls.drift import messages
from controls.figures import Figure, in_a_row
from controls.messages import MISSING, counted, number, percent
from queries.aggregation_input import LIMIT

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from controls.drift.gathering import Drift


def places(*, folded: bool) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Where figures and filters stand: above the list, or folded there while an alert is open.

    Two places either way, so that the list below them stays the same and the browser can hold it where it was clicked.
    """
    figures_place, filters_place = st.container(), st.container(key="drift_filters")
    if not folded:
        return figures_place, filters_place
    fold = figures_place.expander("Figures and filters")
    return fold.container(), fold.container()


def trust(found: Drift) -> None:
    """What was searched, when, and what could not be."""
    searched, alarms = found.searched, []
    if searched.active > searched.considered:
        alarms.append(f"only the newest {number(LIMIT)} of {counted(searched.active, 'active observation')} compared")
    if searched.set_apart:
        alarms.append(f"{counted(searched.set_apart, 'observation')} left out for a weight that is no number")
    if found.left_out:
        alarms.append(
            f"the {number(len(found.every))} most severe of {number(found.total)} alerts are here: filters, list, bars "
            "and figures are of those; a report has them all"
        )
    if not found.logged:
        alarms.append("this store does not log what was injected: harm counts severity alone")
    if found.kept.missing:
        alarms.append(messages.missing_here(found.kept))
    compared = counted(searched.considered - searched.set_apart, "active observation")
    facts = [
        f"{compared} compared at {searched.as_of:%H:%M} UTC, inside each project",
        "decisions as of now",
        f"injections of {counted(found.scope.days, 'day')}",
    ]
    said = [*(f":orange[:material/warning: {sentence}]" for sentence in alarms), f":gray[{' · '.join(facts)}]"]
    st.markdown(" · ".join(f":small[{part}]" for part in said))


def figures(found: Drift) -> None:
    """Five figures, the first of what is listed, the others of what is open or judged."""
    waiting = [one for one in found.every if one.triage.state in OPEN]
    new = sum(one.triage.state == "new" for one in found.every)
    both = sum(bool(one.both_injected) for one in waiting)
    reached = sum(bool((one.older_injected or 0) + (one.newer_injected or 0)) for one in waiting)
    here = precision_by_threshold(found.verdicts, (found.wanted.threshold,))[0]
    judged = f"{here.judged} judged, needs {FLOOR}" if here.share is None else f"of {number(here.judged)} judged"
    here_alone = " here" if found.left_out else ""
    of_all, of_open = f"of {number(found.total)}", f"of {number(len(waiting))} open{here_alone}"
    reopened = [f"{number(len(found.earlier))} reopened"] if found.earlier else []
    beside_new = [*reopened, *([f"of {number(len(found.every))} here"] if found.left_out else [])]
    shown = (
        ("Listed", number(len(found.listed)), of_all, glossary.ALERTS_LISTED),
        ("New", number(new), ", ".join(beside_new) or None, glossary.ALERTS_NEW),
        ("Reached agents", number(reached) if found.logged else MISSING, of_open, glossary.ALERTS_REACHED),
        ("Both in a session", number(both) if found.logged else MISSING, of_open, glossary.ALERTS_BOTH),
        (
            "Confirmed",
            MISSING if here.share is None else percent(here.right, here.judged),
            judged if found.kept.verdicts else None,
            glossary.ALERTS_CONFIRMED,
        ),
    )  # fmt: skip
    in_a_row(Figure(label, value, beside, explained) for label, value, beside, explained in shown)

"""What can honestly be said about outcomes: a ladder from exact to not estimable. The further up, the less is known."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.intervals import FLOOR
from charts.flips import around_the_switch
from charts.look import QUIET
from controls import glossary
from controls.messages import MISSING, counted, digits, number, percent, unknown_outcomes
from controls.scope import scope_address

if TYPE_CHECKING:
    from analysis.replay.outcomes import Difference, NaturalExperiment, Outcomes, Switched
    from analysis.replay.pool import Coverage
    from analysis.replay.propensity import Estimate, Reweighted

INTERVALS = "Intervals resample whole sessions, or are Newcombe's where all or none of a side were accepted."
NOT_THE_WINDOW = "after it against before it, not, as on Health, this window against the one before"
TRIED = 0.8  # mean weight, which is 1 but for chance where all that is asked for could have been tried


def ladder(replayed: Coverage, found: Outcomes, beyond: Reweighted, *, on_top: bool) -> None:
    """Exact rank effects, what happened around a switch (which may stand on top), and what propensities add to it."""
    st.markdown(
        f"**Exact.** Rank effects, for {percent(replayed.replayed, replayed.logged)} of the logged retrievals: every "
        "figure above."
    )
    if on_top:
        st.markdown("**A natural experiment.** It stands on top of this page.")
    else:
        experiments(found)
    if beyond.estimate is None:
        said = " ".join(filter(None, (beyond.why_none, beyond.would_need)))
        st.markdown(f"**Anything else.** {said}")
    else:
        _estimate(beyond.estimate)


def experiments(found: Outcomes) -> None:
    """What happened around a switch of either flag, or why that cannot be told."""
    st.markdown(
        "**A natural experiment.** What happened around a switch of a flag, in the 90 days up to this window's end: "
        f"{NOT_THE_WINDOW}."
    )
    _switched(found.weighting, "weighting")
    _switched(found.boost, "the boost")
    if found.unknown:
        st.caption(_unknown(found.unknown).strip())


def has_any(found: Outcomes) -> bool:
    """Whether there was a switch that outcomes can be compared around."""
    return found.weighting.experiment is not None or found.boost.experiment is not None


def in_short(found: Outcomes) -> None:
    """What happened around a switch in a line on top: whoever came for it would take the replay's figures for that."""
    tried = ((found.weighting, "weighting"), (found.boost, "the boost"))
    told = [_finding(each.experiment, what) for each, what in tried if each.experiment is not None]
    said = f"{'; '.join(told)}: {NOT_THE_WINDOW}" if told else "No switch of a flag to compare outcomes around"
    st.text(f"{said}. Outcomes, below the map, has the rest.")


def _switched(found: Switched, what: str) -> None:
    if found.experiment is None:
        st.caption(found.why_none or MISSING)
    else:
        _experiment(found.experiment, what)


def _experiment(found: NaturalExperiment, what: str) -> None:
    st.plotly_chart(
        around_the_switch(
            pd.DataFrame([vars(week) for week in found.weeks]),
            found.switched_at,
            _finding(found, what),
        ),
        key=f"switch_{what}",
        config=QUIET,
        alt=f"Share of accepted sessions by week, before and after {what} was switched",
    )
    st.markdown(f"**{_verdict(found)}**")
    both = counted(found.straddling, "session")
    neither = f"; {both} with retrievals on both sides of the switch in neither" if found.straddling else ""
    st.caption(
        f"{_sides(found.effect)}{neither}. {_pre_trend(found)} {INTERVALS} Whatever else changed at that time is in "
        "the difference too."
    )
    if found.change is not None:
        st.page_link(
            "feature_flags.py",
            label="Open the change that made the switch, with its reason and its way back",
            icon=":material/flag:",
            query_params=scope_address() | {"change": str(found.change)},
        )


def _verdict(found: NaturalExperiment) -> str:
    """What the intervals allow to say in a sentence, and no more."""
    effect, before = found.effect, found.before_it
    if effect.low <= 0 <= effect.high:
        return "Whether the switch changed anything cannot be told: the interval of the difference holds 0."
    told = f"After the switch {'more' if effect.difference > 0 else 'fewer'} sessions were accepted"
    if before is None:
        return f"{told}; whether that began before it cannot be told."
    if before.low <= 0 <= before.high:
        return f"{told}, and no clear trend before explains it."
    if before.difference * effect.difference > 0:
        was = "rising" if before.difference > 0 else "falling"
        return f"{told}, but their share was {was} already, so the switch need not be the cause."
    return f"{told}, and the trend before it went the other way."


def _pre_trend(found: NaturalExperiment) -> str:
    before = found.before_it
    if before is None:
        first, second = found.halves
        return (
            f"No pre-trend can be told: {counted(first, 'session')} in the first half of the time before and "
            f"{number(second)} in the second, {FLOOR} each are needed."
        )
    told = f"Pre-trend, second against first half of the time before: {_points(before)}"
    if before.low <= 0 <= before.high:
        return f"{told}, no clear trend."
    return f"{told}, {'rising' if before.difference > 0 else 'falling'}."


def _finding(found: NaturalExperiment, what: str) -> str:
    return f"Accepted {_points(found.effect)} since {what} went {'on' if found.to else 'off'} {_when(found)}"


def _when(found: NaturalExperiment) -> str:
    """The day of the switch; both days that sessions leave open where none began on the day itself."""
    last, first = (f"{datetime.fromisoformat(at):%-d %b}" for at in (found.last_before, found.switched_at))
    return f"on {first}" if last == first else f"between {last} and {first}"


def _estimate(found: Estimate) -> None:
    """The estimate, and beside it everything by which it can be too good to be true."""
    st.markdown(
        f"**Reweighted by logged propensities.** Accepted sessions: {100 * found.accepted:.3g} % under these settings "
        f"(95 %: {100 * found.low:.3g} to {100 * found.high:.3g}), {100 * found.was:.3g} % as it was."
    )
    with st.container(horizontal=True, gap="small"):
        for label, value, explained in (
            ("Effective sample", digits(found.effective), glossary.EFFECTIVE_SAMPLE),
            ("Largest weight", digits(found.largest), glossary.LARGEST_WEIGHT),
            ("Clipped", f"{100 * found.clipped:.3g} %", glossary.CLIPPED),
            ("Mean weight", f"{found.mean:.3g}", glossary.MEAN_WEIGHT),
        ):
            st.metric(label, value, border=True, width=160, help=explained)
    left_out = f" {counted(found.left_out, 'session')} left out: a retrieval without propensity, or not replayed."
    st.caption(
        f"{number(found.matching)} of {counted(found.sessions, 'session')} were given what these settings would have "
        "chosen, and stand for the others: each counts for 1 over how likely that was."
        + (left_out if found.left_out else "")
        + _unknown(found.unknown)
        + (
            " **The mean weight is well below 1: part of what these settings choose was never tried, and nothing is "
            "known of it.**"
            if found.mean < TRIED
            else ""
        )
    )


def _unknown(sessions: int) -> str:
    return "".join(f" {told}." for told in unknown_outcomes(sessions))


def _points(found: Difference) -> str:
    return f"{100 * found.difference:+.3g} pt (95 %: {100 * found.low:+.3g} to {100 * found.high:+.3g})"


def _sides(found: Difference) -> str:
    one, other = found.earlier, found.later
    return (
        f"{percent(one.accepted, one.sessions)} of {counted(one.sessions, 'session')} before, "
        f"{percent(other.accepted, other.sessions)} of {number(other.sessions)} after"
    )

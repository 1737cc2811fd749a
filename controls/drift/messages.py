"""The states of Drift Alerts besides showing its figures, worded once; no tenant text, as in ``messages``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls.messages import counted, number

if TYPE_CHECKING:
    from queries.drift.kept import Kept
    from queries.scope import Scope


def no_alerts(*, filtered: bool) -> None:
    """A scope in which nothing contradicts, or nothing that the filters let through."""
    st.info(
        "No alert passes these filters. Reset them, or lower the threshold."
        if filtered
        else "No two statements of this scope contradict each other at this threshold.",
        icon=":material/handshake:",
    )


def alert_of_one_organization(*, found: bool | None) -> None:
    """An address that names an alert and not whose it is, which may not be known."""
    known = "" if found is None else " No last aggregation that you may see found this alert."
    st.info(
        "The link names an alert and no organization: the alert is opened once its organization is chosen."
        + (" The first below has it." if found else known),
        icon=":material/link:",
    )


def alert_left_out() -> None:
    """An address that names an alert which is not among those that are here, of very many."""
    st.warning(
        "Not among the most severe alerts, which alone are here (a report has them all), or it does not exist here, or "
        "you may not see it. Open one from the list.",
        icon=":material/link_off:",
    )


def alert_at_other_thresholds(least: float, most: float) -> None:
    """An address that names an alert which is found, and not at this threshold."""
    at = f"a threshold of {least:.2f}" if least == most else f"thresholds from {least:.2f} to {most:.2f}"
    st.warning(
        f"This alert is found at {at} and not at this one. Move *Threshold*, under *Figures and filters*, there.",
        icon=":material/link_off:",
    )


def unknown_alert(*, complete: bool, more_below: bool) -> None:
    """An address that names an alert which is not there, not any more, or may not be seen: the same words for all.

    A lower threshold is advised only where it may find it.
    """
    where = "at this threshold" if more_below or not complete else "at any threshold"
    lower = "Lower *Threshold* under *Figures and filters*, or open" if more_below else "Open"
    wait = "" if complete else "The search at other thresholds is still made. "
    st.warning(
        f"No such alert {where}: it does not exist here, a text has changed since, or you may not see it. "
        f"{wait}{lower} one from the list.",
        icon=":material/link_off:",
    )


def no_such_page() -> None:
    """An address that names a page beyond the last, which may have been there when it was sent."""
    st.warning("This list has fewer pages than the link says: the last is shown.", icon=":material/link_off:")


def not_saved() -> None:
    """A decision that was not made, told wherever the page was scrolled to: a key decides there too."""
    st.toast("Not saved: why stands below the decisions.", icon=":material/block:", duration="long")


def triage_needs_an_operator() -> None:
    """Someone who may look at alerts and not decide about them."""
    st.caption("You may see these alerts. Deciding about them takes the role operator; an administrator grants it.")


def triage_read_only(kept: Kept) -> None:
    """A store that is only read here, or has nowhere to keep triage."""
    if kept.triage:
        why = (
            "no login that may write is configured. Set `RANKSCOPE_WRITE_URL` to a login that may write schema "
            "`rankscope`, and start again."
        )
    elif kept.nothing:
        why = "this store has no tables of schema `rankscope` to keep triage in. `python -m jobs migrate` makes them."
    else:
        lacking = ", ".join(f"`{name}`" for name in kept.missing)
        why = f"this store is of an older revision and lacks {lacking}. `python -m jobs migrate` adds them."
    st.info(f"Alerts can be seen and not triaged here: {why}", icon=":material/edit_off:")


def missing_here(kept: Kept) -> str:
    """What a store keeps nothing of and what adds it, for the trust strip; names of our own tables and columns only."""
    mend = "run python -m jobs migrate"
    if kept.nothing:
        return f"this store keeps no triage and no opposition pairs: every alert is new, the default pairs hold; {mend}"
    gone = [
        *([] if kept.states else ["where alerts stand"]),
        *([] if kept.earlier else ["which alerts were reopened"]),
        *([] if kept.verdicts else ["verdicts by threshold"]),
        *([] if kept.decisions else ["how long alerts were open"]),
        *([] if kept.pairs else ["opposition pairs"]),
    ]
    fixed = [
        *([] if kept.triage else ["alerts cannot be decided about"]),
        *([] if kept.pair_changes else ["opposition pairs cannot be changed"]),
        *([f"not shown: {', '.join(gone)}"] if gone else []),
    ]
    return f"this store is of an older revision and lacks {', '.join(kept.missing)}: {'; '.join([*fixed, mend])}"


def no_history() -> None:
    """A store that does not keep when alerts were decided: which were open on a day cannot be told."""
    st.caption("Alerts over time are counted by the history of decisions, of which this store keeps only part.")


def no_trend(scope: Scope) -> None:
    """Days on which there was nothing to draw."""
    days = scope.days_in_words()
    st.caption(f"No alert arose or was open {'on' if scope.days == 1 else 'from'} {days}.")


def exposure_counted(scope: Scope) -> None:
    """What in a file hangs on the window, which may have been chosen on another page, and what does not."""
    st.caption(
        f"Harm, the order and what agents were given count {scope.days_in_words()}, the window of the sidebar; the "
        "alerts themselves are all that are listed, of whatever day."
    )


def at_thresholds(totals: tuple[int, ...], first: float, last: float) -> None:
    """How many alerts the ends of the slider have, so that nobody looks for what it cannot change."""
    low, high = totals[0], totals[-1]
    if min(totals) == max(totals):
        told = f"The threshold changes nothing here: {counted(low, 'alert')} from {first:.1f} to {last:.1f}"
    else:
        told = f"Threshold: {counted(low, 'alert')} at {first:.1f}, {number(high)} at {last:.1f}"
    st.caption(f"{told}, before the other filters.")


def collecting_verdicts(judged: int, needed: int) -> None:
    """Too few decisions that say whether alerts were right, at whatever threshold."""
    st.caption(f"How often alerts are confirmed is drawn from {number(needed)} verdicts on: {number(judged)} so far.")


def reports_follow() -> None:
    """A page that shows what the last pass found while the search at every threshold is still made."""
    st.caption("Reports are offered as soon as every threshold has been searched.")


def report_prepared_first(total: int) -> None:
    """More alerts than a page holds: a report of them all needs a search of its own."""
    st.caption(f"A report holds all {total:,} alerts at this threshold that pass the filters. They are searched first.")


def report_too_large(rows: int) -> None:
    """More alerts than a page hands out as a file."""
    st.info(
        f"{counted(rows, 'alert')} are more than this page makes a file of. The command below writes them all, "
        "whatever their number.",
        icon=":material/terminal:",
    )

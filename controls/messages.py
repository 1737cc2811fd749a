"""Every state a page can be in besides showing its figures, worded once.

No tenant text in here: these sentences go to Markdown sinks, where escaping is not enough. Streamlit makes links of
bare addresses after the escapes are gone, and icons of ``:material/…:`` even inside code spans. Tenant text goes to
``st.text``, ``st.dataframe`` and plotly, which show it literally.
"""

from __future__ import annotations

import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from controls import empty_messages, link_banner, store_state
from controls.view import view

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, timedelta

    from queries.errors import StoreError
    from queries.scope import Scope

MISSING = "—"
TICK = "✓"  # as text: the ticks of a table's checkboxes are too faint to be read
GONE = "(deleted, or not yours to see)"
PASSING = ("unreachable", "connection", "restarting", "starting", "silent", "busy", "connections")
NOT_MADE = ("login", "database")  # what a server answers in which no store was made yet
STOPPED = "The embedded database stopped and is being started again. Nothing was lost."
RETRY = 3.0
FAILED_AT = "failed_at"


def failed(error: StoreError) -> None:
    """The store could not be asked: what is wrong and what to do; a page that may come back does so by itself."""
    passing = error.kind in PASSING
    embedded = store_state.is_embedded()
    if embedded and error.kind in NOT_MADE:
        empty_messages.no_organizations(everything=True)
    else:
        st.error(STOPPED if embedded and passing else error.sentence, icon=":material/database_off:")
    st.button("Try again", key="try_again")
    if passing:
        st.session_state[FAILED_AT] = time.monotonic()
        _come_back()


@st.fragment(run_every=RETRY)
def _come_back() -> None:
    """Run the page again once the store answers; not at once, or a store that comes and goes would spin the page."""
    if time.monotonic() - st.session_state.get(FAILED_AT, 0.0) > RETRY / 2 and store_state.answers_now():
        st.rerun()
    st.caption("This page tries again by itself.")


def unanswered(error: StoreError) -> None:
    """One panel of a page could not be answered; the rest of the page stands."""
    st.error(error.sentence, icon=":material/database_off:")


def not_allowed(sentence: str) -> None:
    """Whoever asks may not see this."""
    st.error(sentence, icon=":material/lock:")


def sign_in(sentence: str) -> bool:
    """Nobody is signed in, or no longer; whether they want to."""
    st.info(sentence, icon=":material/login:")
    return st.button("Sign in", key="sign_in", type="primary")


def unknown_in_link(what: str) -> None:
    """An address that names something unknown, or something that whoever asks may not see: the two look the same."""
    link_banner.tell(unknown=[what])


def ignored_in_link(labels: Sequence[str]) -> None:
    """Parts of an address that mean nothing here, by our own names for them: what was sent is not repeated."""
    if labels:
        link_banner.tell(ignored=labels)


def shown_instead(said: tuple[date, date], chosen: tuple[date, date], why: str) -> None:
    """A window in an address that reaches where no figures can be, or too far: which days are shown instead."""
    asked, shown = (
        f"{first.isoformat()} alone" if first == last else f"{first.isoformat()} to {last.isoformat()}"
        for first, last in (said, chosen)
    )
    link_banner.tell(instead=[f"The window in this link, {asked}, {why}. Showing {shown} instead."])


def nothing_recalled() -> None:
    """A question that brought back no candidate, which is an answer and not a failure."""
    st.info(
        "Nothing was recalled for this question. Ask in other words, or choose all projects.",
        icon=":material/search_off:",
    )


def nothing_replayed() -> None:
    """A scope with a log of which nothing can be replayed."""
    st.info(
        "None of the logged retrievals can be replayed, for the reasons above. Choose a longer window.",
        icon=":material/search_off:",
    )


def not_looked_up(reason: str) -> None:
    """A retrieval that failed before it found anything; the reason is the store's own sentence."""
    st.error(f"{reason[:1].upper()}{reason[1:]}", icon=":material/database_off:")
    st.button("Try again", key="try_again")


def unknown_retrieval(*, of_one: bool = True) -> None:
    """An address that names a retrieval which is not there or may not be seen: the two look the same."""
    instead = "Type a question instead, or open one below." if of_one else "Choose an organization to open another."
    st.warning(
        f"Unknown retrieval in this link: it does not exist here, or you may not see it. {instead}",
        icon=":material/link_off:",
    )


def not_a_candidate() -> None:
    """An address that opens an observation which the question did not bring back, or which is not there at all."""
    st.info("The observation in this link is not among the candidates of this question.", icon=":material/search_off:")


def nothing_left(what: str) -> None:
    """Filters that let nothing through."""
    st.info(
        f"No {what} in this scope pass these filters. Clear one of them, or choose a longer window.",
        icon=":material/filter_alt_off:",
    )


def in_no_session(kinds: Sequence[str], scope: Scope) -> None:
    """Nothing passes, because what the filters name is in no session of the scope."""
    where, whose = "these organizations have", "another organization's"
    if scope.project is not None:
        where, whose = "this project has", "another project's or organization's"
    elif scope.org is not None:
        where = "this organization has"
    st.info(
        f"No session that {where} in this window is of the {' or '.join(kinds)} chosen above, so no retrieval is left. "
        f"It may be {whose}: clear it, or choose a longer window.",
        icon=":material/filter_alt_off:",
    )


def nothing_found(what: str) -> None:
    """A scope that holds none of what the page shows; nothing where it never held anything, which the shell says."""
    if store_state.holds_nothing(view().scope):
        return
    st.info(f"No {what} in this scope. Choose a longer window or another organization.", icon=":material/search_off:")


def never_retrieved() -> None:
    """An observation that no retrieval ever logged, in its whole life."""
    st.info("No retrieval has ever brought this observation back.", icon=":material/search_off:")


def no_such_retrieval() -> None:
    """An id that names no logged retrieval, or one that whoever asks may not see: the same words for both."""
    st.warning(
        "No such retrieval: it does not exist here, or you may not see it. Check the id, or choose one from a table.",
        icon=":material/link_off:",
    )


def unknown_observation() -> None:
    """An id that names nothing, or something that whoever asks may not see: the same words for both."""
    st.warning(
        "No such observation: it does not exist here, or you may not see it. "
        "Check the id, or search for words of its title or text below.",
        icon=":material/link_off:",
    )


def cannot_be_looked_for(longest: int) -> None:
    """Words that nothing can be called, because no store could hold them or they are too long."""
    st.warning(
        f"This cannot be looked for: an id or name has {number(longest)} characters at most, and none that a database "
        "cannot hold.",
        icon=":material/search_off:",
    )


def nothing_called_that(among: str | None, *, alerts: bool) -> None:
    """A search for an id or name that is not there, or that whoever asks may not see: the same words for both.

    ``among`` is where titles, queries and, where they can be read, ``alerts`` were looked for, None where the whole id
    was.
    """
    severe = ", nor among its most severe alerts" if alerts else ""
    start = "" if among is None else f"Not among the newest titles and queries of {among}{severe}. "
    st.info(
        f"{start}Nothing that you may see has this id or name: organizations, projects, titles and queries are found "
        "by a part of it, alerts by words of what contradicts each other, observations, retrievals and alerts by "
        "their whole id; agents and sessions are not looked for.",
        icon=":material/search_off:",
    )


def no_match() -> None:
    """A search that found nothing."""
    st.info(
        "No observation in this scope holds all these words. Try fewer of them, or another organization.",
        icon=":material/search_off:",
    )


def not_aggregated(where: str = "for this project") -> None:
    """Clusters and contradictions that nobody has looked for."""
    st.info(
        f"No aggregation has finished {where} yet, so nothing is known about who says the same or the opposite. "
        "`python -m jobs aggregate` runs one.",
        icon=":material/hourglass_empty:",
    )


def left_out(what: str, error: StoreError) -> None:
    """A part of a page that could not be had while the rest could."""
    st.warning(f"{what} could not be read. {error.sentence}", icon=":material/database_off:")


def not_on_record() -> None:
    """Files are offered where nothing can be written: the server's log is all that will tell of them."""
    st.caption(
        ":orange[:material/warning: This download is not on record: no write login is configured.] "
        "The server's log has a line of it, without a name."
    )


def compared(logged_before: float, days: int, more: str = "") -> None:
    """What the changes beside figures are against."""
    earlier = window_before(days)
    if logged_before:
        st.caption(f"Changes are against {earlier}; pt are percentage points.{more}")
    else:
        st.caption(f"Nothing was logged in {earlier}, so no change is shown.{more}")


def window_before(days: int) -> str:
    """The window that changes are told against."""
    return "the day before" if days == 1 else f"the {days} days before"


def number(value: float | None) -> str:
    """A count with thousands separated, or a dash where it is missing."""
    return MISSING if value is None else f"{value:,.0f}"


def digits(value: float | None, most: int = 3, *, signed: bool = False) -> str:
    """A figure with so many significant digits, all of them before the point from there on: never an exponent."""
    if value is None:
        return MISSING
    sign = "+" if signed else ""
    shown = f"{value:{sign}.{most}g}"
    if abs(float(shown)) >= 10**most:
        return f"{value:{sign},.0f}"
    return f"{Decimal(shown):{sign}f}" if "e" in shown else shown  # one of millions has one


def lasting(span: timedelta) -> str:
    """How long something held, in its largest whole unit."""
    seconds = max(int(span.total_seconds()), 0)
    units = (("d", 86_400), ("h", 3_600), ("min", 60))
    return next((f"{seconds // size} {name}" for name, size in units if seconds >= size), f"{seconds} s")


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the plural where it needs one."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def unknown_outcomes(sessions: float) -> tuple[str, ...]:
    """Sessions that ended with a word of the platform's own, where there are any."""
    return (f"{counted(int(sessions), 'session')} with an unknown outcome, in no share",) if sessions else ()


def climbed(up: float) -> str:
    """So many places up or down."""
    return f"▲{up:.0f}" if up > 0 else f"▼{-up:.0f}" if up < 0 else "="


def moved(before: Any, after: Any) -> str:  # noqa: ANN401 - ranks, or what pandas has for none
    """The places between two ranks, of which the lower stands higher; a dash where one is missing."""
    return MISSING if pd.isna(before) or pd.isna(after) else climbed(before - after)


def percent(part: float, whole: float) -> str:
    """A share with three significant digits at most, or a dash where there is nothing to share."""
    return MISSING if not whole else f"{digits(100 * part / whole)} %"

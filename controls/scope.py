"""The scope an operator chose in the sidebar. The address is the state: the controls only show it and change it.

Streamlit's own ``bind="query-params"`` writes a choice's label into the address; ours would then carry tenants' names
and break when one is renamed. Here the address holds ids, and the browser's back button undoes a choice.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import streamlit as st

from controls import messages
from controls.address import say
from controls.loading import load
from queries.errors import NO_STORE, StoreError
from queries.organizations import Organizations, Projects
from queries.scope import Scope, is_storable, with_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from controls.access import Principal

NAMES = ("org", "project", "window", "from", "to")
ALL = ""
DAYS = {"From": "from", "To": "to"}
WINDOWS = {"7d": "7d", "30d": "30d", "90d": "90d", "custom": "Custom"}
DEFAULT_WINDOW = "30d"
MOST_DAYS = 366
LONGEST_WINDOW = timedelta(days=MOST_DAYS - 1)  # from its first day to its last
EARLIEST = date(1970, 1, 1)
DRAWN = "scope_drawn"


def choose_scope(principal: Principal, *, in_window: bool = True) -> Scope | None:
    """Draw the scope controls and return what they say; ``None`` where there is no organization to look at.

    A page that looks at all of time draws no window; the address keeps the one that was chosen.
    """
    first, last = _window(datetime.now(UTC).date(), shown=in_window)
    everything = Scope.of_days(principal.reach, first, last)
    organizations = _organizations(everything)
    if not organizations:
        return None
    scope = everything
    org = _choice("Organization", organizations, name="org", everything="All organizations")
    if org is not None:
        inside = Scope.of_days(principal.reach, first, last, org)
        names = _names(load(Projects(inside)).frames[0])
        project = _choice("Project", names, name="project", everything="All projects")
        scope = Scope.of_days(principal.reach, first, last, org, project)
        scope = scope.named(organizations[org], names.get(project or ALL))
    st.session_state[DRAWN] = True
    return scope


def _organizations(everything: Scope) -> dict[str, str]:
    try:
        return _names(load(Organizations(everything, _storable(st.query_params.get("org")))).frames[0])
    except StoreError as error:
        if error.kind == "table":
            raise StoreError("store", NO_STORE, error.sqlstate) from error
        raise


def scope_address() -> dict[str, str]:
    """The part of the address that every link inside the application carries on."""
    return {name: st.query_params[name] for name in NAMES if name in st.query_params}


def last_days_address(days: int) -> dict[str, str]:
    """The part of the address that says a window of so many days up to today."""
    return {} if f"{days}d" == DEFAULT_WINDOW else {"window": f"{days}d"}


def days_holding(moment: datetime) -> int | None:
    """The shortest window up to today that has a moment; none where no window offered goes back so far."""
    age = (datetime.now(UTC).date() - moment.astimezone(UTC).date()).days
    offered = (int(name.removesuffix("d")) for name in WINDOWS if name != "custom")
    return min((days for days in offered if days > age), default=None)


def look_at_last(days: int) -> None:
    """Move the window to one of so many days up to today."""
    _write("window", f"{days}d")


def enter(org: str) -> None:
    """Move the scope into one organization."""
    _write("org", org)


def _window(today: date, *, shown: bool) -> tuple[date, date]:
    said = _valid("window", WINDOWS)
    window = "custom" if is_custom() else said or DEFAULT_WINDOW

    def draw(**start: Any) -> Any:  # noqa: ANN401 - Streamlit's own arguments and answer
        return st.segmented_control(
            "Window", WINDOWS, format_func=WINDOWS.__getitem__, key="pick_window", on_change=_picked, args=("window",),
            required=True, **start,
        )  # fmt: skip

    unread = ["Window"] if said is None else []
    unread += [label for label, name in DAYS.items() if name in st.query_params and _read_day(name) is None]
    if shown:
        messages.ignored_in_link(unread)
        if window == "custom":
            _tell_shown_instead(today)
    with st.sidebar:
        if shown:
            _show("window", window, draw, start="default")
        if window != "custom":
            return today - timedelta(days=int(window.removesuffix("d")) - 1), today
        asked, window_shown = _asked_and_shown(today)
        if shown:
            for label, day in zip(DAYS, window_shown, strict=True):
                _day(label, day, today)
            if window_shown[0] > _with_figures(asked[0], today):
                st.caption(f"A window covers {MOST_DAYS} days at most; showing the last {MOST_DAYS}.")
        return window_shown


def _said_day(name: str) -> date | None:
    """The day that the address says, ``None`` where it is silent or says no day."""
    try:
        return date.fromisoformat(st.query_params.get(name, ""))
    except ValueError:
        return None


def is_custom() -> bool:
    """Whether the address says a window of one's own, be it by a first day alone where it names no window."""
    said = st.query_params.get("window", ALL)
    return said == "custom" or (said == ALL and _said_day("from") is not None)


def _read_day(name: str) -> date | None:
    """The day that the address says where it counts: in a window of one's own, and a last day only beside a first."""
    alone = name == "to" and "from" not in st.query_params
    return _said_day(name) if is_custom() and not alone else None


def _day(label: str, day: date, today: date) -> None:
    name = DAYS[label]

    def draw(**start: Any) -> Any:  # noqa: ANN401 - Streamlit's own arguments and answer
        return st.date_input(
            label, key=f"pick_{name}", min_value=EARLIEST, max_value=today, on_change=_picked, args=(name,), **start
        )

    _show(name, day, draw, start="value")


def _asked_and_shown(today: date) -> tuple[tuple[date, date], tuple[date, date]]:
    """The first and the last day that the address asks for, in whichever order, and those that can be shown of them."""
    month = today - timedelta(days=29)
    first, last = sorted((_read_day("from") or month, _read_day("to") or today))
    return (first, last), _at_most(_with_figures(first, today), _with_figures(last, today))


def _tell_shown_instead(today: date) -> None:
    """Where the address asks for more days than can be shown, tell which are shown instead."""
    (first, last), shown = _asked_and_shown(today)
    past, future = first < EARLIEST, last > today
    if past or future:
        outside = f"before {EARLIEST.year}{' and after today' if future else ''}" if past else "after today"
        why = f"has days {outside}, of which there are no figures"
    elif last - first > LONGEST_WINDOW:
        why = f"has more than {MOST_DAYS} days"
    else:
        return
    messages.shown_instead((first, last), shown, why)


def _at_most(first: date, last: date) -> tuple[date, date]:
    return max(first, last - LONGEST_WINDOW), last


def _with_figures(day: date, today: date) -> date:
    return max(EARLIEST, min(day, today))


def _choice(label: str, names: dict[str, str], *, name: str, everything: str) -> str | None:
    labels = {ALL: everything}
    labels |= {id_: with_id(text, id_) for id_, text in names.items()}
    chosen = _valid(name, labels)
    if chosen is None:
        messages.unknown_in_link(f"Unknown {label.lower()}")

    def draw(**start: Any) -> Any:  # noqa: ANN401 - Streamlit's own arguments and answer
        index = list(labels).index(start["index"]) if start else 0
        return st.selectbox(
            label, labels, index, format_func=labels.__getitem__, key=f"pick_{name}", on_change=_picked, args=(name,)
        )

    with st.sidebar:
        _show(name, chosen or ALL, draw, start="index")
    return chosen or None


def _show(name: str, value: Any, draw: Callable[..., Any], *, start: str) -> None:  # noqa: ANN401 - a choice or a day
    """Draw a control at what the address says.

    In the first run of a session the browser may bring a choice made while the server was away: it is then taken up
    as if it had just been made, because no callback knows of it.
    """
    if DRAWN in st.session_state:
        st.session_state[f"pick_{name}"] = value
        draw()
    elif (brought := draw(**{start: value})) != value and brought is not None:
        _write(name, brought.isoformat() if isinstance(brought, date) else brought)
        st.session_state[DRAWN] = True
        st.rerun()


def _storable(said: str | None) -> str | None:
    return said if said is not None and is_storable(said) else None


def _valid(name: str, known: Iterable[str]) -> str | None:
    """What the address says if it is one of the known values, ``""`` if it is silent, ``None`` if it is neither."""
    said = st.query_params.get(name, ALL)
    return said if said == ALL or said in set(known) else None


def _picked(name: str) -> None:
    value = st.session_state[f"pick_{name}"]
    _write(name, value.isoformat() if isinstance(value, date) else value)


def _write(name: str, value: str | None) -> None:
    """Change the address; what is at its default has no place in it."""
    if name in ("from", "to") and not is_custom():
        return  # a day typed in and left behind by choosing another window
    dropped = ("project",) if name == "org" else ("from", "to") if name == "window" and value != "custom" else ()
    both: dict[str, str] = {}
    if name in ("from", "to"):
        other = "from" if name == "to" else "to"
        day = st.session_state.get(f"pick_{other}")
        if isinstance(day, date) and (other == "from" or other in st.query_params):  # a silent last day is today
            both[other] = day.isoformat()
        both["window"] = "custom"
    silent = value in (None, ALL) or (name == "window" and value == DEFAULT_WINDOW)
    say(**dict.fromkeys(dropped), **both, **{name: None if silent else value})


def _names(frame: pd.DataFrame) -> dict[str, str]:
    return dict(zip(frame["id"], frame["name"], strict=True))

"""What was changed, by whom and why: filtered, paged, opened by its address, taken back, exported."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from controls import knobs, messages
from controls.address import not_understood
from controls.choosing import follow
from controls.exports import Export, download_buttons
from controls.flags import messages as flag_messages
from controls.flags.confirm import Staged, confirm
from controls.flags.preview import foresee, in_figures, last_days, untried
from controls.grid import WRAPPED, grid
from controls.knobs import Knob
from controls.loading import ask_now, may_write, realised_flips
from controls.opening import choose_to_open
from queries.errors import StoreError
from queries.flags.history import PAGE, FileCut, FlagHistory, OpenedChange
from queries.flags.registry import NAMES, as_state, known_flag
from queries.scope import Reach, Scope, is_storable, marked

if TYPE_CHECKING:
    from collections.abc import Callable

    from controls.view import View

EVERY = "every flag"
CHANGED = Knob("changed", "Flag changed", (EVERY, *NAMES), EVERY)
CHOSEN = "change_chosen"
MOST = 100_000  # rows of one file
LARGEST_ID = 2**63 - 1
REVERT_DAYS = 7  # that the preview of a revert looks back
PREDICTED = (
    "Predicted: the retrievals of the days before the change, ranked again with the flag turned. Realised: the "
    "retrievals logged while the change held, against what they would have been without it."
)


def history(view: View) -> None:
    """The audit of the scope, newest first, with its filters in the address."""
    st.subheader("History")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        flag = CHANGED.draw(st.selectbox, also=_from_the_top)
        words = st.text_input(
            "Reason or name contains", key="words", bind="query-params", max_chars=200, on_change=_from_the_top
        )
    asked = FlagHistory(
        view.scope,
        flag=None if flag == EVERY else flag,
        words=words if is_storable(words) else None,
        before=_id("before"),
        size=PAGE + 1,
    )
    unread = not_understood({"before": ("Page of the history", asked.before)})
    messages.ignored_in_link([*knobs.ignored((CHANGED,)), *unread])
    frame = ask_now(asked).frames[0]
    shown = frame.head(PAGE)
    if shown.empty:
        flag_messages.no_changes()
    else:
        _table(shown)
    _pages(shown, more=len(frame) > PAGE)
    whole = FlagHistory(view.scope, asked.flag, asked.words, size=MOST)
    chosen = {"org": view.scope.org, "flag": asked.flag, "words": asked.words}
    download_buttons(Export(whole, "flag-changes", chosen), view.principal, key="flag_export")
    if len(frame) > PAGE and not ask_now(FileCut(whole)).frames[0].empty:
        flag_messages.file_is_cut(MOST)
    if not _by_link():
        _opened(view)


def opened_by_link(view: View) -> None:
    """The entry that a link named: on top, so that whoever follows one need not look for it."""
    if _by_link():
        _opened(view)


def _by_link() -> bool:
    """Whether the entry was not chosen in the table, below which it otherwise stands."""
    return st.session_state.get(CHOSEN) != st.query_params.get("change")


def _table(shown: pd.DataFrame) -> None:
    ids = tuple(int(number) for number in shown["id"])
    lines = pd.DataFrame(
        {
            "at": shown["changed_at"],
            "organization": shown["name"],
            "flag": shown["flag"],
            "change": shown["old"] + " → " + shown["new"],
            "reason": shown["reason"].str.slice(0, 300),
            "means": [_means(*each) for each in zip(shown["flag"], shown["new"], strict=True)],
            "actor": shown["actor"],
            "note": [_note(*each) for each in zip(shown["reverts_id"], shown["reverted_by"], strict=True)],
            "id": shown["id"],
        }
    )
    labels = {
        str(id_): f"{at:%-d %b %Y %H:%M} {org}: {change}, {reason}"
        for id_, at, org, change, reason in lines[["id", "at", "organization", "change", "reason"]].itertuples(
            index=False
        )
    }
    choose_to_open("pick_change", "a change", labels, _open)
    key = f"flag_changes_{ids[0]}_{len(ids)}"
    opened = _id("change")
    follow(key, [] if opened is None or opened not in ids else [ids.index(opened)])
    grid(
        lines,
        hide_index=True,
        key=key,
        row_height=WRAPPED,
        on_select=_row_chosen(key, ids),
        selection_mode="single-row",
        column_config={
            "at": st.column_config.DatetimeColumn("When (UTC)", width=135, format="YYYY-MM-DD HH:mm:ss"),
            "organization": st.column_config.TextColumn("Organization", width=85),
            "flag": st.column_config.TextColumn("Flag", width=88),
            "change": st.column_config.TextColumn("Old → new", width=70),
            "reason": st.column_config.TextColumn("Reason", width=133),
            "means": st.column_config.TextColumn("Means", width=100),
            "actor": st.column_config.TextColumn("By", width=85),
            "note": st.column_config.TextColumn("Note", width=105),
            "id": st.column_config.NumberColumn("Change", width=65, format="%d"),
        },
    )


def _means(flag: str, new: str) -> str:
    """What the new state came to; a flag of other days may not be known any more."""
    return known_flag(flag).effect(as_state(new)) if flag in NAMES else messages.MISSING


def _note(reverts: Any, reverted_by: Any) -> str:  # noqa: ANN401 - a number or a missing one
    said = [] if pd.isna(reverts) else [f"reverts {reverts}"]
    return ", ".join([*said, *([] if pd.isna(reverted_by) else [f"reverted by {reverted_by}"])])


def _pages(shown: pd.DataFrame, *, more: bool) -> None:
    if not more and "before" not in st.query_params:
        return
    with st.container(horizontal=True):
        if "before" in st.query_params:
            st.button("Newest", key="newest", on_click=_from_the_top, icon=":material/first_page:")
        if more:
            last = str(shown["id"].iloc[-1])
            st.button("Older", key="older", on_click=_say, args=("before", last), icon=":material/chevron_right:")


def _opened(view: View) -> None:
    """The entry that the address names, with what was predicted and what came of it."""
    if "change" not in st.query_params:
        return
    number = _id("change")
    found = [] if number is None else ask_now(OpenedChange(view.scope, number)).frames[0].to_dict("records")
    if not found:
        flag_messages.unknown_change()
        return
    entry: dict[str, Any] = {str(name): None if pd.isna(value) else value for name, value in found[0].items()}
    newest = entry["next_at"] is None and entry["reverted_by"] is None
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.subheader(f"Change {entry['id']}")
        changing = view.principal.may("operator") and may_write()
        if changing and newest and st.button("Revert this change", key="revert", icon=":material/undo:"):
            _revert(view, entry)
        st.button("Close", key="close_change", type="tertiary", icon=":material/close:", on_click=_close)
    st.text(
        marked(
            f"{entry['name']} · {entry['org_id']}\n{entry['flag']}: {entry['old']} → {entry['new']}\n"
            f"{entry['changed_at']:%-d %b %Y %H:%M:%S} UTC by {entry['actor']}, from {entry['source']}\n"
            f"Reason: {entry['reason']}"
        )
    )
    if said := _note(entry["reverts_id"] or pd.NA, entry["reverted_by"] or pd.NA):
        st.text(said.capitalize())
    if changing and not newest and entry["reverted_by"] is None:
        st.caption("It cannot be reverted: the flag was changed again since.")
    _predicted_and_realised(entry)


def _revert(view: View, entry: dict[str, Any]) -> None:
    """Ask for the way back, with what it would do."""
    way = (entry["new"], entry["old"])
    told = foresee(view.principal.reach, entry["org_id"], entry["flag"], way, REVERT_DAYS)
    back = (entry["org_id"], entry["name"], entry["flag"], *way, uuid4(), told.figures, int(entry["id"]))
    # asked only where it is told: it ranks again whatever was logged since
    unused = untried(told.figures) and _nothing_since(view, entry)
    confirm([Staged(*back, unused=unused)], REVERT_DAYS)


def _nothing_since(view: View, entry: dict[str, Any]) -> bool:
    """Whether no retrieval was logged since the change, as far as the log can be read."""
    changed_at, until = entry["changed_at"].to_pydatetime(), last_days(view.principal.reach, 1, entry["org_id"]).until
    if changed_at >= until:  # by the store's clock, which is ahead of ours
        return False
    since = Scope(Reach((entry["org_id"],)), changed_at, until, entry["org_id"])
    try:
        came = realised_flips(since, entry["flag"], entry["old"], entry["new"])
    except StoreError:
        return False
    return came is not None and not came.logged


def _predicted_and_realised(entry: dict[str, Any]) -> None:
    predicted = json.loads(entry["preview"]) if entry["preview"] else None
    since = entry["changed_at"].to_pydatetime()
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    until = now if entry["next_at"] is None else entry["next_at"].to_pydatetime()
    came = None
    if since < until:
        window = Scope(Reach((entry["org_id"],)), since, until, entry["org_id"])
        try:
            with st.spinner("Ranking the retrievals logged since again", show_time=True):
                came = realised_flips(window, entry["flag"], entry["old"], entry["new"])
        except StoreError as error:
            st.caption(f"What came of it cannot be shown: {error.sentence}")
    figures = None if came is None else vars(came)
    rows = [{"what": "Predicted", **in_figures(predicted)}, {"what": "Realised", **in_figures(figures)}]
    grid(
        pd.DataFrame(rows),
        hide_index=True,
        key="predicted_realised",
        column_config={
            "what": st.column_config.TextColumn("", width=110),
            "replayed": st.column_config.TextColumn("Retrievals", width=130),
            "top": st.column_config.TextColumn("Top 5 changed", width=120),
            "flips": st.column_config.TextColumn("Flips", width=90),
            "per_100": st.column_config.TextColumn("Flips per 100", width=120),
            "rbo": st.column_config.TextColumn("RBO", width=90),
        },
    )
    st.caption(PREDICTED if predicted else f"{PREDICTED} No prediction was kept with this change.")
    if came is not None and came.retrievals:
        obeyed = messages.percent(came.obeyed, came.retrievals)
        st.caption(f"{obeyed} of the retrievals since were logged under the new state.")
    elif came is not None and entry["next_at"] is None:
        st.caption("Collecting data: no retrieval that can be replayed was logged since the change.")
    elif came is not None:
        st.caption(
            f"It held for {messages.lasting(until - since)}; no retrieval that can be replayed was logged meanwhile."
        )


def _id(name: str) -> int | None:
    """A number from the address; what is none there names nothing."""
    said = st.query_params.get(name, "")
    short = said.isascii() and said.isdigit() and len(said) <= len(str(LARGEST_ID))
    return int(said) if short and int(said) <= LARGEST_ID else None


def _say(name: str, value: str) -> None:
    st.query_params[name] = value


def _open(change: str) -> None:
    st.session_state[CHOSEN] = change
    _say("change", change)


def _close() -> None:
    st.query_params.pop("change", None)


def _from_the_top() -> None:
    st.query_params.pop("before", None)


def _row_chosen(key: str, ids: tuple[int, ...]) -> Callable[[], None]:
    def chosen() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and 0 <= rows[0] < len(ids):
            _open(str(ids[rows[0]]))
        else:
            _close()

    return chosen

"""What was changed, by whom and why: filtered, paged, opened by its address, taken back, exported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls import knobs, messages
from controls.address import not_understood
from controls.choosing import follow
from controls.exports import Export, download_buttons
from controls.flags import messages as flag_messages
from controls.flags import record
from controls.flags.preview import gates_told
from controls.grid import WRAPPED, grid
from controls.knobs import Knob
from controls.loading import ask_now
from controls.opening import choose_to_open
from queries.flags.foretold import Foretold
from queries.flags.history import PAGE, FileCut, FlagHistory
from queries.flags.registry import NAMES, as_state, known_flag
from queries.scope import is_storable
from retrieval.pipelines import BOOST_ON

if TYPE_CHECKING:
    from collections.abc import Callable

    from controls.view import View

EVERY = "every flag"
CHANGED = Knob("changed", "Flag changed", (EVERY, *NAMES), EVERY)
CHOSEN = "change_chosen"
MOST = 100_000  # rows of one file
LARGEST_ID = 2**63 - 1
AGAINST = "against no-go"


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
    frame, foretold = ask_now(asked, Foretold(asked, BOOST_ON)).frames
    shown = frame.head(PAGE)
    if shown.empty:
        flag_messages.no_changes()
    else:
        _table(shown, _against(foretold))
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


def _against(foretold: pd.DataFrame) -> set[int]:
    """The changes that were made although a gate failed by their preview."""
    told = ((id_, gates_told(BOOST_ON, "on", json.loads(figures))) for id_, figures in foretold.itertuples(index=False))
    return {int(id_) for id_, found in told if any(gate.holds is False for gate in found)}


def _table(shown: pd.DataFrame, against: set[int]) -> None:
    ids = tuple(int(number) for number in shown["id"])
    lines = pd.DataFrame(
        {
            "at": shown["changed_at"],
            "organization": shown["name"],
            "means": [
                _means(flag, new, against=id_ in against)
                for id_, flag, new in zip(ids, shown["flag"], shown["new"], strict=True)
            ],
            "reason": shown["reason"].str.slice(0, 300),
            "flag": shown["flag"],
            "change": shown["old"] + " → " + shown["new"],
            "actor": shown["actor"],
            "note": [record.note(*each) for each in zip(shown["reverts_id"], shown["reverted_by"], strict=True)],
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
            "at": st.column_config.DatetimeColumn("When (UTC)", width=111, format="YYYY-MM-DD HH:mm"),
            "organization": st.column_config.TextColumn("Organization", width=85),
            "means": st.column_config.TextColumn("Means", width=104),
            "reason": st.column_config.TextColumn("Reason", width=210),
            "flag": st.column_config.TextColumn("Flag", width=100),
            "change": st.column_config.TextColumn("Old → new", width=80),
            "actor": st.column_config.TextColumn("By", width=85),
            "note": st.column_config.TextColumn("Note", width=105),
            "id": st.column_config.NumberColumn("Change", width=65, format="%d"),
        },
    )


def _means(flag: str, new: str, *, against: bool) -> str:
    """What the new state came to, and whether against a no-go: in sight in a narrow window too, unlike notes.

    A flag of other days may not be known any more.
    """
    effect = known_flag(flag).effect(as_state(new)) if flag in NAMES else messages.MISSING
    return f"{effect}, {AGAINST}" if against else effect


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
    """The entry that the address names."""
    if "change" in st.query_params:
        record.show(view, _id("change"), _close)


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

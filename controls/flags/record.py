"""One change as the audit has it: who made it and why, against which gates, what was predicted and what came of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from controls import glossary, messages
from controls.corroboration.gates import failure
from controls.flags import messages as flag_messages
from controls.flags.confirm import Staged, confirm, forget_revert, show_revert
from controls.flags.preview import foresee, gates_told, in_figures, last_days, untried
from controls.flags.since import outcomes_address
from controls.grid import grid
from controls.loading import ask_now, may_write, realised_flips
from queries.errors import StoreError
from queries.flags.history import OpenedChange
from queries.scope import Reach, Scope, marked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controls.view import View

REVERT_DAYS = 7  # that the preview of a revert looks back
PREDICTED = (
    "Predicted: the retrievals of the days before the change, ranked again with the flag turned. Realised: the "
    "retrievals logged while the change held, against what they would have been without it."
)
RESTORED = (
    "Predicted: nothing had been retrieved under the state that was left, so going back restored what was ranked until "
    "then."
)


def show(view: View, number: int | None, close: Callable[[], None]) -> None:
    """The entry of a number, with what was predicted and what came of it."""
    entry = None if number is None else _entry(view, number)
    if entry is None:
        flag_messages.unknown_change()
        return
    newest = entry["next_at"] is None and entry["reverted_by"] is None
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.subheader(f"Change {entry['id']}")
        changing = view.principal.may("operator") and may_write()
        if changing and newest and st.button("Revert this change", key="revert", icon=":material/undo:"):
            _revert(view, entry)
        st.button(
            "Close", key="close_change", type="tertiary", icon=":material/close:", on_click=_closed, args=(close,)
        )
    show_revert(int(entry["id"]))
    st.text(
        marked(
            f"{entry['name']} · {entry['org_id']}\n{entry['flag']}: {entry['old']} → {entry['new']}\n"
            f"{entry['changed_at']:%-d %b %Y %H:%M:%S} UTC by {entry['actor']}, from {entry['source']}\n"
            f"Reason: {entry['reason']}"
        )
    )
    if said := note(entry["reverts_id"] or pd.NA, entry["reverted_by"] or pd.NA):
        st.text(said.capitalize())
    if changing and not newest and entry["reverted_by"] is None:
        st.caption("It cannot be reverted: the flag was changed again since.")
    predicted = json.loads(entry["preview"]) if entry["preview"] else None
    _judged(entry, predicted)
    _predicted_and_realised(view, entry, predicted)


def note(reverts: Any, reverted_by: Any) -> str:  # noqa: ANN401 - a number or a missing one
    """Which change it took back, and which took it back, in few words."""
    said = [] if pd.isna(reverts) else [f"reverts {reverts}"]
    return ", ".join([*said, *([] if pd.isna(reverted_by) else [f"reverted by {reverted_by}"])])


def _closed(close: Callable[[], None]) -> None:
    forget_revert()
    close()


def _entry(view: View, number: int) -> dict[str, Any] | None:
    found = ask_now(OpenedChange(view.scope, number)).frames[0].to_dict("records")
    return {str(name): None if pd.isna(value) else value for name, value in found[0].items()} if found else None


def _revert(view: View, entry: dict[str, Any]) -> None:
    """Ask for the way back, with what it would do."""
    way = (entry["new"], entry["old"])
    told = foresee(view.principal.reach, entry["org_id"], entry["flag"], way, REVERT_DAYS)
    back = (entry["org_id"], entry["name"], entry["flag"], *way, uuid4(), told.figures, int(entry["id"]))
    # asked only where it is told: it ranks again whatever was logged since
    unused = untried(told.figures) and _nothing_since(entry, last_days(view.principal.reach, 1, entry["org_id"]).until)
    confirm([Staged(*back, unused=unused)], REVERT_DAYS)


def _nothing_since(entry: dict[str, Any], until: datetime) -> bool:
    """Whether no retrieval was logged from a change until a moment, as far as the log can be read."""
    changed_at = entry["changed_at"].to_pydatetime()
    if changed_at >= until:  # by the store's clock, which is ahead of ours
        return False
    since = Scope(Reach((entry["org_id"],)), changed_at, until, entry["org_id"])
    try:
        came = realised_flips(since, entry["flag"], entry["old"], entry["new"])
    except StoreError:
        return False
    return came is not None and not came.logged


def _judged(entry: dict[str, Any], predicted: Mapping[str, Any] | None) -> None:
    """What whoever confirmed it was told of go or no-go."""
    found = gates_told(entry["flag"], entry["new"], predicted)
    failed = [failure(gate) for gate in found if gate.holds is False]
    if failed:
        st.error(
            f"Made against a no-go: {len(failed)} of the {len(found)} gates that a preview can tell failed: "
            f"{'; '.join(failed)}.",
            icon=":material/block:",
        )
    elif found:
        st.caption(f"The {len(found)} gates that a preview can tell held when it was made.")


def _predicted_and_realised(view: View, entry: dict[str, Any], predicted: Mapping[str, Any] | None) -> None:
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
    unknown = untried(predicted)
    rows = [] if unknown else [{"what": "Predicted", **in_figures(predicted)}]
    if not unknown or (came is not None and came.retrievals):
        _table([*rows, {"what": "Realised", **in_figures(None if came is None else vars(came))}])
    if unknown:
        st.caption(_without_figures(view, entry, predicted))
    else:
        st.caption(PREDICTED if predicted else f"{PREDICTED} No prediction was kept with this change.")
    if came is not None and came.retrievals:
        obeyed = messages.percent(came.obeyed, came.retrievals)
        st.caption(f"{obeyed} of the retrievals since were logged under the new state.")
        _outcomes(entry, view.scope)
    elif came is not None and entry["next_at"] is None:
        st.caption("Collecting data: no retrieval that can be replayed was logged since the change.")
    elif came is not None:
        st.caption(
            f"It held for {messages.lasting(until - since)}; no retrieval that can be replayed was logged meanwhile."
        )


def _outcomes(entry: dict[str, Any], scope: Scope) -> None:
    """The way to what sessions did, where What-if has a before and an after."""
    next_at = None if entry["next_at"] is None else entry["next_at"].to_pydatetime()
    if said := outcomes_address(entry, entry["changed_at"].to_pydatetime(), next_at, scope):
        st.page_link(
            "what_if.py", label="What sessions did since, against before", icon=":material/compare_arrows:",
            query_params=said,
        )  # fmt: skip


def _table(rows: list[dict[str, str]]) -> None:
    grid(
        pd.DataFrame(rows),
        hide_index=True,
        key="predicted_realised",
        column_config={
            "what": st.column_config.TextColumn("", width=110),
            "replayed": st.column_config.TextColumn("Retrievals", width=130, help=glossary.REPLAYED_OF_LOGGED),
            "top": st.column_config.TextColumn("Top 5 changed", width=120, help=glossary.TOP_CHANGED_REPLAYED),
            "flips": st.column_config.TextColumn("Flips", width=90, help=glossary.FLAG_PREVIEW),
            "per_100": st.column_config.TextColumn("Flips per 100", width=120, help=glossary.FLAG_PREVIEW),
            "rbo": st.column_config.TextColumn("RBO", width=90, help=glossary.RBO),
        },
    )


def _without_figures(view: View, entry: dict[str, Any], predicted: Mapping[str, Any] | None) -> str:
    """What the dialog said where none of its retrievals was made under the state that was left."""
    taken = None if entry["reverts_id"] is None else _entry(view, int(entry["reverts_id"]))
    if taken is not None and _nothing_since(taken, entry["changed_at"].to_pydatetime()):
        return RESTORED
    count = messages.number(predicted["retrievals"] if predicted else None)
    return f"Predicted: unknown, for none of the {count} retrievals was made under the state that was left."

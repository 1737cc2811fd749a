"""The table of opposition pairs of an organization: edit, save, reset to the defaults, and who changed what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pandas as pd
import streamlit as st

from analysis.drift.pairs import checked_pairs
from controls.as_operator import MADE, change_as_operator, show_outcome
from controls.drift import drafts
from controls.grid import grid
from controls.loading import may_write, own_columns, store
from controls.messages import counted
from queries.aggregation_input import OppositionPairs
from queries.drift.kept import kept
from queries.drift.opposing import LONGEST, PairError, PairsEntry, SetPairs, changes, digest, last_set
from queries.engine import LIST
from ranking import DEFAULT_PAIRS

if TYPE_CHECKING:
    from controls.access import Principal
    from queries.drift.opposing import Pairs
    from queries.once import Outcome
    from queries.scope import Scope

TOLD, ROWS = "pairs_told", "pairs_rows"
EXPLAINED = (
    "An alert of kind opposition needs one word of a pair on each side. Saving searches anew; earlier verdicts stay. "
    "Every pair is kept in the audit when it is added or removed."
)


def pairs(scope: Scope, principal: Principal) -> None:
    """The pairs in a part of the page that opens; those who may not change them see them all the same."""
    org = scope.org or ""
    _told(org)
    with st.expander("Opposition pairs", key="pairs_open", on_change="rerun") as panel:
        if not panel.open:
            return
        here = kept(own_columns())
        with store().reading(scope.reach, LIST, name="opposition pairs") as snapshot:
            stored = OppositionPairs(org).ask(snapshot) if here.pairs else ()
            by = last_set(snapshot, org) if here.pair_changes else None
            entries = changes(snapshot, org) if here.pair_changes else []
        shown = stored or DEFAULT_PAIRS
        st.caption(f"{counted(len(shown), 'pair')}, {'set here' if stored else 'the defaults'}. {EXPLAINED}")
        if by is not None:
            st.text(f"Last set by {by[0]}, {by[1]:%-d %b %Y %H:%M} UTC")
        allowed = principal.may("operator") and here.pair_changes and may_write()
        # the last change names the state: the same pairs may come back, and another organization may keep them too
        stamp = f"{org}_{entries[0].id if entries else 0}_{digest(stored)}"
        edited = _table(org, shown, stamp, editable=allowed)
        if allowed:
            _buttons(org, stored, shown, edited, stamp)
        _history(entries)


def _table(org: str, shown: Pairs, stamp: str, *, editable: bool) -> pd.DataFrame:
    key = f"pairs_{stamp}"
    rows = _rows(org, shown, key) if editable else list(shown)
    frame = pd.DataFrame(rows, columns=["one", "other"], dtype="string")
    config = {
        "one": st.column_config.TextColumn("One side says", max_chars=LONGEST, width=220),
        "other": st.column_config.TextColumn("The other says", max_chars=LONGEST, width=220),
    }
    if not editable:
        grid(frame, hide_index=True, key="pairs_shown", column_config=config, width=500, height=300)
        return frame
    return st.data_editor(
        frame, hide_index=True, num_rows="dynamic", key=key, column_config=config, width=500, height=300,
        on_change=_typed, args=(org, shown, key),
    )  # fmt: skip


def _rows(org: str, shown: Pairs, key: str) -> list[tuple[str | None, str | None]]:
    """The rows that edits are counted from: they stay while the table does, a new one begins with what was typed."""
    if key not in st.session_state:
        typed, seen = drafts.draft(_thing(org), ROWS, (shown, shown))
        st.session_state[f"{ROWS}_{key}"] = drafts.rebased(typed, seen, shown)
    rows: list[tuple[str | None, str | None]] = st.session_state[f"{ROWS}_{key}"]
    return rows


def _typed(org: str, shown: Pairs, key: str) -> None:
    drafts.hold(_thing(org), ROWS, (drafts.edited(st.session_state[f"{ROWS}_{key}"], st.session_state[key]), shown))


def _thing(org: str) -> tuple[str, str]:
    return org, "opposition pairs"


def _buttons(org: str, stored: Pairs, shown: Pairs, edited: pd.DataFrame, stamp: str) -> None:
    given = [tuple(None if pd.isna(side) else str(side) for side in row) for row in edited.itertuples(index=False)]
    version = digest(stored)
    request: UUID = st.session_state.setdefault(f"pairs_request_{stamp}", uuid4())
    problem, new = None, None
    try:
        new = checked_pairs(given)  # type: ignore[arg-type]
    except PairError as error:
        problem = str(error)
    added, removed = (len(set(new) - set(shown)), len(set(shown) - set(new))) if new else (0, 0)
    if problem:
        st.caption(f":orange[:material/warning: {problem}]")
    elif added or removed:
        st.caption(f"{counted(added, 'pair')} added, {counted(removed, 'pair')} removed, not saved yet.")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Save pairs", key=f"save_pairs_{stamp}", type="primary", disabled=not (added or removed),
            on_click=_clicked, args=(org, version, new, shown, request),
        )  # fmt: skip
        st.button(
            "Reset to defaults", key=f"reset_pairs_{stamp}", disabled=not stored, icon=":material/restart_alt:",
            on_click=_clicked, args=(org, version, None, shown, request),
        )  # fmt: skip


def _clicked(org: str, seen: str, new: Pairs | None, shown: Pairs, request: UUID) -> None:
    outcome = save(org, seen, new, shown, request)
    if outcome.kind in MADE:
        drafts.forget(_thing(org))
    st.session_state[TOLD] = (org, outcome)


def save(org: str, seen: str, new: Pairs | None, shown: Pairs, request: UUID) -> Outcome[PairsEntry]:
    """Replace the pairs in the name of whoever asks; the role is asked of the store anew."""
    return change_as_operator(
        org, lambda actor: SetPairs(org, seen, new, shown, DEFAULT_PAIRS, request, actor), "Nothing was saved"
    )


def _told(org: str) -> None:
    whose, outcome = st.session_state.get(TOLD, (None, None))
    if outcome is None or whose != org:
        return
    show_outcome(outcome, "Opposition pairs: ")
    if outcome.last is not None:
        st.text(f"{outcome.last.action} by {outcome.last.actor}, {outcome.last.changed_at:%-d %b %Y %H:%M:%S} UTC")


def _history(entries: list[PairsEntry]) -> None:
    if not entries:
        return
    rows: dict[str, list[Any]] = {
        "when": [entry.changed_at for entry in entries],
        "action": [entry.action for entry in entries],
        "by": [entry.actor for entry in entries],
        "added": [_listed(entry.added) for entry in entries],
        "removed": [_listed(entry.removed) for entry in entries],
    }
    grid(
        pd.DataFrame(rows).astype({"when": "datetime64[us, UTC]"}),
        hide_index=True,
        key="pairs_history",
        column_config={
            "when": st.column_config.DatetimeColumn("When (UTC)", format="D MMM YYYY, HH:mm", timezone="UTC"),
            "action": st.column_config.TextColumn("Change", width=80),
            "by": st.column_config.TextColumn("By", width=120),
            "added": st.column_config.TextColumn("Added", width=260),
            "removed": st.column_config.TextColumn("Removed", width=260),
        },
    )


def _listed(pairs: list[list[str]]) -> str:
    return ", ".join(" / ".join(pair) for pair in pairs)

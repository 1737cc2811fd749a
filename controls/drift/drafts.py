"""What someone typed and has not saved yet: it outlives a decision of someone else, which draws the fields anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Typed = tuple[str | None, str | None]

DRAFTS = "drift_drafts"
Kept = TypeVar("Kept")


def keep(thing: tuple[str, str], field: str, key: str) -> None:
    """Remember what was typed into a field of a thing, by the field's key: the ``on_change`` of its widget."""
    hold(thing, field, st.session_state[key])


def hold(thing: tuple[str, str], field: str, typed: object) -> None:
    """Remember what was typed."""
    _drafts().setdefault(thing, {})[field] = typed


def draft(thing: tuple[str, str], field: str, stored: Kept) -> Kept:
    """What was typed and not saved, else what is stored."""
    kept: Kept = _drafts().get(thing, {}).get(field, stored)
    return kept


def forget(thing: tuple[str, str]) -> None:
    """What was typed is saved."""
    _drafts().pop(thing, None)


def give_back(thing: tuple[str, str], typed: Mapping[str, object]) -> None:
    """What was saved and is undone is a draft once more; what was typed since stays."""
    drafts = _drafts().setdefault(thing, {})
    drafts |= {**typed, **drafts}


def _drafts() -> dict[tuple[str, str], dict[str, Any]]:
    drafts: dict[tuple[str, str], dict[str, Any]] = st.session_state.setdefault(DRAFTS, {})
    return drafts


def edited(rows: Sequence[Typed], edits: Mapping[str, Any]) -> list[Typed]:
    """The rows of a table of pairs with what was typed into it, as Streamlit tells its edits."""
    removed, cells = set(edits["deleted_rows"]), {int(row): cell for row, cell in edits["edited_rows"].items()}
    kept = [
        (cells.get(row, {}).get("one", one), cells.get(row, {}).get("other", other))
        for row, (one, other) in enumerate(rows)
        if row not in removed
    ]
    return [*kept, *((added.get("one"), added.get("other")) for added in edits["added_rows"])]


def rebased(typed: Sequence[Typed], seen: Sequence[Typed], stored: Sequence[Typed]) -> list[Typed]:
    """The stored pairs with what was added to and removed from those that were seen."""
    removed = set(seen) - set(typed)
    kept = [pair for pair in stored if pair not in removed]
    return [*kept, *(pair for pair in typed if pair not in seen and pair not in kept)]

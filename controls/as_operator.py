"""A change in the name of whoever makes it: the role is asked of the store anew, and a refusal is an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from controls.access import NotAllowedError, require
from controls.loading import store
from queries.errors import StoreError
from queries.once import NOTHING, Entry, Outcome, make
from queries.scope import Reach

if TYPE_CHECKING:
    from collections.abc import Callable

    from queries.once import Change, Kind

MADE: tuple[Kind, ...] = ("applied", "already")
ALERTS: dict[Kind, Callable[..., Any]] = {
    **dict.fromkeys(MADE, st.success), "conflict": st.warning, "unknown": st.warning,
}  # fmt: skip


def change_as_operator(org: str, change: Callable[[str], Change[Entry]], nothing: str = NOTHING) -> Outcome[Entry]:
    """Make what ``change`` says for a name; ``nothing`` begins the sentence where that may not be.

    A button's callback runs outside the page: what it raised would be shown as a fault without a word.
    """
    try:
        wanted = change(require("operator", org).name)
    except NotAllowedError as error:
        return Outcome("refused", f"{nothing}. {error}")
    except StoreError as error:
        return Outcome("failed", f"{nothing}. {error.sentence}")
    return make(store(), Reach((org,)), wanted)


def show_outcome(outcome: Outcome[Entry], of: str = "", width: int | Literal["stretch"] = "stretch") -> None:
    """What became of a change, in the colour of its kind; ``of`` names what was changed where the place does not."""
    ALERTS.get(outcome.kind, st.error)(f"{of}{outcome.sentence}", width=width)

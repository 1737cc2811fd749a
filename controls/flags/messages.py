"""What Feature flags says where there is nothing to change, nothing to show, or something it leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from controls.messages import counted, number

if TYPE_CHECKING:
    from queries.flags.registry import KnownFlag, State


def flags_need_an_operator() -> None:
    """Someone who may look at flags and not change them."""
    st.caption("You may see these flags. Changing them takes the role operator; an administrator grants it.")


def read_only_store() -> None:
    """A store that is only read here: what would switch writing on."""
    st.info(
        "Flags can be seen and not changed here: no login that may write is configured. Set `RANKSCOPE_WRITE_URL` to a "
        "login that may update `organizations.features` and insert into schema `rankscope`, and start again. "
        "`python -m jobs doctor` prints the grants it needs.",
        icon=":material/edit_off:",
    )


def choose_an_organization() -> None:
    """A change that has no organization yet."""
    st.caption("Choose one organization or several: rows of the table above, or names here.")


def choose_a_state(flag: KnownFlag, states: set[State]) -> None:
    """A flag of which nobody has said what it should become; ``states`` are those it has where it would be changed."""
    now = "".join(f" It is {state} now, which means: {flag.effect(state)}." for state in states if len(states) == 1)
    st.caption(f"{flag.description}{now} Choose the new state to see what it would do.")


def targets_left_out(unknown: int, beyond: int, most: int) -> None:
    """Organizations that an address names for a change and that are not part of it."""
    if unknown:
        st.warning(
            f"{counted(unknown, 'organization')} in this link left out: not in this scope, or you may not see it.",
            icon=":material/link_off:",
        )
    if beyond:
        st.warning(
            f"{counted(beyond, 'organization')} in this link left out: one change takes {most} at most.",
            icon=":material/link_off:",
        )


def not_all_organizations(read: int, every: int) -> None:
    """More organizations than are read at once."""
    st.caption(
        f"The first {number(read)} of {number(every)} organizations by name: flags are listed and counted of these "
        "alone. Choose another by its address, org=…, to see its own."
    )


def unreadable_flags(count: int) -> None:
    """Organizations whose features are not an object of flags."""
    st.warning(
        f"{counted(count, 'chosen organization')} without a valid flag object. What is stored there is shown as it is "
        "and never overwritten; whoever stored it has to mend it.",
        icon=":material/data_alert:",
    )


def no_changes() -> None:
    """An audit without an entry that the filters let through."""
    st.info("No change of a flag was made here, or none that these filters find.", icon=":material/search_off:")


def file_is_cut(most: int) -> None:
    """A history longer than one file holds."""
    st.caption(
        f"A file holds the newest {number(most)} changes and there are more: choose an organization, a flag or words "
        "to get the others. All of them at once are in `rankscope.flag_changes`; psql writes them with `\\copy`."
    )


def unknown_change() -> None:
    """An address that names a flag change which is not there or may not be seen: the two look the same."""
    st.warning(
        "Unknown change in this link: it does not exist here, or you may not see it.", icon=":material/link_off:"
    )

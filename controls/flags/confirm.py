"""The last step of a change: old and new listed, a reason, one confirm; and what became of each change."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

import streamlit as st

from controls import glossary, messages
from controls.address import say
from controls.as_operator import MADE, change_as_operator, show_outcome
from controls.flags.preview import in_a_line, judge
from controls.knobs import Knob
from controls.loading import store
from queries.flags.change import LONGEST_REASON, SetFlag, is_outside
from queries.flags.registry import NAMES, known_flag
from queries.once import Outcome, settle
from queries.scope import Reach, is_storable, marked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from queries.flags.entries import FlagEntry
    from queries.flags.registry import State

SOURCE = "feature_flags/1"
SENT, TOLD, REVERTED, NOBODY = "flag_changes_sent", "flag_changes_told", "flag_change_reverted", "nobody"
FLAG = Knob("flag", "Flag", NAMES, NAMES[0])
PATIENCE = 10.0  # seconds a run waits for changes that another one makes
FEW, LIST_HEIGHT = 4, 320


@dataclass(frozen=True)
class Staged:
    """A change that was shown and not yet confirmed; its request id was made when it was shown."""

    org_id: str
    name: str
    flag: str
    seen: State
    new: State
    request_id: UUID
    preview: Mapping[str, Any] | None = None
    reverts_id: int | None = None
    unused: bool = False  # nothing was retrieved under the state that is left

    @property
    def aim(self) -> tuple[str, str, State]:
        """What it would change, and into what."""
        return self.org_id, self.flag, self.new

    def said(self, reason: str, actor: str) -> SetFlag:
        """The change with its reason and whoever makes it."""
        return SetFlag(
            self.org_id, self.flag, self.seen, self.new, reason, self.request_id, actor, SOURCE, self.preview,
            self.reverts_id,
        )  # fmt: skip


@dataclass(eq=False)
class Sent:
    """Changes that were confirmed, and what became of each.

    A connection that is cut ends the run that makes them at its next word to Streamlit, and what that run would have
    kept is lost; this is kept before, filled while they are made, and told by the run that comes after.
    """

    staged: list[Staged]
    reason: str
    outcomes: list[Outcome[FlagEntry]] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    def make(self) -> Sent:
        """Make each change on its own; the role is asked of the store for every one."""
        try:
            for each in self.staged:
                self.outcomes.append(_apply(each, self.reason))
        finally:
            self.over.set()
        return self

    def told(self) -> list[Outcome[FlagEntry]]:
        """What became of each; what a run did not live to say is looked up."""
        for number in range(len(self.outcomes), len(self.staged)):
            self.check(number)
        return self.outcomes

    def unmade(self) -> set[tuple[str, str, State]]:
        """What was not changed, as far as is known; nothing is looked up."""
        made = {each.aim for each, told in zip(self.staged, self.outcomes, strict=False) if told.kind in MADE}
        return {each.aim for each in self.staged} - made

    def check(self, number: int) -> None:
        """Look up what became of a change; this writes nothing."""
        each = self.staged[number]
        self.outcomes[number : number + 1] = [settle(store(), Reach((each.org_id,)), each.said(self.reason, NOBODY))]


@st.dialog("Confirm the change", width="medium")
def confirm(staged: list[Staged], days: int) -> None:
    """List every change from old to new, previewed on so many days; nothing is made without a reason."""
    with st.container(height=LIST_HEIGHT if len(staged) > FEW else "content", border=len(staged) > FEW):
        for each in staged:
            known = known_flag(each.flag)
            st.text(
                marked(
                    f"{each.name} · {each.org_id}\n{each.flag}: {each.seen} → {each.new}\n"
                    f"{known.effect(each.seen)} → {known.effect(each.new)}\n"
                    f"{in_a_line(each.preview, days, unused=each.unused)}"
                )
            )
    judge(staged[0].flag, staged[0].new, {each.org_id: each.preview for each in staged}, days)
    with st.form("confirm_flags", border=False):
        reason = st.text_area(
            "Reason", _start(staged), max_chars=LONGEST_REASON, key="flag_reason", help=glossary.REASON
        )
        sent = st.form_submit_button(f"Confirm {messages.counted(len(staged), 'change')}", type="primary")
    if st.button("Cancel", key="cancel_flags", type="tertiary"):
        st.rerun()
    if not sent:
        return
    if not reason.strip() or not is_storable(reason):
        st.error("A reason is needed: whoever looks at this later has nothing else to go by.")
        return
    made = send(staged, reason)
    if all(told.kind in MADE for told in made.outcomes):
        say(state=None)  # nothing is proposed any more
        if staged[0].reverts_id is not None and (entry := made.outcomes[0].entry) is not None:
            # the one that stands, in the place of the one it took back; its record tells what became of it
            say(change=str(entry.id), **FLAG.spoken(staged[0].flag))
            _seen()
            st.session_state[REVERTED] = made.outcomes[0]
    st.rerun()


def show_revert(number: int) -> None:
    """What became of a revert, in the record of the change that it made."""
    told: Outcome[FlagEntry] | None = st.session_state.get(REVERTED)
    if told is not None and told.entry is not None and told.entry.id == number:
        show_outcome(told)


def forget_revert() -> None:
    """Tell it no longer."""
    st.session_state.pop(REVERTED, None)


def _start(staged: list[Staged]) -> str:
    """The reason to begin with: the one typed for a change of these that was not made, or which change is reverted."""
    last: Sent | None = st.session_state.get(SENT) or st.session_state.get(TOLD)
    if last is not None and last.unmade() & {each.aim for each in staged}:
        return last.reason
    reverted = next((each.reverts_id for each in staged if each.reverts_id is not None), None)
    return "" if reverted is None else f"Revert of change {reverted}"


def send(staged: list[Staged], reason: str) -> Sent:
    """Make the changes, once: a second click of the same confirm waits for what the first one does."""
    known: Sent | None = st.session_state.get(SENT)
    if known is not None and known.staged == staged:
        known.over.wait(PATIENCE)
        return known
    st.session_state[SENT] = sent = Sent(staged, reason)
    return sent.make()


def _apply(staged: Staged, reason: str) -> Outcome[FlagEntry]:
    return change_as_operator(staged.org_id, lambda actor: staged.said(reason, actor))


def show_outcomes() -> None:
    """What became of the last confirm, each change by its organization."""
    sent: Sent | None = st.session_state.get(SENT)
    if sent is None:
        return
    if not sent.over.wait(PATIENCE):
        st.warning("The change is still being made. Look again in a moment; looking changes nothing.")
        st.button("Look again", key="look_again")
        return
    for number, (each, told) in enumerate(zip(sent.staged, sent.told(), strict=True)):
        with st.container(border=len(sent.staged) > 1):
            st.text(marked(f"{each.name} · {each.flag}: {each.seen} → {each.new}"))
            show_outcome(told)
            if told.entry is not None:
                st.text(marked(_written(told.entry)))
                st.button(
                    "Show it in the history, to revert it or send its link", key=f"show_{number}", type="tertiary",
                    icon=":material/history:", on_click=say, kwargs={"change": str(told.entry.id)},
                )  # fmt: skip
            if told.found is not None:
                st.text(marked(_found(told)))
            if told.kind == "unknown":
                st.button("Check again", key=f"check_{number}", on_click=sent.check, args=(number,))
    st.button("Done", key="outcomes_seen", on_click=_seen)


def _seen() -> None:
    """Show it no longer; its reason is offered again where a change was not made."""
    st.session_state[TOLD] = st.session_state.pop(SENT, None)


def _written(entry: FlagEntry) -> str:
    return f"Change {entry.id}, {entry.at:%-d %b %Y %H:%M:%S} UTC by {entry.actor}"


def _found(told: Outcome[FlagEntry]) -> str:
    """Who changed what and when, or since when it must have been something else."""
    now = f"It is {told.found} now. "
    last = told.last
    if last is None:
        return f"{now}Set outside this dashboard: the audit has no change of it."
    if is_outside(told):
        return f"{now}Set outside this dashboard since {last.at:%-d %b %Y %H:%M:%S} UTC."
    return f"{now}{last.old} → {last.new} by {last.actor}, {last.at:%-d %b %Y %H:%M:%S} UTC: {last.reason}"

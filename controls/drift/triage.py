"""Triage of the opened alert: one click or key per decision, what became of it, and its history."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import streamlit as st

from analysis.drift.from_passes import found_up_to
from analysis.drift.weighing import SPOKEN, STORED
from controls import glossary
from controls.as_operator import MADE, change_as_operator, show_outcome
from controls.drift import messages
from controls.drift.drafts import draft, forget, give_back, keep
from controls.drift.history import VERDICTS, past_decisions
from controls.drift.worklist import Step, neighbours, page_on_show, state_of, take
from controls.loading import may_write, store
from controls.messages import number
from queries.drift.triaging import LONGEST_NOTE, LONGEST_OWNER, SetTriage, TriageEntry
from queries.once import Outcome
from queries.scope import is_storable, isolated, marked

if TYPE_CHECKING:
    from analysis.drift.alerts import Listed, State, Triage, Verdict
    from controls.access import Principal
    from controls.drift.gathering import Drift

TOLD, NOTE, OWNER, DAYS = "triage_told", "triage_note", "triage_owner", "triage_days"
STANDS, NOBODY = "alert_stands", "Nobody has decided about it yet."
FASTER, BESIDE = 620, 380  # pixels of that someone was faster, in one line, and of who it was
PLACED = 312  # pixels of the longest that is said of an alert's place and state
ROOM, WIDE, SAVED = 58, 216, 124  # pixels of what is told of a decision, high and wide, and of it beside Undo
WEEK = 7  # days of a snooze, until others are chosen
SNOOZES = {1: "1 day", WEEK: "1 week", 30: "30 days", 90: "90 days"}
# label, state, verdict, key; R and C are the browser's and Streamlit's own
DECISIONS: tuple[tuple[str, State, Verdict | None, str], ...] = (
    ("Acknowledge", "acknowledged", None, "A"),
    ("Investigate", "investigating", None, "I"),
    ("False positive", "false positive", None, "F"),
    ("Resolve: older is right", "resolved", "older", "1"),
    ("Resolve: newer is right", "resolved", "newer", "2"),
    ("Resolve: both, in their scope", "resolved", "both", "3"),
)


def steps(found: Drift, one: Listed | None, principal: Principal) -> None:
    """What is opened, and the way to the previous, the next and back, by click or key: one line, to leave room.

    What is said of it there has the same width whatever it is, so that a narrow window breaks the line in one place.
    """
    before, after = neighbours(found, one)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.subheader("Alert", anchor=False, width="content")
        st.button(
            "Previous", key="previous_alert", shortcut="P", disabled=before is None, on_click=take, args=(before,)
        )
        st.button("Next", key="next_alert", shortcut="N", disabled=after is None, on_click=take, args=(after,))
        close = Step(None, page_on_show(found))
        st.button("Close", key="close_alert", shortcut="Esc", on_click=take, args=(close,), type="tertiary")
        names = [each.fingerprint for each in found.listed]
        listed = one is not None and one.fingerprint in names
        place = names.index(one.fingerprint) + 1 if one is not None and listed else 0
        if one is not None:
            with st.container(width=PLACED, horizontal=True, gap="small", vertical_alignment="center"):
                left_out = "filtered out of list and files"
                st.caption(f"alert {number(place)} of {number(len(names))}" if listed else left_out, width="content")
                st.text(state_of(one, found), width="content")
            if _decides(found, principal):
                _made(found, one)


def panel(found: Drift, one: Listed, principal: Principal) -> None:
    """The decisions someone may take, then where the alert stands: what a decision changes leaves its button there."""
    if not principal.may("operator"):
        messages.triage_needs_an_operator()
    elif not _decides(found, principal):
        messages.triage_read_only(found.kept)
    else:
        _decide(found, one)
    with st.container(key=STANDS, horizontal=True, gap="small", vertical_alignment="center"):
        if not _refused(one):
            st.text(marked(_stands(one, found)))
    earlier = found.earlier.get((one.older.id, one.newer.id))
    if earlier is not None:
        state = SPOKEN.get(earlier.state, earlier.state)
        st.text(
            f"↻ A text has changed since an earlier alert about the same two observations was marked {state} by "
            f"{isolated(earlier.changed_by)}, {earlier.changed_at:%-d %b %Y %H:%M} UTC. This is a new alert."
        )
    if _decides(found, principal):
        _note_and_snooze(found, one)
    if one.triage.note:
        st.text(marked(f"Note: {one.triage.note}"))
    past_decisions(found, one)


def _stands(one: Listed, found: Drift) -> str:
    triage = one.triage
    if triage.changed_at is None:
        return NOBODY
    said = [state_of(one, found)]
    if triage.verdict is not None:
        said.append(VERDICTS[triage.verdict])
    if triage.state == "snoozed" and triage.snoozed_until is not None:
        said.append(f"until {triage.snoozed_until:%-d %b %Y}")
    if triage.owner:
        said.append(f"owner {triage.owner}")
    said.append(f"by {triage.changed_by}, {triage.changed_at:%-d %b %Y %H:%M} UTC")
    return " · ".join(said)


def _decide(found: Drift, one: Listed) -> None:
    seen = _seen(found, one)
    version = seen[4]
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for label, state, verdict, key in DECISIONS:
            st.button(
                label, key=f"decide_{state}_{verdict}_{version}", shortcut=key, on_click=_clicked,
                args=(seen, state, verdict), disabled=(state, verdict) == (one.triage.state, one.triage.verdict),
                help=glossary.RESOLVE if state == "resolved" else None,
            )  # fmt: skip


def _note_and_snooze(found: Drift, one: Listed) -> None:
    seen = _seen(found, one)
    thing, version = _thing(seen), seen[4]
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.text_input(
            "Note", draft(thing, NOTE, one.triage.note), key=f"{NOTE}_{version}", max_chars=LONGEST_NOTE, width=420,
            placeholder="Why, before deciding; kept in history", on_change=keep,
            args=(thing, NOTE, f"{NOTE}_{version}"),
        )  # fmt: skip
        st.text_input(
            "Owner", draft(thing, OWNER, one.triage.owner or ""), key=f"{OWNER}_{version}", max_chars=LONGEST_OWNER,
            placeholder=None if one.triage.owner else "you, with a decision", width=200, on_change=keep,
            args=(thing, OWNER, f"{OWNER}_{version}"),
        )  # fmt: skip
        st.button(
            "Save note and owner", key=f"decide_note_{version}", on_click=_clicked,
            args=(seen, one.triage.state, one.triage.verdict), help=glossary.NOTE_ALONE,
        )  # fmt: skip
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.selectbox(
            "Snooze for", SNOOZES, list(SNOOZES).index(draft(thing, DAYS, WEEK)), format_func=SNOOZES.__getitem__,
            key=f"{DAYS}_{version}", width=130, on_change=keep, args=(thing, DAYS, f"{DAYS}_{version}"),
        )  # fmt: skip
        st.button("Snooze", key=f"decide_snoozed_{version}", on_click=_clicked, args=(seen, "snoozed", None, True))
        if one.triage.version:
            st.button("Reopen as new", key=f"decide_new_{version}", on_click=_clicked, args=(seen, "new", None))


def _request(version: str) -> UUID:
    """One request id per alert and version seen: a second click is the same request, a new version another."""
    name = f"triage_request_{version}"
    made: UUID = st.session_state.setdefault(name, uuid4())
    return made


Seen = tuple[str, "Listed", float, UUID, str]


def _seen(found: Drift, one: Listed) -> Seen:
    version = f"{one.fingerprint}_{one.triage.version}"
    return found.scope.org or "", one, found.wanted.threshold, _request(version), version


def _thing(seen: Seen) -> tuple[str, str]:
    return seen[0], seen[1].fingerprint


def _clicked(seen: Seen, state: State, verdict: Verdict | None, snooze: bool = False) -> None:  # noqa: FBT001, FBT002 - a button's argument
    one, note = seen[1], str(st.session_state.get(f"{NOTE}_{seen[4]}") or "")
    owner = str(st.session_state.get(f"{OWNER}_{seen[4]}") or "").strip()
    days = int(st.session_state.get(f"{DAYS}_{seen[4]}") or 1) if snooze else None
    outcome = decide(seen, state, verdict, note=note, owner=owner or None, days=days, own=one.triage.owner is None)
    if outcome.kind in MADE:
        forget(_thing(seen))
    stood = {NOTE: one.triage.note, OWNER: one.triage.owner or "", DAYS: WEEK}
    said = {field: st.session_state.get(f"{field}_{seen[4]}", value) for field, value in stood.items()}
    _tell(seen, outcome, {field: value for field, value in said.items() if value != stood[field]})


def _undo(seen: Seen, before: Triage, typed: dict[str, object]) -> None:
    """Decide once more, for what stood before; what someone else decided meanwhile stands, as with any decision.

    What was typed for the undone one is in its fields again, to go along with the next.
    """
    org, one, threshold, request, version = seen
    back = replace(one, triage=replace(one.triage, snoozed_until=before.snoozed_until))
    again = (org, back, threshold, request, version)
    outcome = decide(again, before.state, before.verdict, note=before.note, owner=before.owner)
    same = (one.triage.state, one.triage.verdict) == (before.state, before.verdict)
    undone = "Note and owner" if same else one.triage.state.capitalize()
    if outcome.kind == "applied":
        outcome = replace(outcome, sentence=f"{undone}: undone.")
    if outcome.kind in MADE:
        give_back(_thing(seen), typed)
    _tell(seen, outcome, None)


def _tell(seen: Seen, outcome: Outcome[TriageEntry], typed: dict[str, object] | None) -> None:
    before = st.session_state.get(TOLD)
    # a second click of the same decision does not hide that the first one worked
    if outcome.kind == "already" and before is not None and before[0] == seen[1].fingerprint:
        return
    st.session_state[TOLD] = (seen[1].fingerprint, outcome, None if typed is None else (seen[1].triage, typed))
    if outcome.kind not in MADE:
        messages.not_saved()


def decide(
    seen: Seen,
    state: State,
    verdict: Verdict | None,
    *,
    note: str = "",
    owner: str | None = None,
    days: int | None = None,
    own: bool = False,
) -> Outcome[TriageEntry]:
    """Save a decision in the name of whoever takes it; the role is asked of the store anew.

    A snooze lasts ``days`` from now; without them it ends when it would have ended. ``own``: where no owner is named,
    whoever takes it becomes the owner.
    """
    org, one, threshold, request, _ = seen
    if not is_storable(note) or not is_storable(owner or ""):
        return Outcome("refused", "Nothing was saved: the note or owner holds a character that cannot be stored.")
    note = note.strip()
    if len(note) > LONGEST_NOTE or len(owner or "") > LONGEST_OWNER:
        return Outcome(
            "refused",
            f"Nothing was saved: a note has at most {LONGEST_NOTE} characters, an owner {LONGEST_OWNER}. Shorten it.",
        )
    until = one.triage.snoozed_until if state == "snoozed" else None
    if days is not None:
        until = datetime.now(UTC) + timedelta(days=days)

    def change(actor: str) -> SetTriage:
        # an alert that was found at one threshold alone may well be found at higher ones
        up_to = one.most if one.most > one.least else found_up_to(store(), org, one)
        return SetTriage(
            org, one.fingerprint, one.triage.version, STORED.get(state, state), request, actor,
            one.older.id, one.newer.id, one.kind.value, up_to, threshold, verdict,
            owner or (actor[:LONGEST_OWNER] if own else None), note, until,
        )  # fmt: skip

    return change_as_operator(org, change, "Nothing was saved")


def _decides(found: Drift, principal: Principal) -> bool:
    return principal.may("operator") and found.kept.triage and may_write()


def _last(one: Listed) -> tuple[Outcome[TriageEntry] | None, tuple[Triage, dict[str, object]] | None]:
    """What became of the last decision about an alert, what stood before it, if an undo can, and what was typed."""
    fingerprint, outcome, undoable = st.session_state.get(TOLD, (None, None, None))
    return (outcome, undoable) if fingerprint == one.fingerprint else (None, None)


def _made(found: Drift, one: Listed) -> None:
    """That a decision was saved or undone, and a way back from it while it is the last; an undo has none.

    Beside the way to the next one, because a key decides wherever the page was scrolled to. Its place is as large
    before anything is told, so that no button moves away below the mouse, also in a narrow window.
    """
    outcome, back = _last(one)
    is_told = outcome is not None and outcome.kind in MADE
    with st.container(height=ROOM, width=WIDE, border=False, horizontal=True, gap="small", vertical_alignment="center"):
        if outcome is None or not is_told:
            st.text("", width="content")
            return
        undoable = back is not None and outcome.kind == "applied" and one.triage.version == back[0].version + 1
        show_outcome(outcome, width=SAVED if undoable else "stretch")
        if back is not None and undoable:
            st.button("Undo", key="undo_triage", shortcut="U", on_click=_undo, args=(_seen(found, one), *back))


def _refused(one: Listed) -> bool:
    """Say why the last decision was not made, and who was faster; whether there is such a thing to say.

    In the place of where the alert stands, which is as high without it: no button moves away below the mouse.
    """
    outcome, _ = _last(one)
    if outcome is None or outcome.kind in MADE:
        return False
    last = outcome.last
    show_outcome(outcome, width="stretch" if last is None else FASTER)
    if last is not None:
        st.text(f"{_line(last)}, {last.changed_at:%-d %b %Y %H:%M:%S} UTC", width=BESIDE)
    return True


def _line(entry: TriageEntry) -> str:
    old, new = (SPOKEN.get(state, state) for state in (entry.old_state, entry.new_state))
    verdict = f", {VERDICTS[entry.verdict]}" if entry.verdict in VERDICTS else ""
    return f"{old} → {new}{verdict} by {isolated(entry.actor)}"

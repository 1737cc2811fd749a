"""The panel of an organization's pins: whether each holds under the present pipeline, and the ways to change them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from analysis.inspector.pins import Outcome, PinResult, pin_of, to_json
from controls import address, loading, messages
from controls.access import NotAllowedError, require
from controls.choosing import choose_one
from controls.downloads import download
from controls.exports import put_on_record, refuse_a_changed_role
from controls.glossary import inspector as glossary
from controls.inspector import as_code
from controls.inspector.pin_words import FORM, asked_for, offered
from controls.inspector.question import WORK
from controls.messages import counted, number
from controls.view import view
from queries.engine import LIST
from queries.errors import StoreError
from queries.exports import RecordExport
from queries.pins import ArchivePin, Pin, PinError, Pins, SavePin
from queries.scope import Reach
from ranking.pipeline_text import to_text
from retrieval.block import one_line
from retrieval.pipelines import with_budget
from retrieval.retrieve import rank_recollection

if TYPE_CHECKING:
    from controls.access import Principal
    from controls.inspector.pipeline import Chosen
    from queries.engine import Store
    from queries.pins import StoredPin
    from queries.scope import Scope
    from retrieval.retrieve import AgentSession, Memory, Retrieval

CHOSEN, QUERY, PROJECT = "pin", "q", "project"
SAID = "pins_said"
SIGNS = {Outcome.HOLDS: "✓ holds", Outcome.FAILS: "✕ fails", Outcome.UNKNOWN: "? unknown"}
TAKEN = "A pin of this name is held already. Choose another name."
GONE = "This pin is not held any more."
READ_ONLY = (
    "This store is open for reading only, so pins cannot be changed here. "
    "Set `RANKSCOPE_WRITE_URL` to a login with the rights of `dash_write` to switch that on."
)
VIEWER = "You may see these pins. Adding or removing pins takes the operator role for the organization."
NO_TABLE = "Pins need schema rankscope at its newest: run `python -m jobs migrate`."


def panel(found: Retrieval, memory: Memory, chosen: Chosen) -> None:
    """The pins of the retrieval's organization: whether they hold, the one that is opened, and a form to add one."""
    org = found.session.org_id
    try:
        stored, unread = read(memory.store, org)
        results = _checked(tuple(each.pin for each in stored if each.pin), found, memory, chosen)
    except StoreError as error:
        if error.kind in ("column", "table", "schema"):
            st.info(NO_TABLE, icon=":material/database:")
        else:
            messages.unanswered(error)
        return
    if (said := st.session_state.pop(SAID, None)) is not None:
        st.info(said, icon=":material/info:")
    by_name = {result.pin.name: result for result in results}
    _list(stored, by_name, unread)
    if stored:
        with st.popover("Check by command", icon=":material/terminal:"):
            st.caption("The command that checks them under this pipeline without a browser, each for its own work.")
            st.code(as_code.pins_command(org, chosen), language="bash", wrap_lines=True)
    writable = _may_write(memory.store)
    _opened(memory.store, found, stored, writable=writable)
    if writable:
        _form(found, memory.store)


def _checked(pins: tuple[Pin, ...], found: Retrieval, memory: Memory, chosen: Chosen) -> tuple[PinResult, ...]:
    """Each pin under the pipeline that is shown, for its own work: only tokens that somebody chose stay as they are."""
    scope, stages, bits = view().scope, chosen.stages, chosen.bits

    def answer(session: AgentSession, query: str) -> Retrieval:
        recollection = loading.recollected(scope, session, query, stages, bits=bits)
        own = stages if chosen.own_budget else with_budget(stages, session.work_type)
        return rank_recollection(memory, recollection, own)

    under = repr((to_text(stages), chosen.own_budget, bits, str(found.scorer_used)))
    version = loading.recall_version(scope.reach, stages)
    return loading.checked_pins(found.session.org_id, pins, under, version, answer)


def read(store: Store, org: str) -> tuple[tuple[StoredPin, ...], int]:
    """The pins an organization holds, and how many more than are read."""
    with store.reading(Reach.of(frozenset({org})), LIST, name="pins") as connection:
        return Pins(org).read(connection), Pins(org).unread(connection)


def hold(store: Store, org: str, pin: Pin) -> int | None:
    """Save a pin in the name of whoever asks, if an operator of the organization; None where its name is taken."""
    principal = require("operator", org)
    with store.writing(Reach.of(frozenset({org})), LIST, name="pin") as connection:
        return SavePin(org, pin, principal.name).apply(connection)


def take_down(store: Store, org: str, pin_id: int) -> bool:
    """Archive a pin in the name of whoever asks, if an operator of the organization; whether there was one."""
    principal = require("operator", org)
    with store.writing(Reach.of(frozenset({org})), LIST, name="pin") as connection:
        return ArchivePin(org, pin_id, principal.name).apply(connection)


def _may_write(store: Store) -> bool:
    if store.writer is None:
        st.caption(READ_ONLY)
        return False
    if not view().principal.may("operator"):
        st.caption(VIEWER)
        return False
    return True


def _list(stored: tuple[StoredPin, ...], results: dict[str, PinResult], unread: int) -> None:
    if not stored:
        st.caption("No pins are held yet. A pin keeps what a question must find, and says when a change breaks it.")
        return
    held = sum(result.holds for result in results.values())
    st.markdown(f"**{held} of {number(len(stored) + unread)} pins hold under this pipeline.**")
    if unread:
        st.warning(
            f"{counted(unread, 'pin')} beyond the limit: neither checked nor exported. Take some down.",
            icon=":material/data_alert:",
        )
    degraded = dict.fromkeys(reason for result in results.values() for reason in result.degraded)
    if degraded:
        st.caption(f":orange[:material/warning: degraded:] {counted(len(degraded), 'reason')}, listed in the table")
    rows: dict[str, list[Any]] = {
        "name": [one_line(each.name) for each in stored],
        "result": [_sign(each, results) for each in stored],
        "why": [_why(each, results) for each in stored],
        "query": [one_line(each.query) for each in stored],
        "by": [each.created_by for each in stored],
        "since": [each.created_at for each in stored],
    }
    column = st.column_config
    choose_one(CHOSEN, [each.id for each in stored], rows, {
        "name": column.TextColumn("Pin", width="medium"), "result": column.TextColumn("Result", width=90),
        "why": column.TextColumn("Why", width="large"), "query": column.TextColumn("Question", width="medium"),
        "by": column.TextColumn("By", width="small"),
        "since": column.DatetimeColumn("Since", width="small", format="YYYY-MM-DD"),
        "id": column.NumberColumn("Id", width=60),
    })  # fmt: skip


def _sign(stored: StoredPin, results: dict[str, PinResult]) -> str:
    return SIGNS[Outcome.UNKNOWN] if stored.pin is None else SIGNS[results[stored.name].outcome]


def _why(stored: StoredPin, results: dict[str, PinResult]) -> str:
    if stored.pin is None:
        return stored.unreadable or ""
    result = results[stored.name]
    return "; ".join((*result.reasons, *(f"degraded: {reason}" for reason in result.degraded)))


def _opened(store: Store, found: Retrieval, stored: tuple[StoredPin, ...], *, writable: bool) -> None:
    org, chosen = found.session.org_id, _chosen(stored)
    with st.container(horizontal=True):
        if stored:
            offered = download("rankscope-pins", "json")
            st.download_button(
                "Export as JSON",
                data=offered.of(partial(_export, store, org, offered.name, view().principal)),
                file_name=offered.name,
                mime="application/json",
                on_click="ignore",
                key="pins_export",
                icon=":material/download:",
            )
        if chosen is not None:
            st.button("Ask its question", key="pin_open", on_click=_open, args=(chosen,), icon=":material/search:")
            if writable:
                st.button(
                    "Take down", key="pin_archive", on_click=_archive, args=(store, org, chosen.id),
                    icon=":material/delete:", help=glossary.TAKE_DOWN,
                )  # fmt: skip
    if stored and store.writer is None:
        messages.not_on_record()
    if chosen is not None and chosen.pin is not None:
        st.text("\n".join(asked_for(chosen.pin, found, store)))


def _form(found: Retrieval, store: Store) -> None:
    words = offered(found)
    if words is None:
        st.caption("Nothing was ranked, so there is nothing to pin.")
        return
    # Nothing runs while it is filled in, and what is filled in goes along with the next run, whatever starts that.
    kept: dict[str, Any] = {"on_change": "ignore", "persist_state": "page"}
    choice: dict[str, Any] = {"options": list(words), "format_func": words.__getitem__, **kept}
    # Folded, what was begun before another panel was looked at would seem lost.
    with st.expander("Pin this question", expanded=any(st.session_state.get(key) for key in FORM.values())):
        st.text_input("Name", key=FORM["name"], max_chars=200, placeholder="What it protects", **kept)
        st.multiselect(
            "Must be in the block", key=FORM["include"], placeholder="Observations of the present ranking", **choice
        )
        upper, lower = st.columns(2)
        upper.selectbox("This one must rank above", index=None, key=FORM["upper"], placeholder="None", **choice)
        lower.selectbox("that one", index=None, key=FORM["lower"], placeholder="None", **choice)
        st.button("Pin this", key="pin_save", on_click=_save, args=(found, store))


def _save(found: Retrieval, store: Store) -> None:
    given = {name: st.session_state.get(key) for name, key in FORM.items()}
    pair = (given["upper"], given["lower"])
    try:
        if (pair[0] is None) != (pair[1] is None):
            raise PinError("Which ranks above which: choose both, or neither.")  # noqa: TRY301 - said like the others
        precede = None if pair[0] is None or pair[1] is None else (str(pair[0]), str(pair[1]))
        pin = pin_of(found, given["name"] or "", given["include"] or (), precede)
        saved = hold(store, found.session.org_id, pin)
    except (PinError, NotAllowedError) as error:
        st.session_state[SAID] = str(error)
    except StoreError as error:
        st.session_state[SAID] = error.sentence
    else:
        st.session_state[SAID] = TAKEN if saved is None else "Pinned."
        if saved is not None:
            st.session_state.update(dict(zip(FORM.values(), ("", [], None, None), strict=True)))


def _archive(store: Store, org: str, pin_id: int) -> None:
    try:
        done = take_down(store, org, pin_id)
    except NotAllowedError as error:
        st.session_state[SAID] = str(error)
    except StoreError as error:
        st.session_state[SAID] = error.sentence
    else:
        st.session_state[SAID] = "Taken down." if done else GONE
        st.query_params.pop(CHOSEN, None)


def _open(stored: StoredPin) -> None:
    """Ask a pin's question in its own project, or in all, for its own work; the pipeline in the address stays."""
    project, work = (None, None) if stored.pin is None else (stored.pin.project, stored.pin.work_type)
    address.say(retrieval=None, obs=None, **{QUERY: stored.query, PROJECT: project, WORK: work})


def ask_in_address(scope: Scope, store: Store) -> None:
    """A link that names a pin and no question asks the pin's own."""
    named = {QUERY, "retrieval"} & set(st.query_params)
    if scope.org is None or CHOSEN not in st.query_params or named:
        return
    try:
        chosen = _chosen(read(store, scope.org)[0])
    except StoreError:
        return  # the panel says so
    if chosen is not None:
        _open(chosen)
        st.rerun()


def _export(store: Store, org: str, file_name: str, principal: Principal) -> str:
    """The pins as a file, on record before it is handed out; refused where the role has changed since."""
    refuse_a_changed_role(principal)
    pins = [each.pin for each in read(store, org)[0] if each.pin is not None]
    taken = RecordExport("pins", "json", {}, {org: len(pins)}, file_name, principal.name)
    put_on_record(store, Reach.of(frozenset({org})), taken)
    return to_json(pins, org)


def _chosen(stored: tuple[StoredPin, ...]) -> StoredPin | None:
    said = st.query_params.get(CHOSEN)
    return next((each for each in stored if str(each.id) == said), None)

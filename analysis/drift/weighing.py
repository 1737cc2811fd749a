"""Alerts of a scope: contradictions weighted by how far they reached agents, with where triage stands."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING

from analysis.drift.alerts import Alert, Found, Side, State, Triage
from analysis.drift.search import search
from queries.aggregation_input import LONGEST, READING
from queries.drift.exposure import Exposure
from queries.drift.observed import PROCEDURE, Lengths, Texts
from queries.drift.triage import TriageOf
from queries.shape import keeps, log_shape
from ranking.contradictions.findings import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from analysis.drift.alerts import AlertFilter, Listed, Origin
    from analysis.drift.search import Report, Searched
    from queries.drift.observed import TextRow
    from queries.drift.triage import TriageRow
    from queries.engine import Store
    from queries.scope import Scope

# Injections of both sides together, and sessions given both, from which on more make no difference.
_REACH, _TOGETHER = 10.0, 5.0
MOST_CHARACTERS = 8_000_000  # of the texts that are in memory at once
STORED: dict[State, str] = {"false positive": "false_positive"}
SPOKEN: dict[str, State] = {stored: spoken for spoken, stored in STORED.items()}


class ChangedMeanwhileError(Exception):
    """A statement of a found alert is another by now, or gone: its evidence would point at the wrong words."""


def find_alerts(
    store: Store,
    scope: Scope,
    filter: AlertFilter,  # noqa: A002 - the contract's word
    *,
    now: datetime | None = None,
    report: Report | None = None,
) -> Found:
    """Search a scope and keep what the filter admits, the most harmful first; injections are those of the window."""
    return weigh(store, scope, filter, search(store, scope, (filter.threshold,), now=now, report=report), now=now)


def weigh(
    store: Store,
    scope: Scope,
    filter: AlertFilter,  # noqa: A002 - as above
    searched: Searched,
    *,
    now: datetime | None = None,
) -> Found:
    """What a search that was made already comes to: its alerts with injections and triage as they are by now."""
    at_threshold, total = searched.at(filter.threshold), searched.total(filter.threshold)
    searched = replace(searched, found=())  # what was found there is held once, where nobody else holds it
    with store.reading(scope.reach, READING, name="drift exposure") as snapshot:
        exposed = expose(snapshot, scope, at_threshold)
        asked = TriageOf(scope.org or "", tuple(one.fingerprint for one in exposed))
        triage = asked.ask(snapshot) if keeps(snapshot, "drift_triage") else {}
    every = triaged(exposed, triage, now or searched.as_of)
    listed = admitted(every, filter)
    whatever_state = (one for one in every if admits(replace(filter, states=None), one))
    unlisted = _states(whatever_state) - _states(listed)
    return _found(searched, total, listed, tuple(sorted(unlisted.items())))


def _states(some: Iterable[Listed]) -> Counter[State]:
    return Counter(one.triage.state for one in some)


def _found(
    searched: Searched, detected: int, listed: tuple[Listed, ...], unlisted: tuple[tuple[State, int], ...]
) -> Found:
    """What was admitted, under a version that differs whenever any figure of it does.

    Not by which other thresholds were searched beside: a page asks for all of its slider's, a command for one.
    """
    told = hashlib.sha256()
    for one in listed:  # one by one: the text of them all would be larger than they are
        told.update(repr(replace(one, least=0.0, most=0.0)).encode("utf-8", "surrogatepass"))
    told.update(f"{unlisted} besides".encode() if unlisted else b"")
    digest = told.hexdigest()
    return Found(
        fingerprints=tuple(one.fingerprint for one in listed),
        considered=searched.considered,
        active=searched.active,
        detected=detected,
        data_version=f"{searched.version[:16]}{digest[:16]}",
        as_of=searched.as_of,
        set_apart=searched.set_apart,
        procedure=PROCEDURE,
        listed=listed,
        opposed=searched.opposed,
        unlisted=unlisted,
    )


def expose(connection: Connection, scope: Scope, listed: Iterable[Listed]) -> tuple[Listed, ...]:
    """The same alerts with their injections in the scope's window, and the harm that follows."""
    listed, shape = tuple(listed), log_shape(connection)
    if not shape.injected or not listed:
        return exposed(listed, None)
    asked = Exposure(scope, "", tuple((one.older.id, one.newer.id) for one in listed), shape)
    return exposed(listed, asked.ask(connection))


def exposed(listed: Iterable[Listed], given: Mapping[tuple[str, str], tuple[int, ...]] | None) -> tuple[Listed, ...]:
    """The same alerts with injections by pair of ids, as ``Exposure`` counts them; None where nothing is logged."""
    if given is None:
        return tuple(replace(one, harm=harm(one.severity, None, None, None)) for one in listed)
    return tuple(_reached(one, *given.get((one.older.id, one.newer.id), (0, 0, 0))) for one in listed)


def _reached(one: Listed, older: int, newer: int, both: int) -> Listed:
    hurt = harm(one.severity, older, newer, both)
    return replace(one, older_injected=older, newer_injected=newer, both_injected=both, harm=hurt)


def harm(severity: float, older: int | None, newer: int | None, both: int | None) -> float:
    """``severity · (1 + reach + 2·together)/4``: a quarter of the severity while nobody was given either statement.

    ``reach = min(1, log2(1 + injections of both sides)/10)`` and ``together = min(1, log2(1 + sessions given
    both)/5)``: a session that was told both has to choose, so that counts most. Unknown exposure counts as none.
    """
    reach, together = exposure(older, newer, both)
    return severity * (1.0 + reach + 2.0 * together) / 4.0


def exposure(older: int | None, newer: int | None, both: int | None) -> tuple[float, float]:
    """``reach`` and ``together`` of the harm."""
    reach = min(1.0, log2(1 + (older or 0) + (newer or 0)) / _REACH)
    return reach, min(1.0, log2(1 + (both or 0)) / _TOGETHER)


def triaged(listed: Iterable[Listed], known: Mapping[str, TriageRow], now: datetime) -> tuple[Listed, ...]:
    """The same alerts with where triage stands; a snooze that is over leaves an alert new again."""
    return tuple(
        replace(one, triage=standing(known[one.fingerprint], now)) if one.fingerprint in known else one
        for one in listed
    )


def standing(row: TriageRow, now: datetime) -> Triage:
    """A stored triage as it holds now."""
    state: State = SPOKEN.get(row.state, row.state)  # type: ignore[arg-type]
    if state == "snoozed" and row.snoozed_until is not None and row.snoozed_until <= now:
        state = "new"
    return Triage(
        state,
        row.verdict,  # type: ignore[arg-type]  # the table admits no other
        row.owner,
        row.note,
        row.snoozed_until,
        row.version,
        row.changed_by,
        row.changed_at,
    )


def admitted(listed: Iterable[Listed], wanted: AlertFilter) -> tuple[Listed, ...]:
    """The alerts that pass a filter, by harm, then fingerprint."""
    passing = (one for one in listed if admits(wanted, one))
    return tuple(sorted(passing, key=lambda one: (-one.harm, one.fingerprint)))


def admits(wanted: AlertFilter, one: Listed) -> bool:
    """Whether an alert passes; an agent is found on either side, and a date is the newer side's."""
    written = one.newer.created_at
    return (
        one.severity >= wanted.least_severity
        and (wanted.kinds is None or one.kind in wanted.kinds)
        and (wanted.agents is None or bool({one.older.agent_id, one.newer.agent_id} & wanted.agents))
        and (wanted.states is None or one.triage.state in wanted.states)
        and (wanted.since is None or (written is not None and written >= wanted.since))
    )


def read_alerts(store: Store, scope: Scope, found: Found, *, batch: int = 200) -> Iterator[Alert]:
    """The found alerts with their whole texts, in their order, so many alerts and characters at a time."""
    for start in range(0, len(found.listed), batch):
        some = found.listed[start : start + batch]
        with store.reading(scope.reach, READING, name="drift lengths") as snapshot:
            lengths = Lengths(scope, _ids(some)).ask(snapshot)
        for few in _portions(some, lengths):
            with store.reading(scope.reach, READING, name="drift texts") as snapshot:
                texts = Texts(scope, _ids(few)).ask(snapshot)
            for one in few:
                yield alert_of(one, scope.org or "", texts)


def _portions(some: Iterable[Listed], lengths: Mapping[str, int]) -> Iterator[list[Listed]]:
    """Alerts in their order whose texts fit into memory together; one that alone does not is a portion of its own."""
    few: list[Listed] = []
    held: set[str] = set()
    characters = 0
    for one in some:
        fresh = {one.older.id, one.newer.id} - held
        more = sum(lengths.get(each, 0) for each in fresh)
        if few and characters + more > MOST_CHARACTERS:
            yield few
            few, held, characters = [], set(), 0
            fresh = {one.older.id, one.newer.id}
            more = sum(lengths.get(each, 0) for each in fresh)
        few.append(one)
        held |= fresh
        characters += more
    if few:
        yield few


def _ids(some: Iterable[Listed]) -> tuple[str, ...]:
    return tuple(sorted({side.id for one in some for side in (one.older, one.newer)}))


def alert_of(one: Listed, org: str, texts: Mapping[str, TextRow]) -> Alert:
    """A listed alert with what both sides say, provided that they still say it."""
    older, newer = texts.get(one.older.id), texts.get(one.newer.id)
    if older is None or newer is None or not _still(one, older, newer):
        raise ChangedMeanwhileError(f"alert {one.fingerprint}: a statement has changed since it was found; search anew")
    return Alert(
        org,
        one.project_id,
        one.fingerprint,
        one.kind,
        one.rule,
        one.overlap,
        one.severity,
        one.parts,
        one.evidence,
        _side(one.older, older, one.older_injected),
        _side(one.newer, newer, one.newer_injected),
        one.both_injected,
        one.harm,
        one.triage,
    )


def _still(one: Listed, older: TextRow, newer: TextRow) -> bool:
    sides = ((one.older.id, older.content[:LONGEST]), (one.newer.id, newer.content[:LONGEST]))
    return fingerprint(*sides, one.kind) == one.fingerprint


def _side(origin: Origin, text: TextRow, injected: int | None) -> Side:
    return Side(
        origin.id,
        text.content,
        text.content_hash,
        origin.agent_id,
        origin.session_id,
        origin.created_at,
        origin.weight,
        origin.members,
        origin.agents,
        injected,
    )

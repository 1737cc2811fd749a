"""One observation: which one the address names, everything asked about it, and its text, figures and provenance."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pandas as pd
import streamlit as st

from analysis.observation import Fingerprint, fingerprint
from controls import glossary
from controls.figures import Figure, in_a_row
from controls.loading import load, shape
from controls.messages import MISSING, counted, number, percent
from controls.trust import Trust
from queries.errors import OUR_SCHEMA, StoreError
from queries.observation.aggregated import ClusterMembers, ContradictionsOf, LastPass
from queries.observation.life import Home, whole_life
from queries.observation.record import Record, Vectors, WeightSteps
from queries.observation.retrieved import Moments, Retrievals, RetrievalTotals
from queries.scope import Scope, is_storable, isolated

if TYPE_CHECKING:
    from controls.loading import Answers

SAME = 1e-6  # apart by less, two weights differ by how they are stored
TALL = 1_500  # characters above which a text scrolls


@dataclass(frozen=True, eq=False)
class Dossier:
    """All that is known of one observation, from one snapshot; without aggregation where the store has none of it."""

    id: UUID
    scope: Scope
    fingerprint: Fingerprint
    as_of: datetime
    record: pd.Series[Any]
    vectors: pd.DataFrame
    steps: pd.DataFrame
    totals: pd.Series[Any]
    retrievals: pd.DataFrame
    moments: pd.DataFrame
    last_pass: pd.Series[Any] | None
    members: pd.DataFrame | None
    contradictions: pd.DataFrame | None


def said() -> str | None:
    """What the address names as the observation, whatever that is."""
    return st.query_params.get("observation") or None


def dossier(scope: Scope, named: str) -> Dossier | None:
    """The observation in its own organization; ``None`` for what is no id, unknown, or out of reach."""
    with suppress(ValueError):
        return _dossier(scope, UUID(named.strip()))
    return None


def _dossier(scope: Scope, id_: UUID) -> Dossier | None:
    home = load(Home(scope, id_)).frames[0]
    if home.empty:
        return None
    life, found = whole_life(home["org_id"].iloc[0]), fingerprint(home["content"].iloc[0])
    log = shape()
    stored = (
        Record(life, id_),
        Vectors(life, id_),
        WeightSteps(life, id_),
        RetrievalTotals(life, id_, log),
        Retrievals(life, id_, log, below()),
        Moments(life, id_, log),
    )
    passed = (LastPass(life, id_), ClusterMembers(life, id_, found.simhash), ContradictionsOf(life, id_))
    answers: Answers
    aggregated: list[pd.DataFrame] | None = None
    try:
        answers = load(*stored, *passed)
        aggregated = list(answers.frames[len(stored) :])
    except StoreError as error:
        if error.kind not in OUR_SCHEMA:
            raise
        answers = load(*stored)
    record, vectors, steps, totals, retrievals, moments = answers.frames[: len(stored)]
    if record.empty:  # deleted since it was found
        return None
    has_pass = aggregated is not None and not aggregated[0].empty
    return Dossier(
        id_,
        life,
        found,
        answers.as_of,
        record.iloc[0],
        vectors,
        steps,
        totals.iloc[0],
        retrievals,
        moments,
        aggregated[0].iloc[0] if aggregated and has_pass else None,
        aggregated[1] if aggregated and has_pass else None,
        aggregated[2] if aggregated and has_pass else None,
    )


def below() -> tuple[datetime, str] | None:
    """The retrieval below which the page of retrievals begins, as the address has it."""
    moment, _, retrieval = st.query_params.get("below", "").partition("~")
    with suppress(ValueError):
        at = datetime.fromisoformat(moment)
        return (at, retrieval) if at.tzinfo is not None and is_storable(retrieval) else None
    return None


def trust_of(found: Dossier) -> Trust:
    """What stands behind the figures, and what this store or its last pass cannot say."""
    log, totals, degraded = shape(), found.totals, []
    if not log.retrieval_id:
        degraded.append("this store logs no retrieval id: equal queries of one session count as one")
    if not log.created_at:
        degraded.append("this store logs no time: a retrieval takes its session's")
    if not log.injected or totals["injection_unknown"]:
        degraded.append(f"injection unknown for {counted(int(totals['injection_unknown']), 'retrieval')}")
    if found.last_pass is None:
        degraded.append("no aggregation pass yet")
    return Trust(
        as_of=found.as_of,
        newest=None if pd.isna(totals["newest"]) else totals["newest"].to_pydatetime(),
        rows=int(totals["log_rows"]),
        retrievals=int(totals["retrievals"]),
        complete=None,
        truncated=0,
        repeated=int(totals["repeated"]),
        unusable=int(totals["unranked"]),
        degraded=tuple(degraded),
    )


def text(found: Dossier, scope: Scope) -> None:
    """Whose it is in a sentence, and the text as it is stored, every character of it shown and none of it obeyed."""
    record = found.record
    whose = isolated(str(record["org_name"]))
    if not pd.isna(record["project_id"]):
        named = record["project_id"] if pd.isna(record["project_name"]) else record["project_name"]
        whose += f", project {isolated(str(named))}"
    written = "" if pd.isna(record["created_at"]) else f", written {record['created_at']:%-d %b %Y %H:%M} UTC"
    stored = f"{record['status']} {record['kind']}".capitalize()
    outside = scope.org is not None and not (
        scope.org == record["org_id"] and scope.project in (None, record["project_id"])
    )
    where = " It lies outside the chosen scope." if outside else ""
    st.text(f"{stored} of {whose}{written}.{where} All of its life is shown, whatever the window.")
    if not pd.isna(record["title"]) and record["title"]:
        st.text(record["title"])
    content = str(record["content"])
    tall = len(content) > TALL or content.count("\n") > TALL // 100
    st.code(content, language=None, wrap_lines=True, height=260 if tall else "content")
    if record["characters"] > len(content):
        st.caption(f"The first {number(len(content))} of {number(record['characters'])} characters.")


def figures(found: Dossier) -> None:
    """Weight, retrievals, injections, how sessions that were given it ended, and who else says it."""
    totals, steps = found.totals, found.steps
    weight = found.record["weight"]
    judged = int(totals["accepted"] + totals["rejected"] + totals["rework"])
    moved = (
        f"{float(weight) - float(steps['previous_weight'].iloc[-1]):+.3g} since first"
        if len(steps)
        else "no outcome yet"
    )
    unknown = int(totals["injection_unknown"]) == int(totals["retrievals"]) > 0
    shown = (
        ("Weight", MISSING if pd.isna(weight) else f"{weight:.3g}", moved, glossary.WEIGHT),
        (
            "Retrieved",
            number(totals["retrievals"]),
            f"▲{number(totals['up'])} ▼{number(totals['down'])}",
            glossary.RETRIEVED,
        ),
        (
            "Injected",
            MISSING if unknown else number(totals["injected"]),
            f"{percent(totals['injected'], totals['retrievals'])} of them" if not unknown else "not logged here",
            glossary.INJECTED,
        ),
        (
            "Accepted",
            percent(totals["accepted"], judged),
            f"of {counted(judged, 'session')}",
            glossary.ACCEPTED_OF_GIVEN,
        ),
        ("Said by others", *_said_by_others(found), glossary.SAID_BY_OTHERS),
    )
    in_a_row(Figure(label, value, beside, explained) for label, value, beside, explained in shown)


def contradicted_weight(found: Dossier) -> None:
    """Where the weight is not what its last recorded change made of it: what is recorded is then not all there was."""
    weight, steps = found.record["weight"], found.steps
    if pd.isna(weight) or steps.empty:
        return
    left = float(steps["new_weight"].iloc[0])
    if float(weight) == left or not abs(float(weight) - left) > SAME:
        return
    now, then = next(pair for d in (3, 6, 17) if len(set(pair := (f"{weight:.{d}g}", f"{left:.{d}g}"))) > 1)
    st.caption(
        f":orange[:material/warning: The weight stands at {now}, and the last recorded change left it at {then}: "
        "it was changed outside what is recorded.]"
    )


def _said_by_others(found: Dossier) -> tuple[str, str]:
    if found.members is None or found.contradictions is None:
        return MISSING, "no pass yet"
    others = int(found.members["members"].iloc[0]) - 1 if len(found.members) else 0
    against = int(found.contradictions["total"].iloc[0]) if len(found.contradictions) else 0
    opposed = f"✕ {number(against)} {'contradicts' if against == 1 else 'contradict'} it"
    agents = int(found.members["agents"].iloc[0]) if len(found.members) else 0
    # one agent that says it nine times is no second voice
    who = f"by {counted(agents, 'agent')} in all, " if others else ""
    return number(others), who + (opposed if against else "none contradicts it")


def happened(found: Dossier) -> pd.DataFrame:
    """Everything with a time, as the timeline takes it: ``lane, first, last, count``."""
    created = found.record["created_at"]
    marks: list[tuple[str, pd.Timestamp]] = [] if pd.isna(created) else [("written", created)]
    if found.members is not None:
        others = found.members[found.members["id"] != str(found.id)]
        marks += [("corroborated", at) for at in others["created_at"].dropna()]
    if found.contradictions is not None and not pd.isna(created):
        # Two claims conflict from the moment the later of them was written.
        marks += [("contradicted", max(at, created)) for at in found.contradictions["created_at"].dropna()]
    single = pd.DataFrame([(lane, at, at, 1) for lane, at in marks], columns=list(found.moments.columns))
    return pd.concat([single.astype(found.moments.dtypes.to_dict()), found.moments], ignore_index=True)


def provenance(found: Dossier) -> None:
    """Where it came from and how it is stored, field by field, as text."""
    record = found.record
    routes = [
        f"{route} ({size})" for route, size in zip(found.vectors["route"], found.vectors["dimensions"], strict=True)
    ]
    digits = f"{found.fingerprint.simhash % 2**64:016x}" if found.fingerprint.tokens else "no words to hash"
    fields = {
        "organization": f"{record['org_name']} · {record['org_id']}",
        "project": record["project_id"],
        "agent": record["agent_id"],
        "session": record["session_id"],
        "session's outcome": record["session_outcome"],
        "kind": record["kind"],
        "reflection depth": record["reflection_depth"],
        "granularity": record["granularity"],
        "source": record["source"],
        "status": record["status"],
        "id": record["id"],
        "created": _moment(record["created_at"]),
        "last accessed": _moment(record["last_accessed_at"]),
        "tags": ", ".join(record["tags"]) if record["tags"] else None,
        "task tag": record["task_tag"],
        "importance": record["importance"],
        "memory score": record["memory_score"],
        "weight": record["weight"],
        "content hash": record["content_hash"],
        "SimHash": digits,
        "vectors": ", ".join(routes) or "none: no vector route can find it",
    }
    rows = [(name, MISSING if value is None or pd.isna(value) else str(value)) for name, value in fields.items()]
    half = (len(rows) + 1) // 2
    for column, part in zip(st.columns(2), (rows[:half], rows[half:]), strict=True):
        column.dataframe(
            pd.DataFrame(part, columns=["field", "value"]),
            hide_index=True,
            height="content",
            column_config={"field": st.column_config.TextColumn("Field", width=120), "value": "Value"},
        )


def _moment(at: Any) -> str | None:  # noqa: ANN401 - a Timestamp or pandas' own nothing
    return None if pd.isna(at) else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def span(found: Dossier) -> tuple[float | None, datetime | None, datetime]:
    """The weight now, when the observation was written, and the present: where its timeline begins and ends."""
    weight, created = found.record["weight"], found.record["created_at"]
    return None if pd.isna(weight) else float(weight), None if pd.isna(created) else created, found.as_of

"""All that is known of one observation, from one snapshot, and what happened to it when."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pandas as pd
import streamlit as st

from analysis.corroboration.disputes import Dispute, standing
from analysis.observation import Fingerprint, fingerprint
from controls.loading import load, own_columns, shape
from queries.drift.kept import kept
from queries.errors import OUR_SCHEMA, StoreError
from queries.observation.aggregated import ClusterDisputes, ClusterMembers, ContradictionsOf, LastPass
from queries.observation.life import Home, whole_life
from queries.observation.record import Record, Vectors, WeightSteps
from queries.observation.retrieved import Moments, Retrievals, RetrievalTotals
from queries.observation.voices import Voices
from queries.scope import Scope, is_storable

if TYPE_CHECKING:
    from controls.loading import Answers


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
    disputes: tuple[Dispute, ...] = ()
    voices: pd.Series[Any] | None = None

    @property
    def apart(self) -> frozenset[str]:
        """Who of its cluster is not known to say what it says: near in words, and no voice for it."""
        return self._of_cluster("apart")

    @property
    def against(self) -> frozenset[str]:
        """Who of its cluster contradicts it, but for what was dismissed."""
        return self._of_cluster("against")

    def _of_cluster(self, who: str) -> frozenset[str]:
        found = None if self.voices is None else self.voices[who]
        return frozenset(found) if isinstance(found, list) else frozenset()


def dossier(scope: Scope, named: str) -> Dossier | None:
    """The observation in its own organization; ``None`` for what is no id, unknown, or out of reach."""
    try:
        id_ = UUID(named.strip())
    except ValueError:
        return None
    return _dossier(scope, id_)


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
    triaged = kept(own_columns()).states
    passed = (
        LastPass(life, id_),
        ClusterMembers(life, id_, found.simhash),
        ContradictionsOf(life, id_, triaged),
        ClusterDisputes(life, id_, triaged),
        Voices(life, id_, triaged),
    )
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
        _disputes(aggregated[3]) if aggregated and has_pass else (),
        aggregated[4].iloc[0] if aggregated and has_pass else None,
    )


def _disputes(found: pd.DataFrame) -> tuple[Dispute, ...]:
    """What disputes its cluster as triage left it."""
    rows = found.astype(object).where(found.notna(), None)
    decided = dict(zip(rows["fingerprint"], zip(rows["dismissed"], rows["verdict"], strict=True), strict=True))
    return tuple(standing(zip(rows["older"], rows["newer"], rows["fingerprint"], strict=True), decided))


def below() -> tuple[datetime, str] | None:
    """The retrieval below which the page of retrievals begins, as the address has it."""
    moment, _, retrieval = st.query_params.get("below", "").partition("~")
    with suppress(ValueError):
        at = datetime.fromisoformat(moment)
        return (at, retrieval) if at.tzinfo is not None and is_storable(retrieval) else None
    return None


def happened(found: Dossier) -> pd.DataFrame:
    """Everything with a time, as the timeline takes it: ``lane, first, last, count``."""
    created = found.record["created_at"]
    marks: list[tuple[str, pd.Timestamp]] = [] if pd.isna(created) else [("written", created)]
    if found.members is not None:
        others = found.members[~found.members["id"].isin({str(found.id), *found.apart})]
        marks += [("corroborated", at) for at in others["created_at"].dropna()]
    if found.contradictions is not None and not pd.isna(created):
        # Two claims conflict from the moment the later of them was written.
        remaining = found.contradictions[~found.contradictions["dismissed"]]
        marks += [("contradicted", max(at, created)) for at in remaining["created_at"].dropna()]
    single = pd.DataFrame([(lane, at, at, 1) for lane, at in marks], columns=list(found.moments.columns))
    return pd.concat([single.astype(found.moments.dtypes.to_dict()), found.moments], ignore_index=True)


def span(found: Dossier) -> tuple[float | None, datetime | None, datetime]:
    """The weight now, when the observation was written, and the present: where its timeline begins and ends."""
    weight, created = found.record["weight"], found.record["created_at"]
    return None if pd.isna(weight) else float(weight), None if pd.isna(created) else created, found.as_of

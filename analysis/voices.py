"""Who says the same as some observations at any SimHash threshold: clusters counted anew over what is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import numpy.typing as npt

from queries.errors import StoreError
from queries.replay.logged import READING
from queries.replay.texts import StoredForClusters
from ranking.clusters import CountBy
from ranking.corroboration import Corroboration
from ranking.growth import corroborating_at, count_codes
from ranking.simhash import fingerprints
from retrieval.evidence import NO_PASS, asks_for
from retrieval.retrieve import recollect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from queries.engine import Store
    from queries.replay.texts import StoredVoices
    from queries.scope import Reach
    from ranking.ranking import Stage
    from retrieval.retrieve import AgentSession, Memory, Recollection

Whole = npt.NDArray[np.int64]


def stored_voices(store: Store, reach: Reach, org_id: str) -> StoredVoices:
    """Every active observation of an organization with its fingerprint, those taken that were not kept."""
    with store.reading(reach, READING, name="voices") as snapshot:
        stored = StoredForClusters(org_id).read(snapshot)
    fresh = list(stored.unhashed)
    stored.simhash[fresh], stored.tokens[fresh] = fingerprints(list(stored.texts))
    return stored


def counted_voices(
    stored: StoredVoices, asked: npt.NDArray[np.bytes_], moments: Whole, bits: int, count_by: CountBy
) -> Whole:
    """How many others had said the same as each observation by each moment (µs); 0 for what no pass would have seen.

    Near-duplicates are looked for inside each project, as aggregation does, among what is active today.
    """
    order = np.argsort(stored.id)
    ids = stored.id[order]
    place = np.searchsorted(ids, asked).clip(max=max(len(ids) - 1, 0))
    known = np.flatnonzero(ids[place] == asked) if len(ids) else np.empty(0, np.int64)
    row = order[place[known]] if len(ids) else known
    counts = np.zeros(len(asked), np.int64)
    agents = count_codes(stored.agent, count_by)
    codes: dict[str | None, int] = {}
    projects = np.array([codes.setdefault(name, len(codes)) for name in stored.project], np.int64)
    for project in np.unique(projects[row]).tolist():
        members = np.flatnonzero((projects == project) & (stored.tokens > 0))
        local = np.full(len(projects), -1)
        local[members] = np.arange(len(members))
        mine = np.flatnonzero(local[row] >= 0)
        counts[known[mine]] = corroborating_at(
            stored.simhash[members],
            stored.created[members],
            local[row[mine]],
            moments[known[mine]],
            bits,
            agents=None if agents is None else agents[members],
        )
    return counts


def recounted(found: Recollection, stored: StoredVoices, bits: int) -> Recollection:
    """What was recollected, with the voices of its candidates counted within so many bits as of its own moment."""
    candidates = found.candidates
    asked = np.array([UUID(str(label)).bytes for label in candidates.ids.tolist()], "S16")
    moment = int(found.at.astimezone(UTC).timestamp() * 1_000_000)
    voices = counted_voices(stored, asked, np.full(len(asked), moment), bits, CountBy.MEMBERS)
    degraded = tuple(reason for reason in found.degraded if reason != NO_PASS)
    return replace(found, candidates=candidates.with_columns(corroborating=voices), degraded=degraded)


def heard(found: Recollection, bits: int | None, voices: Callable[[], StoredVoices]) -> Recollection:
    """What was recollected, its voices counted anew where its pipeline counts any; without bits the last pass's.

    ``voices`` reads what is stored, and only where it is needed.
    """
    if bits is None or found.failed is not None or not len(found.candidates):
        return found
    if not asks_for(found.pipeline, Corroboration):
        return found
    try:
        return recounted(found, voices(), bits)
    except StoreError as error:
        told = f"who says the same could not be counted anew ({error.kind}): the last pass's voices stand"
        return replace(found, degraded=(*found.degraded, told))


def recollect_within(
    memory: Memory,
    session: AgentSession,
    query: str,
    stages: Sequence[Stage] | None,
    *,
    bits: int | None,
    at: datetime | None = None,
) -> Recollection:
    """What a question brings back, with who says the same counted within so many bits."""
    voices = partial(stored_voices, memory.store, session.reach, session.org_id)
    return heard(recollect(memory, session, query, stages, at), bits, voices)

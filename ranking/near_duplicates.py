from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ranking.candidates import Flags, MissingEvidence
from ranking.clusters import Clusters, CountBy, Method
from ranking.components import Positions
from ranking.contradictions import detect_contradictions
from ranking.diameter import Distances, cosine_diameters, hash_diameters
from ranking.limits import within
from ranking.linkage import Linkage
from ranking.near_pairs import check_threshold, near_components
from ranking.observations import Given, Observations, read_observations, taken
from ranking.simhash import Fingerprints, fingerprints
from ranking.similar import similar_components, unit_rows

DUPLICATE_COSINE = 0.94
LIMIT = 10_000
# what float32 embeddings may err by
_ROUNDING = 1e-6


class _Found(NamedTuple):
    """The rows that are in a cluster, the number of each one's cluster, and how wide every cluster is."""

    rows: Positions
    number: Positions
    diameter: Distances
    chained: Flags


def cluster_near_duplicates(
    observations: Given,
    threshold: int = 3,
    *,
    method: Method | str = Method.SIMHASH,
    cosine: float = DUPLICATE_COSINE,
    count_by: CountBy | str = CountBy.MEMBERS,
    disputes: Iterable[tuple[Any, Any]] | None = None,
    exclude_disputed: bool = False,
    limit: int | None = LIMIT,
    hashed: Fingerprints | None = None,
    linked: Linkage | None = None,
) -> Clusters:
    """Connected components of near observations, two at least; canonical = highest weight, then earliest, then id.

    3 bits and the newest 10 000 are Rensei's (000), cosine 0.94 is Memsense's duplicate threshold (002). ``disputes``
    are pairs of ids (of rows, where there are no ids) that contradict each other; only those with a canonical count.
    Where they are not given, they are looked for in the texts of clusters' members. ``hashed`` are kept fingerprints of
    every row, so that no text is hashed again; ``linked`` are kept links of every row, so that no pair is looked for
    again. Where the vectors behind the links are not given, diameters are NaN: not measured.
    """
    method, count_by = Method(method), CountBy(count_by)
    threshold = check_threshold(threshold)
    within("cosine", cosine, -1, 1)
    within("limit", LIMIT if limit is None else limit, 0)
    seen = read_observations(observations)
    considered = seen.newest(limit)
    by_hash = method is Method.SIMHASH
    if linked is not None and (linked.count != seen.count or len(considered) != seen.count):
        raise ValueError(f"linked: expected the {len(considered)} rows that are considered, found {linked.count}")
    if by_hash:
        found = _by_simhash(seen, considered, threshold, hashed, linked)
    else:
        found = _by_embedding(seen, considered, cosine, linked)
    count = len(found.diameter)
    cluster = np.full(seen.count, -1)
    cluster[found.rows] = found.number
    canonical = _canonical(seen, found)
    if disputes is not None:
        contradicts = _contradicts(seen, disputes, cluster, canonical)
    elif exclude_disputed or "content" in seen.columns:
        contradicts = _looked_for(seen, found, canonical)
    else:
        contradicts = np.zeros(seen.count, np.bool_)
    agents, sessions = seen.codes("agent"), seen.codes("session")
    heard = ~contradicts[found.rows] if exclude_disputed else np.ones(len(found.rows), np.bool_)
    voices = found._replace(rows=found.rows[heard], number=found.number[heard])
    if count_by is CountBy.MEMBERS:
        score = np.bincount(voices.number, minlength=count) - 1
    elif agents is None:
        raise MissingEvidence(f"no column 'agent_id' to count by; observations carry {', '.join(seen.columns)}")
    else:
        score = np.maximum(_distinct(voices, agents) - 1, 0)
    corroborating = np.zeros(seen.count, np.int64)
    corroborating[voices.rows] = score[voices.number]
    return Clusters(
        ids=seen.ids,
        cluster=cluster,
        corroborating=corroborating,
        contradicts=contradicts,
        canonical=canonical,
        size=np.bincount(found.number, minlength=count),
        corroboration_score=score,
        agents=None if agents is None else _distinct(found, agents),
        sessions=None if sessions is None else _distinct(found, sessions),
        diameter=found.diameter,
        chained=found.chained,
        disputed=np.bincount(cluster[contradicts], minlength=count) > 0,
        method=method,
        count_by=count_by,
        considered=len(considered),
    )


def _by_simhash(
    seen: Observations, considered: Positions, threshold: int, hashed: Fingerprints | None, linked: Linkage | None
) -> _Found:
    if hashed is None:
        hashes, tokens = fingerprints(taken(seen["content"], considered))
    elif {len(column) for column in hashed} == {seen.count}:
        hashes, tokens = hashed[0][considered], hashed[1][considered]
    else:
        raise ValueError(f"hashed: expected {seen.count} rows as observations have, found {len(hashed[0])}")
    spoken = np.flatnonzero(tokens)
    near = near_components(hashes[spoken], threshold) if linked is None else linked.groups_at(threshold)[spoken]
    member, number, count = _numbered(near)
    diameter = hash_diameters(hashes[spoken[member]], number, count)
    return _Found(considered[spoken[member]], number, diameter, diameter > threshold)


def _by_embedding(seen: Observations, considered: Positions, cosine: float, linked: Linkage | None) -> _Found:
    if linked is not None and "embeddings" not in seen.columns:
        member, number, count = _numbered(linked.groups_at(-cosine))
        return _Found(considered[member], number, np.full(count, np.nan), np.zeros(count, np.bool_))
    units = unit_rows(seen["embeddings"][considered])
    spoken = np.flatnonzero(units.any(axis=1))
    near = similar_components(units[spoken], cosine) if linked is None else linked.groups_at(-cosine)[spoken]
    member, number, count = _numbered(near)
    diameter = cosine_diameters(units[spoken[member]], number, count)
    return _Found(considered[spoken[member]], number, diameter, diameter > 1.0 - cosine + _ROUNDING)


def _numbered(component: Positions) -> tuple[Positions, Positions, int]:
    """Rows whose component has two members or more, their clusters numbered by first row, and how many those are."""
    member = np.flatnonzero(np.bincount(component)[component] > 1) if len(component) else component
    _, first, number = np.unique(component[member], return_index=True, return_inverse=True)
    place = np.empty_like(first)
    place[np.argsort(first)] = np.arange(len(first))
    return member, place[number], len(first)


def _canonical(seen: Observations, found: _Found) -> Positions:
    """The highest weight, then the earliest, then the smallest id; a row without a date comes after those with one."""
    rows = found.rows
    created = seen.ages()[rows] if "created_at" in seen.columns else np.zeros(len(rows), np.int64)
    created = np.where(created == np.iinfo(np.int64).min, np.iinfo(np.int64).max, created)
    weight = seen["weight"][rows] if "weight" in seen.columns else np.zeros(len(rows))
    order = np.lexsort((seen.id_order(rows), created, -weight, found.number))
    return rows[order[np.flatnonzero(np.diff(found.number[order], prepend=-1))]]


def _looked_for(seen: Observations, found: _Found, canonical: Positions) -> Flags:
    """Which rows contradict the canonical of their cluster, by their texts, equal ones read once."""
    flags = np.zeros(seen.count, np.bool_)
    column = taken(seen["content"], found.rows)
    texts = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    code: dict[str, int] = {}
    # by embedding, a row may have no text
    said = np.array([code.setdefault(text or "", len(code)) for text in texts], np.int64)
    spoken = np.empty(seen.count, np.int64)
    spoken[found.rows] = said
    disputed = {pair for one in detect_contradictions(list(code)) for pair in (one.ids, one.ids[::-1])}
    asked = zip(said.tolist(), spoken[canonical[found.number]].tolist(), strict=True)
    flags[found.rows] = [pair in disputed for pair in asked]
    return flags


def _contradicts(
    seen: Observations, disputes: Iterable[tuple[Any, Any]], cluster: Positions, canonical: Positions
) -> Flags:
    """Which rows contradict the canonical of their cluster."""
    flags = np.zeros(seen.count, np.bool_)
    left, right = seen.positions(disputes)
    for one, other in ((left, right), (right, left)):
        together = (cluster[one] >= 0) & (cluster[one] == cluster[other]) & (one != other)
        one, other = one[together], other[together]  # noqa: PLW2901 - the pairs that matter
        flags[other[canonical[cluster[one]] == one]] = True
    return flags


def _distinct(found: _Found, codes: Positions) -> Positions:
    """How many different known codes each cluster holds."""
    known = codes[found.rows]
    kinds = int(codes.max(initial=0)) + 1
    keys = np.sort((found.number * kinds + known)[known >= 0])
    return np.bincount(keys[np.diff(keys, prepend=-1) > 0] // kinds, minlength=len(found.diameter))

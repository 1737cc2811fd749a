"""How many stand on each side, where one cluster of near-duplicates holds both sides of a contradiction."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from math import log2
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift.from_passes import search_of_passes
from analysis.drift.search import STEPS, search
from analysis.drift.tasks import from_text, search_in_worker
from analysis.drift.weighing import find_alerts, weigh
from ranking import cluster_near_duplicates
from tests import sample
from tests.analysis.drift.conftest import ALL
from tests.analysis.drift.test_from_passes import aggregated, same
from tests.drift_store import window
from tests.scopes import add_observation

if TYPE_CHECKING:
    import psycopg

    from analysis.drift.alerts import Listed
    from queries.engine import Store

    Owner = psycopg.Connection[Any]

NODE = (
    "The dispatch team builds every storefront image on shared runners with Node {} and keeps the lockfile, the cache, "
    "the build log and the signed artifact together in the northern registry for all reviewers of the release"
)


def say(owner: Owner, *said: tuple[str, str]) -> None:
    """Texts by agents, each a day after the one before."""
    sample.add_organization(owner, "org_a")
    for number, (text, agent) in enumerate(said):
        written = sample.TODAY - timedelta(days=len(said) - number)
        add_observation(owner, "org_a", str(number), text, agent_id=agent, created_at=written)
    texts = [text for text, _ in said]
    assert set(cluster_near_duplicates(texts, disputes=()).cluster.tolist()) == {0}


def told(listed: tuple[Listed, ...]) -> set[tuple[int, int, int, int]]:
    """Members and agents of the older side, then of the newer."""
    return {(one.older.members, one.older.agents, one.newer.members, one.newer.agents) for one in listed}


def known(store: Store) -> tuple[Listed, ...]:
    """The alerts, which a search of one threshold, one of all, its JSON and the pass have to tell alike."""
    scope = window("org_a")
    found = find_alerts(store, scope, ALL).listed
    aggregated(store)
    standing, searched = search_of_passes(store, scope), search(store, scope)
    assert standing is not None
    worker = SimpleNamespace(store=store)
    travelled = from_text(json.dumps(search_in_worker(worker, scope, {}, lambda *_: None)))  # type: ignore[arg-type]
    for other in (standing, searched, travelled):
        assert same(weigh(store, scope, ALL, other).listed) == same(found)
    assert len({weigh(store, scope, ALL, other).data_version for other in (standing, searched, travelled)}) == 1
    return found


def test_a_cluster_of_nothing_but_both_sides_says_each_once(store: Store, owner: Owner) -> None:
    say(owner, (NODE.format(18), "a"), (NODE.format(20), "b"))
    found = known(store)
    assert told(found) == {(1, 1, 1, 1)}
    assert dict(found[0].parts)["frequency"] == pytest.approx(log2(1 + 1 + 1) / 3)


def test_six_of_two_sides_are_told_apart(store: Store, owner: Owner) -> None:
    """Four of three agents against two of one; severity's frequency counts the same six."""
    eighteen, twenty = NODE.format(18), NODE.format(20)
    say(
        owner, (eighteen, "a"), (eighteen.lower(), "b"), (twenty, "d"), (eighteen.upper(), "b"),
        (twenty.replace("dispatch", "Dispatch"), "d"), (eighteen.replace("team", "Team"), "c"),
    )  # fmt: skip
    found = known(store)
    assert len(found) == 4 * 2
    assert told(found) == {(4, 3, 2, 1), (2, 1, 4, 3)}
    assert {dict(one.parts)["frequency"] for one in found} == {min(1.0, log2(1 + 4 + 2) / 3)}


def test_more_than_are_compared_one_by_one(store: Store, owner: Owner) -> None:
    """Of many that say a sentence each is compared with the newest of the other side alone."""
    said = [(NODE.format(18), f"a{number}") for number in range(6)] + [(NODE.format(20), "b")] * 5
    say(owner, *said)
    found = known(store)
    assert len(found) < 6 * 5
    assert told(found) == {(6, 6, 5, 1)}


def test_whom_nothing_puts_on_a_side_is_counted_on_none(store: Store, owner: Owner) -> None:
    say(owner, (NODE.format(18), "a"), (NODE.format(20), "b"), (NODE.replace(" {}", ""), "c"))
    assert told(known(store)) == {(1, 1, 1, 1)}


def test_a_cluster_that_holds_one_side_alone_stands_there_whole(store: Store, owner: Owner) -> None:
    eighteen = NODE.format(18)
    say(owner, (eighteen, "a"), (eighteen.lower(), "b"))
    other = eighteen.replace("18", "20").split(" and keeps")[0]
    add_observation(owner, "org_a", "newer", other, agent_id="c", created_at=sample.TODAY)
    assert told(known(store)) == {(2, 2, 1, 1)}


def test_each_threshold_counts_among_its_own_findings(store: Store, owner: Owner) -> None:
    """Where a threshold finds no contradiction inside the cluster, all of it says what its members say."""
    say(owner, (NODE.format(18), "a"), (NODE.format(20), "b"), (NODE.format(18).lower(), "c"))
    searched = search(store, window("org_a"))
    for threshold in STEPS:
        alone = find_alerts(store, window("org_a"), replace(ALL, threshold=threshold)).listed
        assert told(searched.at(threshold)) == told(alone), threshold

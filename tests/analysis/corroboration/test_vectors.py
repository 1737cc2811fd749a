"""Clusters by embedding and the map: against the library asked directly, and on vectors that cannot be compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from analysis.corroboration.agreement import agree, whole_time
from analysis.corroboration.clustered import Nearness, clustered
from analysis.corroboration.rows import alone, cluster_rows, marks
from analysis.corroboration.vectors import (
    COSINES,
    Places,
    VectorLinks,
    inside,
    link_vectors,
    measure,
    place,
    projected,
    read_units,
)
from queries.scope import Reach, Scope
from ranking import Method, cluster_near_duplicates
from tests import sample
from tests.analysis.conftest import scope_of
from tests.analysis.corroboration.angles import at, cos
from tests.memories import add_memory

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

ORG = "org_alder"


def scope(org: str = "org_a") -> Scope:
    return whole_time(Scope.of_days(Reach((org,)), sample.TODAY.date(), sample.TODAY.date(), org))


def plant(owner: Owner) -> list[str]:
    """At 0°, 10°, 20° and 90°, one of another dimension, one without any, one in another project at 0°."""
    sample.add_organization(owner, "org_a")
    ids = [add_memory(owner, "org_a", n, f"note {n}", at(angle)) for n, angle in enumerate((0, 10, 20, 90), 1)]
    ids.append(add_memory(owner, "org_a", 5, "note 5", {"full": [1, 0, 0]}))
    ids.append(add_memory(owner, "org_a", 6, "note 6"))
    ids.append(add_memory(owner, "org_a", 7, "note 7", at(0), project_id="web"))
    return ids


def test_links_join_by_cosine_inside_a_project(store: Store, owner: Owner) -> None:
    ids = plant(owner)
    links = VectorLinks.from_json(json.loads(json.dumps(link_vectors(store, scope()).to_json())))
    assert links.without == 2  # of another dimension, and none at all
    agreement = agree(store, scope())
    seen = clustered(agreement, Nearness(Method.EMBEDDING, cosine=0.98), [], links)
    # each neighbour is near enough, the two ends at 20° are not
    assert cos(20) < 0.95
    assert cos(10) > 0.98
    assert [{agreement.ids[row] for row in seen.members(n)} for n in range(len(seen.clusters))] == [set(ids[:3])]
    assert (seen.without, seen.measured) == (2, False)
    assert cluster_rows(seen)[0].diameter is None
    assert [point.largest for point in seen.sweep][:4] == [0, 0, 3, 3]  # at 1, 0.99, 0.98, 0.97


def test_a_chain_is_told_once_it_was_measured(store: Store, owner: Owner) -> None:
    plant(owner)
    links, agreement = link_vectors(store, scope()), agree(store, scope())
    for cosine, chained in ((0.98, True), (0.93, False)):
        nearness = Nearness(Method.EMBEDDING, cosine=cosine)
        (row,) = cluster_rows(clustered(agreement, nearness, [], links, measure(store, scope(), cosine)))
        assert row.diameter == pytest.approx(1 - cos(20), abs=1e-6)
        assert row.chained is chained


@pytest.mark.parametrize("cosine", [0.8, 0.94])
def test_a_demo_s_clusters_are_the_library_s(demo: Store, cosine: float) -> None:
    whole = whole_time(scope_of(ORG))
    agreement, links = agree(demo, whole), link_vectors(demo, whole)
    rows, units = read_units(demo, whole, agreement)
    assert rows == list(range(len(agreement)))
    seen = clustered(agreement, Nearness(Method.EMBEDDING, cosine=cosine), [], links, measure(demo, whole, cosine))
    expected: set[tuple[frozenset[int], float]] = set()
    for project in set(agreement.project.code.tolist()):
        mine = np.flatnonzero(agreement.project.code == project)
        found = cluster_near_duplicates({"embeddings": units[mine]}, method="embedding", cosine=cosine)
        for number in range(len(found)):
            members = frozenset(mine[found.members(number)].tolist())
            expected.add((members, round(float(found.diameter[number]), 6)))
    told = {(frozenset(seen.members(row.number)), round(row.diameter or 0.0, 6)) for row in cluster_rows(seen)}
    assert told == expected
    assert len(expected) > 1
    point = seen.sweep[COSINES.index(cosine)]
    assert (point.clusters, point.clustered) == (len(expected), sum(len(members) for members, _ in expected))


def test_vectors_are_needed(store: Store, owner: Owner) -> None:
    plant(owner)
    with pytest.raises(ValueError, match="links of vectors are needed"):
        clustered(agree(store, scope()), Nearness(Method.EMBEDDING))


class TestMap:
    def test_the_same_data_give_the_same_map_in_the_unit_square(self, demo: Store) -> None:
        whole = whole_time(scope_of(ORG))
        one, other = place(demo, whole), place(demo, whole)
        assert one.by == "vectors"
        assert (one.x == other.x).all()
        assert (one.y == other.y).all()
        assert 0 <= min(one.x.min(), one.y.min()) <= max(one.x.max(), one.y.max()) <= 1
        again = Places.from_json(json.loads(json.dumps(one.to_json())))
        assert np.abs(again.x - one.x).max() < 1e-6

    def test_without_vectors_fingerprints_are_projected(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        for number in range(5):
            add_memory(owner, "org_a", number, f"note of the {number}th kind about something else entirely")
        add_memory(owner, "org_a", 9, "")
        found = place(store, scope())
        assert (found.by, len(found.ids)) == ("fingerprints", 5)

    @pytest.mark.parametrize("count", [0, 1, 2])
    def test_too_few_for_a_map_lie_in_its_middle(self, count: int) -> None:
        assert projected(np.ones((count, 4))).tolist() == [[0.5, 0.5]] * count

    def test_equal_vectors_lie_in_one_place(self) -> None:
        assert projected(np.ones((9, 4))).tolist() == [[0.5, 0.5]] * 9

    def test_marks_and_dots_are_everyone_once(self, demo: Store) -> None:
        whole = whole_time(scope_of(ORG))
        seen, found = clustered(agree(demo, whole), Nearness()), place(demo, whole)
        drawn = marks(seen, found, cluster_rows(seen), 10_000)
        assert sum(mark.count for mark in drawn) == seen.clusters.corroborated_count
        assert len(alone(seen, found)[0]) == len(found.ids) - seen.clusters.corroborated_count
        assert len(marks(seen, found, cluster_rows(seen), 3)) == 3

    def test_inside_a_polygon(self) -> None:
        corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.5, 0.5), (0.0, 1.0)]  # a square with a notch from above
        x, y = np.array([0.5, 0.5, 0.1, 1.5]), np.array([0.25, 0.75, 0.8, 0.5])
        assert inside(x, y, corners).tolist() == [True, False, True, False]

"""One search for all thresholds: every cut of a linkage is what clustering anew at that threshold finds."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import Clusters, cluster_near_duplicates, cosine_linkage, hash_linkage, simhash64
from ranking.near_pairs import near_components
from ranking.similar import similar_components, unit_rows

# few distinct values near one another, so that copies, ties and chains are common
HASHES = st.lists(st.integers(0, 255) | st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 3, 7, 15, 31]), max_size=40)
TEXTS = [
    "retry the upload three times with backoff",
    "retry the upload three times with backoff",
    "retry the upload four times with backoff",
    "never retry the upload",
    "",
    "postgres needs a vacuum after the nightly load",
]


def groups(component: npt.NDArray[np.int64]) -> set[frozenset[int]]:
    """Components as sets of rows, whatever they are numbered by."""
    return {frozenset(np.flatnonzero(component == name).tolist()) for name in np.unique(component)}


@given(HASHES, st.integers(0, 17))
def test_a_cut_is_what_a_search_at_that_threshold_finds(values: list[int], bits: int) -> None:
    hashes = np.array(values, np.uint64)
    assert groups(hash_linkage(hashes).groups_at(bits)) == groups(near_components(hashes, bits))


@given(HASHES)
def test_first_levels_are_the_distances_to_the_nearest(values: list[int]) -> None:
    hashes = np.array(values, np.uint64)
    expected = []
    for row, value in enumerate(values):
        apart = [(value ^ other).bit_count() for place, other in enumerate(values) if place != row]
        near = [bits for bits in apart if bits <= 17]
        expected.append(float(min(near)) if near else np.inf)
    assert hash_linkage(hashes).first_levels().tolist() == expected


@given(HASHES, st.lists(st.integers(0, 2), min_size=40, max_size=40), st.lists(st.booleans(), min_size=40, max_size=40))
def test_rows_apart_and_rows_unheard_are_never_joined(values: list[int], apart: list[int], heard: list[bool]) -> None:
    count = len(values)
    hashes, numbers, told = (
        np.array(values, np.uint64),
        np.array(apart[:count], np.int64),
        np.array(heard[:count], bool),
    )
    found = groups(hash_linkage(hashes, heard=told, apart=numbers).groups_at(6))
    expected = {frozenset([row]) for row in range(count) if not told[row]}
    for number in range(3):
        rows = np.flatnonzero((numbers == number) & told)
        expected |= {frozenset(rows[list(group)].tolist()) for group in groups(near_components(hashes[rows], 6))}
    assert found == expected


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.8, 0.9, 0.94, 0.99]))
def test_a_cut_by_cosine_is_what_a_search_finds(seed: int, cosine: float) -> None:
    random = np.random.default_rng(seed)
    centres = random.normal(size=(5, 8))
    vectors = centres[random.integers(0, 5, 30)] + random.normal(size=(30, 8)) * random.choice([0, 0.1, 0.4], (30, 1))
    vectors[3], vectors[4] = 0, vectors[5]
    linkage = cosine_linkage(vectors, 0.8)
    assert groups(linkage.groups_at(-cosine)) == groups(similar_components(unit_rows(vectors), cosine))


def test_sizes_are_those_of_clusters_of_two_or_more() -> None:
    linkage = hash_linkage(np.array([0, 0, 1, 2**40, 2**40 + 1, 2**63 + 2**20 + 2**30], np.uint64))
    assert linkage.sizes(0).tolist() == [2]
    assert linkage.sizes(1).tolist() == [5]  # 0, 0, 1, 2⁴⁰ and 2⁴⁰ + 1 are a chain of single bits
    assert linkage.sizes(3).tolist() == [6]
    assert hash_linkage(np.empty(0, np.uint64)).sizes(3).tolist() == []


def same(one: Clusters, other: Clusters) -> None:
    for entry in fields(Clusters):
        left, right = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right, err_msg=entry.name)
        else:
            assert left == right, entry.name


@pytest.mark.parametrize("bits", [0, 3, 8, 16])
def test_clusters_from_kept_links_are_the_same_clusters(bits: int) -> None:
    hashed = simhash64(TEXTS), np.array([5, 5, 5, 3, 0, 7])
    linkage = hash_linkage(hashed[0], heard=hashed[1] > 0)
    given = {"content": TEXTS, "agent_id": ["a", "a", "b", "b", "c", None], "weight": [1, 0.5, 2, 1, 1, 1]}
    same(
        cluster_near_duplicates(given, bits, hashed=hashed, linked=linkage),
        cluster_near_duplicates(given, bits, hashed=hashed),
    )


def test_clusters_from_kept_links_of_vectors_are_the_same_clusters() -> None:
    vectors = np.array([[1, 0], [1, 0.1], [1, 0.2], [0, 1], [0, 1]], np.float32)
    given = {"content": ["x"] * 5, "embeddings": vectors}
    linkage = cosine_linkage(vectors, 0.8)
    plain = cluster_near_duplicates(given, method="embedding", cosine=0.99)
    same(cluster_near_duplicates(given, method="embedding", cosine=0.99, linked=linkage), plain)
    unmeasured = cluster_near_duplicates({"content": ["x"] * 5}, method="embedding", cosine=0.99, linked=linkage)
    assert unmeasured.cluster.tolist() == plain.cluster.tolist()
    assert np.isnan(unmeasured.diameter).all()


class TestDoors:
    def test_beyond_what_was_looked_for(self) -> None:
        with pytest.raises(ValueError, match="level: expected 5 at most, as far as was looked, found 6"):
            hash_linkage(np.array([1, 2], np.uint64), 5).groups_at(6)

    def test_links_of_other_rows(self) -> None:
        with pytest.raises(ValueError, match="linked: expected the 6 rows that are considered, found 2"):
            cluster_near_duplicates(TEXTS, linked=hash_linkage(np.array([1, 2], np.uint64)))

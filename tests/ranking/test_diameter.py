"""How far apart a cluster's members are, and which clusters are chains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.diameter import hash_diameters
from ranking.near_duplicates import cluster_near_duplicates
from ranking.simhash import hamming, simhash64
from tests.ranking.test_near_pairs import near_by_construction


class TestDiameter:
    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 2**32), st.sampled_from([1, 2, 40, 400]), st.integers(1, 4), st.integers(0, 30))
    def test_equals_the_largest_of_all_pairs(self, seed: int, count: int, groups: int, flips: int) -> None:
        hashes = near_by_construction(seed, count, 1, flips)
        group = np.random.default_rng(seed).integers(0, groups, count)
        expected = [int(hamming(hashes[group == n][:, None], hashes[group == n]).max(initial=0)) for n in range(groups)]
        assert hash_diameters(hashes, group, groups).tolist() == expected

    @pytest.mark.parametrize("flips", [2, 10, 60])
    def test_large_groups_are_measured_exactly(self, flips: int) -> None:
        """Larger than one block: what is far from the middle is looked at first, and the rest may be left out."""
        hashes = near_by_construction(flips, 3_000, 2, flips)
        expected = int(hamming(hashes[:, None], hashes).max())
        assert hash_diameters(hashes, np.zeros(3_000, np.int64), 1).tolist() == [expected]

    def test_the_widest_pair_may_lie_near_the_middle(self) -> None:
        """One value far out, and a crowd of which two are farther apart than any is from that one."""
        crowd = [1 << bit for bit in range(64)] + [(1 << 20) - 1, ((1 << 20) - 1) << 20, (1 << 21) - 1]
        hashes = np.array(crowd, np.uint64)
        assert hash_diameters(hashes, np.zeros(len(hashes), np.int64), 1).tolist() == [40]

    def test_a_chain_is_reported(self) -> None:
        """Neighbours are near, the ends are not: single linkage joins them, the diameter says so."""
        words = [f"word{number}" for number in range(60)]
        texts = [" ".join(words[shift : shift + 40]) for shift in (0, 4, 8)]
        first, middle, last = simhash64(texts)
        step, widest = int(max(hamming(first, middle), hamming(middle, last))), int(hamming(first, last))
        assert step < widest
        clusters = cluster_near_duplicates(texts, step)
        assert clusters.diameter.tolist() == [widest]
        assert clusters.chained.tolist() == [True]
        assert not cluster_near_duplicates(texts, widest).chained.any()

    def test_many_copies_of_few_texts(self) -> None:
        clusters = cluster_near_duplicates(["one two three", "four five six"] * 50_000, limit=None)
        assert clusters.size.tolist() == [50_000, 50_000]
        assert clusters.diameter.tolist() == [0, 0]

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.near_pairs import near_components, near_pairs

THRESHOLDS = st.integers(0, 16)


def near_by_construction(seed: int, count: int, centres: int, flips: int) -> npt.NDArray[np.uint64]:
    """Fingerprints around a few centres, up to ``flips`` bits away: equal ones, near ones and chains are common."""
    random = np.random.default_rng(seed)
    hashes = random.integers(0, 2**64, centres, dtype=np.uint64)[random.integers(0, centres, count)]
    for _ in range(flips):
        bit = np.uint64(1) << random.integers(0, 64, count, dtype=np.uint64)
        hashes ^= np.where(random.random(count) < 0.5, bit, np.uint64(0))
    return hashes


def brute_pairs(hashes: npt.NDArray[np.uint64], threshold: int) -> list[tuple[int, int]]:
    """Every pair, one after another."""
    values = [int(value) for value in hashes]
    return [
        (left, right)
        for left in range(len(values))
        for right in range(left + 1, len(values))
        if (values[left] ^ values[right]).bit_count() <= threshold
    ]


def union_find(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Component of every row, named by its first row."""
    parent = list(range(count))

    def root(row: int) -> int:
        while parent[row] != row:
            row = parent[row]
        return row

    for left, right in pairs:
        low, high = sorted((root(left), root(right)))
        parent[high] = low
    return [root(row) for row in range(count)]


def same_partition(one: npt.NDArray[np.int64], other: list[int]) -> bool:
    """Whether two labellings group the rows alike."""
    pairs = set(zip(one.tolist(), other, strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other))


class TestEqualsBruteForce:
    @settings(max_examples=150, deadline=None)
    @given(st.integers(0, 2**32), st.integers(0, 60), st.integers(1, 5), st.integers(0, 12), THRESHOLDS)
    def test_around_few_centres(self, seed: int, count: int, centres: int, flips: int, threshold: int) -> None:
        hashes = near_by_construction(seed, count, centres, flips)
        expected = brute_pairs(hashes, threshold)
        left, right = near_pairs(hashes, threshold)
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected
        assert same_partition(near_components(hashes, threshold), union_find(count, expected))

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.integers(0, 2**64 - 1), max_size=30), st.integers(0, 64))
    def test_any_fingerprints(self, values: list[int], threshold: int) -> None:
        hashes = np.array(values, np.uint64)
        left, right = near_pairs(hashes, threshold)
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == brute_pairs(hashes, threshold)

    @pytest.mark.parametrize("threshold", range(17))
    @pytest.mark.parametrize("flips", [3, 14, 40])
    def test_runs_long_enough_to_be_cut_again(self, threshold: int, flips: int) -> None:
        """Two centres fill few buckets of every band, as text from one template does."""
        hashes = near_by_construction(threshold, 3_000, 2, flips)
        near = np.bitwise_count(hashes[:, None] ^ hashes[None, :]) <= threshold
        left, right = near_pairs(hashes, threshold)
        expected = np.nonzero(np.triu(near, 1))
        assert np.array_equal(left, expected[0])
        assert np.array_equal(right, expected[1])

    @pytest.mark.parametrize("threshold", [3, 6, 8])
    def test_many_fingerprints(self, threshold: int) -> None:
        """So many that narrower bands are used; pairs are planted, and chance adds none."""
        hashes = np.random.default_rng(5).integers(0, 2**64, 20_000, dtype=np.uint64)
        hashes[10_000:10_500] = hashes[:500] ^ np.uint64((1 << threshold) - 1)
        hashes[10_500:11_000] = hashes[500:1_000] ^ np.uint64((1 << threshold + 1) - 1)
        left, right = near_pairs(hashes, threshold)
        assert left.tolist() == list(range(500))
        assert right.tolist() == list(range(10_000, 10_500))


class TestComponents:
    def test_more_links_than_are_held_at_once(self) -> None:
        """Four crowds of 1 500, 32 bits apart and up to 7 wide, make over three million pairs, folded in bit by bit."""
        centre = np.repeat(np.array([0, 2**32 - 1, 2**64 - 2**32, 2**64 - 1], np.uint64), 1_500)
        hashes = centre ^ near_by_construction(7, 6_000, 1, 7) ^ near_by_construction(7, 1, 1, 0)
        assert same_partition(near_components(hashes, 16), centre.tolist())

    def test_equal_fingerprints_are_one_component_at_any_number(self) -> None:
        hashes = np.repeat(np.array([7, 2**63], np.uint64), 200_000)
        assert len(np.unique(near_components(hashes, 3))) == 2

    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 2**32), THRESHOLDS)
    def test_order_of_rows_does_not_matter(self, seed: int, threshold: int) -> None:
        hashes = near_by_construction(seed, 50, 4, 8)
        shuffled = np.random.default_rng(seed).permutation(50)
        before, after = near_components(hashes, threshold), near_components(hashes[shuffled], threshold)
        assert same_partition(after, before[shuffled].tolist())

    def test_a_larger_threshold_only_merges(self) -> None:
        hashes = near_by_construction(3, 400, 6, 10)
        counts = [len(np.unique(near_components(hashes, threshold))) for threshold in range(17)]
        assert counts == sorted(counts, reverse=True)


class TestRefuses:
    @pytest.mark.parametrize("threshold", [-1, 65, 2.5, True, "3", None, float("nan")])
    def test_bits_that_are_none(self, threshold: int) -> None:
        with pytest.raises(ValueError, match="threshold: expected a whole number of bits from 0 to 64, found"):
            near_pairs([1, 2], threshold)

    @pytest.mark.parametrize("hashes", [[[1, 2]], [1.5], [-1, 2], ["a"]])
    def test_fingerprints_that_are_none(self, hashes: list[int]) -> None:
        with pytest.raises(ValueError, match="hashes: expected one row of unsigned integers, found"):
            near_components(hashes, 3)

    def test_nothing_is_no_error(self) -> None:
        left, right = near_pairs([], 3)
        assert len(left) == len(right) == len(near_components([], 3)) == 0

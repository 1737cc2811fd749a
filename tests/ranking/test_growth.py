"""Clusters as they grew, against clustering anew at every moment."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking import growth
from ranking.clusters import CountBy
from ranking.growth import corroborating_at, count_codes
from ranking.simhash import hamming

BITS = st.integers(0, 63).map(lambda value: (value & 7) | (value >> 3) << 30)


def others_now(hashes: list[int], there: list[int], row: int, bits: int, agents: list[int] | None) -> int:
    """Walk from neighbour to neighbour among the rows that are there."""
    found, waiting = {row}, [row]
    while waiting:
        one = waiting.pop()
        near = {other for other in there if int(hamming(hashes[one], hashes[other])) <= bits} - found
        found |= near
        waiting += near
    if agents is None:
        return len(found) - 1
    return max(len({agents[one] for one in found} - {-1}) - 1, 0)


@st.composite
def pasts(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], list[tuple[int, int]]]:
    hashes = draw(st.lists(BITS, min_size=1, max_size=12))
    created = draw(st.lists(st.integers(0, 6), min_size=len(hashes), max_size=len(hashes)))
    agents = draw(st.lists(st.integers(-1, 2), min_size=len(hashes), max_size=len(hashes)))
    asked = draw(st.lists(st.tuples(st.integers(0, len(hashes) - 1), st.integers(0, 8)), max_size=10))
    return hashes, created, agents, asked


@pytest.mark.parametrize("held", [1_000_000, 2])
@settings(max_examples=60)
@given(past=pasts(), bits=st.integers(0, 3), by_agent=st.booleans())
def test_every_moment_is_as_if_clustered_anew(
    held: int, past: tuple[list[int], list[int], list[int], list[tuple[int, int]]], bits: int, *, by_agent: bool
) -> None:
    hashes, created, agents, asked = past
    rows, moments = (np.array([pair[side] for pair in asked], np.int64) for side in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "_HELD", held)
        found = corroborating_at(
            np.array(hashes, np.uint64),
            np.array(created, np.int64),
            rows,
            moments,
            bits,
            agents=np.array(agents, np.int64) if by_agent else None,
        )
    expected = []
    for row, moment in asked:
        there = [one for one, since in enumerate(created) if since < moment]
        expected.append(others_now(hashes, there, row, bits, agents if by_agent else None) if row in there else 0)
    assert found.tolist() == expected


def test_a_chain_counts_once_its_middle_is_there() -> None:
    hashes = np.array([0b0000, 0b0011, 0b1111], np.uint64)  # two bits from one to the next, four between the ends
    created = np.array([0, 20, 10], np.int64)
    found = corroborating_at(hashes, created, np.array([0, 0, 0, 1, 2]), np.array([5, 15, 25, 20, 21]), 2)
    assert found.tolist() == [0, 0, 2, 0, 2]  # the middle is written at 20, so 20 does not know of it yet


def test_agents_are_counted_by_name_and_unknown_ones_not() -> None:
    codes = count_codes(("a", None, "b", "a"), CountBy.AGENTS)
    assert codes is not None
    assert codes.tolist() == [0, -1, 1, 0]
    assert count_codes(("a", "b"), CountBy.MEMBERS) is None


def test_a_page_of_equal_texts_costs_no_square() -> None:
    count = 20_000
    found = corroborating_at(
        np.zeros(count, np.uint64), np.arange(count), np.array([0, 0]), np.array([count // 2, count + 1])
    )
    assert found.tolist() == [count // 2 - 1, count - 1]

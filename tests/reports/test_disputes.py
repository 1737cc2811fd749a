"""Disputes against groups found the slow way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reports.disputes import Disputes

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=30)


def groups(pairs: list[tuple[int, int]]) -> list[set[int]]:
    found: list[set[int]] = []
    for pair in pairs:
        touched = [group for group in found if group & set(pair)]
        found = [group for group in found if group not in touched] + [set(pair).union(*touched)]
    return found


@given(PAIRS)
def test_pairs_that_share_an_observation_are_one_dispute(pairs: list[tuple[int, int]]) -> None:
    disputes = Disputes()
    for one, other in pairs:
        disputes.add("org", f"{one}", f"{other}")
    assert disputes.count == len(groups(pairs))


def test_equal_ids_of_two_organizations_are_two_observations() -> None:
    disputes = Disputes()
    disputes.add("a", "1", "2")
    disputes.add("b", "2", "3")
    assert disputes.count == 2


def test_a_long_chain_is_one_and_found_without_recursion() -> None:
    disputes = Disputes()
    for at in range(10_000, 0, -1):
        disputes.add("org", f"{at}", f"{at - 1}")
    assert disputes.count == 1

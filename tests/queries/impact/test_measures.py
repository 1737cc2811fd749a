"""Every figure of Feedback Impact against an answer formed row by row with the ranking library, and planted facts."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import numpy as np
import pytest

from queries.impact.measures import Measures
from queries.impact.selection import Selection
from queries.scope import EVERYTHING, Scope
from ranking import comparison
from ranking.feedback import weight_dominance
from tests import sample
from tests.impact_log import FAULTS, Retrieval, Row, believable, damaged, is_number, plant, seeded

if TYPE_CHECKING:
    import pandas as pd
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a")


def measured(store: Store, selection: Selection | None = None) -> pd.Series[float]:
    """The sums of the window itself."""
    answer = store.ask(Measures(selection or Selection(WINDOW)))
    return answer[answer["day"] >= WINDOW.since].select_dtypes("number").sum().astype("float64")


def slowly(retrievals: list[Retrieval], top: int = 5) -> Counter[str]:
    """The same sums, one retrieval at a time."""
    sums: Counter[str] = Counter()
    for each in retrievals:
        rows, size = each.rows, len(each.rows)
        before, after = [row.before for row in rows], [row.after for row in rows]
        places = set(range(size))
        complete = set(before) == places == set(after)
        once = len({row.observation for row in rows}) == size
        bad = sum(not all(map(is_number, (row.relevance, row.weight, row.weighted))) for row in rows)
        told = [(b, a) for b, a in zip(before, after, strict=True) if b is not None and a is not None]
        sums.update(retrievals=1, log_rows=size, complete=int(complete), truncated=int(size == 20))
        sums.update(unusable_rows=bad)
        sums["unbalanced"] += sum(b - a for b, a in told) != 0
        if not complete or not once or bad:
            sums["incomplete" if not complete else "repeated" if not once else "unreadable"] += 1
            continue
        block = [row for row in rows if row.injected]
        if all(row.injected is not None for row in rows):
            sums.update(block_rows=size, injected=len(block))
        if not each.weighting:
            sums["unweighted"] += 1
            continue
        sums.update(comparable=1, drawn=1, candidates=size)
        by_before = sorted(range(size), key=lambda i: before[i] or 0)
        by_after = sorted(range(size), key=lambda i: after[i] or 0)
        sums["top_one"] += by_before[0] != by_after[0]
        sums["top_k"] += set(by_before[:top]) != set(by_after[:top])
        sums["shift"] += sum(abs(b - a) for b, a in told)
        sums["overlap"] += comparison.rank_biased_overlap(by_before, by_after)  # type: ignore[assignment,operator]
        if 1 < size <= 62:
            sums["tau"] += comparison.kendall_tau_b(*np.array(told).T)  # type: ignore[assignment,operator]
            sums["tau_known"] += 1
        scores = np.array([(row.relevance or 0) + (row.boost or 0) for row in rows])
        share = weight_dominance(scores, np.array([row.weight for row in rows], dtype=np.float64))
        if share is not None:
            sums["dominance"] += share  # type: ignore[assignment]
            sums["dominance_known"] += 1
        if any(row.injected is None for row in rows):
            continue
        if {rows[i].observation for i in by_after[: len(block)]} != {row.observation for row in block}:
            sums["block_reordered"] += 1
            continue
        flips = comparison.injection_flips(by_before[: len(block)], by_after[: len(block)])
        assert len(flips.entered) == len(flips.left)
        sums.update(block_known=1, block_changed=int(bool(len(flips))), flips=len(flips))
    return sums


@pytest.mark.parametrize("seed", range(3))
def test_every_sum_equals_the_librarys_answer(store: Store, owner: Owner, seed: int) -> None:
    draw = seeded(seed)
    made = []
    for number in range(60):
        faulty = number % 2 == 1
        size = draw.choice([8, 20, 62, 70] if faulty else [1, 2, 3, 8, 20, 20, 20, 61, 62, 63, 70])
        options: dict[str, Any] = {
            "boosted": draw.random() < 0.3,
            "weighting": faulty or draw.random() < 0.7,
            "days_ago": number % 6,
        }
        each = believable(draw, str(number), size, block=draw.randrange(faulty, size + 1 - faulty), **options)
        made.append(damaged(draw, each, FAULTS[number // 2 % len(FAULTS)]) if faulty else each)
    sample.add_organization(owner, "org_a")
    plant(owner, made)
    for top in (1, 3, 5, 20):
        found, expected = measured(store, Selection(WINDOW, top=top)), slowly(made, top)
        for name in found.index:
            assert found[name] == pytest.approx(expected[name], abs=1e-9), name
        parts = ("comparable", "incomplete", "repeated", "unreadable", "unweighted")
        assert sum(found[name] for name in parts) == len(made)
    large = [each for each in made if len(each.rows) > 62]
    assert 0 < slowly(large)["flips"] < found["flips"]
    assert min(expected[name] for name in (*parts, "block_reordered", "block_changed")) > 0


class TestAsWritten:
    """Small enough to be checked by hand."""

    def test_one_swap_across_the_cut(self, store: Store, owner: Owner) -> None:
        """Four candidates, a block of two; the second and the third change places."""
        draw = seeded(1)
        one = believable(draw, "one", 4, block=2)
        for row, (before, after, weight) in zip(
            one.rows, [(0, 0, 1.0), (1, 2, 0.5), (2, 1, 1.0), (3, 3, 1.0)], strict=True
        ):
            row.before, row.after, row.weight, row.injected = before, after, weight, after < 2
            row.observation = uuid5(sample.NAMESPACE, str(before))
        sample.add_organization(owner, "org_a")
        plant(owner, [one])
        found = measured(store, Selection(WINDOW, top=2))
        assert (found["top_one"], found["top_k"], found["shift"], found["candidates"]) == (0, 1, 2, 4)
        assert (found["block_known"], found["block_changed"], found["flips"], found["injected"]) == (1, 1, 2, 2)
        assert found["tau"] == pytest.approx(1 - 4 * 1 / (4 * 3))
        # agreement is 1 at every depth but the second, where one of two is shared
        assert found["overlap"] == pytest.approx(0.1 * (1 + 0.5 * 0.9 + 0.81 + 0.729) + 0.9**4)

    def test_the_mean_delta_is_zero_unless_rows_are_missing(self, store: Store, owner: Owner) -> None:
        draw = seeded(2)
        whole = believable(draw, "whole", 20, block=5)
        torn = believable(draw, "torn", 20, block=5)
        torn.rows.remove(next(row for row in torn.rows if row.before != row.after))
        sample.add_organization(owner, "org_a")
        plant(owner, [whole, torn])
        found = measured(store)
        assert (found["unbalanced"], found["incomplete"], found["comparable"]) == (1, 1, 1)

    def test_with_weighting_off_nothing_is_compared_but_the_block_counts(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        plant(owner, [believable(seeded(3), "off", 20, block=8, weighting=False)])
        found = measured(store)
        assert (found["comparable"], found["unweighted"], found["top_k"]) == (0, 1, 0)
        assert (found["injected"], found["block_rows"]) == (8, 20)

    def test_the_window_before_stands_beside_it(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        draw = seeded(4)
        plant(owner, [believable(draw, str(days), 5, block=2, days_ago=days) for days in (0, 6, 7, 13, 14)])
        answer = store.ask(Measures(Selection(WINDOW)))
        inside = answer["day"] >= WINDOW.since
        assert (answer[inside]["retrievals"].sum(), answer[~inside]["retrievals"].sum()) == (2, 2)


def test_nothing_of_another_organization_is_counted(store: Store, owner: Owner) -> None:
    draw = seeded(5)
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        plant(owner, [believable(draw, "r", 8, block=3, org=org)])
    assert measured(store)["retrievals"] == 1


def test_scores_as_extreme_as_a_double_holds_raise_nothing(store: Store, owner: Owner) -> None:
    rows = [
        Row(uuid5(sample.NAMESPACE, str(i)), score, score, score, i, i, injected=True, boost=score)
        for i, score in enumerate((1e308, -1e308, 5e-324, 0.0, -1.0))
    ]
    sample.add_organization(owner, "org_a")
    plant(owner, [Retrieval("extreme", rows)])
    found = measured(store)
    assert (found["comparable"], found["dominance_known"]) == (1, 1)
    assert 0 <= found["dominance"] <= 1

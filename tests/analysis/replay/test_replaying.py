"""Replays of a demo store against the log itself and against a slow replay of each retrieval by the library."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import psycopg
import pytest

from analysis.replay.fragile import distances
from analysis.replay.measures import overlap_of_ranks, tau_of_ranks
from analysis.replay.replaying import Replayer, replay
from analysis.replay.sensitivity import BOOSTS, LAMBDAS, sensitivity_map
from analysis.replay.settings import AS_LOGGED, WhatIf, what_if
from analysis.replay.tasks import map_from_json, replay_from_json
from queries.replay.logged import id_text
from ranking import INTENDED, LIVE, flip_distance, kendall_tau_b, rank_biased_overlap
from ranking.clusters import CountBy
from ranking.feedback import Feedback, Normalise
from ranking.mmr import Mmr
from ranking.pipeline_text import PipelineError, from_text
from ranking.relevance import Relevance
from tests.analysis.conftest import scope_of
from tests.analysis.replay.oracle import Oracle

if TYPE_CHECKING:
    from analysis.replay.pool import Group
    from queries.engine import Store

ORGS = ("org_tidewater", "org_quillworks", "org_lumenfield", "org_alder")
EVERY = 9  # of the retrievals the slow way looks at
SETTINGS = {
    "as logged": AS_LOGGED,
    "weighting off": WhatIf(weighting=False),
    "weighting on": WhatIf(weighting=True),
    "spread": WhatIf(weighting=True, normalise=Normalise.MINMAX),
    "boost": WhatIf(boost=0.2),
    "boost by agents, wide": WhatIf(boost=0.1, bits=8, count_by=CountBy.AGENTS),
    "no boost": WhatIf(boost=0.0),
    "different": WhatIf(lam=0.78),
    "different and boosted": WhatIf(lam=0.5, boost=0.3, duplicate=0.9, budget=300),
    "four of ten": WhatIf(weighting=True, boost=0.0, lam=0.9, head=10, chosen=4),
    "ten, spread": WhatIf(weighting=True, boost=0.0, normalise=Normalise.MINMAX, head=10),
    "no tokens": WhatIf(budget=0),
}


@pytest.fixture(scope="module")
def replayers(demo: Store) -> dict[str, Replayer]:
    return {org: Replayer(demo, scope_of(org)) for org in ORGS}


@pytest.fixture(scope="module")
def oracle(demo_address: str) -> object:
    return cache(lambda org: Oracle(demo_address, org))


def ordered(group: Group, order: np.ndarray, row: int) -> tuple[str, ...]:
    return tuple(id_text(bytes(id_)) for id_ in group.id[row][order[row]])


def test_as_logged_is_the_log_to_the_last_rank(replayers: dict[str, Replayer], demo_address: str) -> None:
    for org, replayer in replayers.items():
        with psycopg.connect(demo_address) as connection:
            rows = connection.execute(
                "select retrieval_id::text, observation_id::text, weighted_rank, injected from retrieval_ab_logs "
                "where org_id = %s",
                (org,),
            ).fetchall()
            lost = connection.execute(
                "select count(distinct retrieval_id) from demo.lost_rows where org_id = %s", (org,)
            ).fetchone()
        logged = {(retrieval, id_): (rank, injected) for retrieval, id_, rank, injected in rows}
        seen = 0
        for found in replayer.under(AS_LOGGED):
            ranks, inside = found.order.ranks, found.order.inside
            for row, column in np.ndindex(found.group.id.shape):
                key = (replayer.pool.retrieval[found.group.retrieval[row]], id_text(bytes(found.group.id[row, column])))
                assert logged[key] == (ranks[row, column], inside[row, column])
                seen += 1
        result = replayer.replay(AS_LOGGED)
        assert (result.changed, result.entered, result.left, result.rbo, result.tau) == (0, 0, 0, 1.0, 1.0)
        # nothing was left out because it did not come out as logged: only what the demo's log lost on purpose
        assert lost is not None
        assert (lost[0] > 0) is (org == "org_lumenfield")
        assert result.coverage.reasons == ((("incomplete", lost[0]),) if lost[0] else ())
        assert result.coverage.logged == len({retrieval for retrieval, _ in logged})
        assert seen == sum(group.id.size for group in replayer.pool.groups) > 500


@pytest.mark.parametrize("name", SETTINGS)
def test_each_retrieval_comes_out_as_the_library_ranks_it(
    name: str, replayers: dict[str, Replayer], oracle: object
) -> None:
    settings = SETTINGS[name]
    compared = 0
    for org in ORGS[:2]:
        replayer, slow = replayers[org], oracle(org)  # type: ignore[operator]
        for found in replayer.under(settings):
            for row in range(0, len(found.group.id), EVERY):
                expected = slow.replay(replayer.pool.retrieval[found.group.retrieval[row]], settings)
                order = ordered(found.group, found.order.order, row)
                names = expected.alike if settings.diversifies else {id_: id_ for id_ in order}
                assert [names[id_] for id_ in order] == [names[id_] for id_ in expected.order]
                block = order[: found.order.block[row]]
                assert sorted(names[id_] for id_ in block) == sorted(names[id_] for id_ in expected.block)
                compared += 1
    assert compared > 20


@pytest.mark.parametrize("name", ["weighting off", "boost by agents, wide"])
def test_the_figures_are_those_of_the_slow_way(name: str, replayers: dict[str, Replayer], oracle: object) -> None:
    settings, org = SETTINGS[name], "org_quillworks"
    result, slow = replayers[org].replay(settings), oracle(org)  # type: ignore[operator]
    each = {retrieval: slow.replay(retrieval, settings) for retrieval in slow.rows}
    overlap = {name: rank_biased_overlap(one.logged, one.order) for name, one in each.items()}
    taus = [
        kendall_tau_b([one.logged.index(id_) for id_ in one.logged], [one.order.index(id_) for id_ in one.logged])
        for one in each.values()
    ]
    moved = [one for one in each.values() if one.logged != one.order or one.logged_block != one.block]
    assert result.coverage.replayed == len(each)
    assert result.changed == len(moved)
    assert result.top_changed == sum(set(one.logged[:5]) != set(one.order[:5]) for one in each.values())
    assert result.rbo == pytest.approx(np.mean([value for value in overlap.values() if value is not None]))
    assert result.tau == pytest.approx(np.mean([tau for tau in taus if tau is not None]))
    assert result.entered == sum(len(one.block - one.logged_block) for one in each.values())
    assert result.left == sum(len(one.logged_block - one.block) for one in each.values())
    assert result.flipped == sum(one.block != one.logged_block for one in each.values())
    lowest = sorted(value for value in overlap.values() if value is not None)
    assert [one.rbo for one in result.worst] == pytest.approx(lowest[: len(result.worst)])
    for flip in result.flips:
        one = each[flip.retrieval]
        assert (flip.observation in one.block) == flip.entered == (flip.observation not in one.logged_block)
        assert (one.logged.index(flip.observation), one.order.index(flip.observation)) == (flip.before, flip.after)
    gains = {mover.observation: (mover.entered, mover.left) for mover in result.movers}
    for id_, (entered, left) in gains.items():
        assert entered == sum(id_ in one.block - one.logged_block for one in each.values())
        assert left == sum(id_ in one.logged_block - one.block for one in each.values())


def test_what_the_log_lost_is_left_out_and_told(replayers: dict[str, Replayer], demo_address: str) -> None:
    with psycopg.connect(demo_address) as connection:
        lost = connection.execute("select count(distinct retrieval_id) from demo.lost_rows").fetchone()
    coverage = replayers["org_lumenfield"].replay(AS_LOGGED).coverage
    assert lost is not None
    assert coverage.reasons == (("incomplete", lost[0]),)
    assert coverage.logged == coverage.replayed + lost[0]
    assert coverage.share == coverage.replayed / coverage.logged


def test_a_flip_distance_is_the_librarys(replayers: dict[str, Replayer], oracle: object) -> None:
    org, settings = "org_quillworks", WhatIf(weighting=True)
    slow, checked = oracle(org), 0  # type: ignore[operator]
    for found in replayers[org].under(settings):
        rows, upper, lower, change = distances(found)
        for place in range(0, len(rows), 23):
            row = int(rows[place])
            one = slow.replay(replayers[org].pool.retrieval[found.group.retrieval[row]], settings)
            pair = [id_text(bytes(found.group.id[row, side[place]])) for side in (upper, lower)]
            if change[place] < 1e-9:
                continue
            nearest = flip_distance(one.candidates, (Relevance(), Feedback()), *pair)[0]
            assert abs(nearest.change) == pytest.approx(change[place], abs=1e-9)
            assert pair[0] in one.block
            assert pair[1] not in one.block
            checked += 1
    assert checked > 3


def test_no_distance_is_told_where_no_weight_decides(replayers: dict[str, Replayer]) -> None:
    replayer = replayers["org_quillworks"]
    assert replayer.replay(WhatIf(weighting=False)).fragile is None
    assert replayer.replay(WhatIf(lam=0.78)).fragile is None
    held = replayer.replay(WhatIf(weighting=True)).fragile
    assert held is not None
    assert all(one.change < held.epsilon for one in held.nearest)
    assert 0 < held.fragile <= held.measured <= replayer.pool.logged


def test_a_map_is_made_of_replays(demo: Store, replayers: dict[str, Replayer]) -> None:
    scope, steps = scope_of("org_alder"), []
    found = sensitivity_map(demo, scope, WhatIf(weighting=True), lambda *step: steps.append(step))
    assert [(cell.lam, cell.boost) for cell in found.cells] == [(lam, boost) for boost in BOOSTS for lam in LAMBDAS]
    for cell in found.cells[::7]:
        alone = replayers["org_alder"].replay(WhatIf(weighting=True, lam=cell.lam, boost=cell.boost))
        count = alone.coverage.replayed
        assert cell.flips == pytest.approx(100 * (alone.entered + alone.left) / count)
        assert cell.kept == pytest.approx(1 - alone.top_changed / count)
    assert steps[0] == (0, 25, "reading the log")
    assert [done for done, _, _ in steps[1:]] == list(range(25))
    assert map_from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_replay_survives_its_journey(demo: Store) -> None:
    found = replay(demo, scope_of("org_lumenfield"), WhatIf(boost=0.2, weighting=True))
    assert replay_from_json(json.loads(json.dumps(found.to_json()))) == found


class TestMeasures:
    def test_agreement_of_permutations_is_the_librarys(self) -> None:
        random = np.random.default_rng(3)
        for size in (1, 2, 5, 20):
            before = np.array([random.permutation(size) for _ in range(12)])
            after = np.array([random.permutation(size) for _ in range(12)])
            for row in range(12):
                lists = [np.argsort(ranks[row]).tolist() for ranks in (before, after)]
                assert overlap_of_ranks(before, after)[row] == pytest.approx(rank_biased_overlap(*lists))
                tau = kendall_tau_b(before[row], after[row])
                found = tau_of_ranks(before, after)[row]
                assert np.isnan(found) if tau is None else found == pytest.approx(tau)


class TestSettings:
    def test_presets_keep_the_budgets_that_were_logged(self) -> None:
        assert what_if(LIVE) == WhatIf(weighting=True, boost=0.0, head=20)
        assert what_if(INTENDED) == WhatIf(weighting=True, boost=0.1, head=20)

    def test_a_pipeline_means_the_numbers_it_names(self) -> None:
        text = "Relevance~~Corroboration~scale~0.3~~Mmr~k~7~lam~0.5~duplicate_threshold~0.9~~TokenBudget~tokens~300"
        expected = WhatIf(weighting=False, boost=0.3, lam=0.5, duplicate=0.9, chosen=7, budget=300)
        assert what_if(from_text(text)) == expected

    def test_no_pipeline_is_as_logged(self) -> None:
        assert what_if(None).as_logged

    @pytest.mark.parametrize(
        "text", ["", "Relevance~~Composite", "Feedback~~Relevance", "Head", "Relevance~~Relevance"]
    )
    def test_what_the_log_cannot_replay_is_refused(self, text: str) -> None:
        with pytest.raises(PipelineError, match="replay: expected some of Relevance, Head"):
            what_if(from_text(text))

    @pytest.mark.parametrize(
        "wrong", [{"lam": 1.5}, {"boost": -1.0}, {"bits": 65}, {"budget": -1}, {"duplicate": float("nan")}]
    )
    def test_a_value_no_stage_takes_is_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ValueError, match="expected"):
            WhatIf(**wrong)  # type: ignore[arg-type]

    def test_settings_travel(self) -> None:
        one = WhatIf(weighting=False, boost=0.2, lam=0.5, count_by=CountBy.AGENTS, normalise=Normalise.MINMAX)
        assert WhatIf.from_json(json.loads(json.dumps(one.to_json()))) == one
        assert one.stages(weighting=True, budget=400)[3:5] == (Feedback(False, Normalise.MINMAX), Mmr(1000, 0.5, 0.94))  # noqa: FBT003 - the documents' own argument

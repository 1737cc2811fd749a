"""Several pipelines on one question: figures against the library and by hand; a failure is told, not drawn as zero."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from analysis.inspector.compared import DEPTH, PipelineRun, compare_in_worker, compared, run_pipelines, runs_from_json
from queries.scope import Reach, Scope
from ranking import Corroboration, Head, to_text
from ranking.presets import INTENDED, LIVE, MEMINI, MEMSENSE
from ranking.reflection import Reflection
from ranking.relevance import Relevance
from retrieval.retrieve import AgentSession, Memory, recollect, retrieve
from tests.retrieval.planted import EMBEDDER, NOW, QUESTION, TWINS, plant

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from queries.engine import Store
    from retrieval.pipelines import Pipeline
    from retrieval.retrieve import Recollection

    Owner = psycopg.Connection[Any]

ACME = AgentSession("acme")


def run(*ids: str, block: int = 2, **fields: Any) -> PipelineRun:  # noqa: ANN401 - of any field
    return PipelineRun("LIVE", ids, ids[:block], texts=tuple(f"text {id_}" for id_ in ids), **fields)


class TestFigures:
    def test_two_lists_by_hand(self) -> None:
        result = compared([run("a", "b", "c"), run("b", "a", "d")], k=2)
        (pair,) = result.pairs
        # best two of each: {a, b} and {b, a}
        assert (pair.overlap, pair.jaccard) == (2 / 2, 2 / 2)
        # depths 1, 2, 3 share 0, 2, 2 of 1, 2, 3: (1-p)/p · (0·p + 1·p² + ⅔·p³) + ⅔·p³ with p = 0.9
        assert pair.rbo == pytest.approx(0.1 / 0.9 * (0.81 + 2 / 3 * 0.729) + 2 / 3 * 0.729)
        # both hold a and b, in opposite order
        assert (pair.tau, pair.in_both) == (-1.0, 2)
        assert (pair.entered, pair.left) == ((), ())

    def test_k_decides_what_overlap_and_jaccard_look_at(self) -> None:
        lists = [run("a", "b", "c"), run("c", "d", "a")]
        by_k = [compared(lists, k).pairs[0] for k in (1, 2, 3)]
        assert [pair.overlap for pair in by_k] == [0 / 1, 0 / 2, 2 / 3]
        assert [(pair.shared, pair.shorter) for pair in by_k] == [(0, 1), (0, 2), (2, 3)]
        assert [pair.jaccard for pair in by_k] == [0 / 2, 0 / 4, 2 / 4]

    def test_overlap_is_of_the_shorter_list_and_in_both_counts_beyond_the_best(self) -> None:
        (pair,) = compared([run("a", "b", "c", "d", "e", "f"), run("b", "f", "x", "a")], k=5).pairs
        # of b, f, x, a the first five of the other hold a and b; f is its sixth
        assert (pair.shared, pair.shorter, pair.overlap, pair.in_both) == (2, 4, 2 / 4, 3)

    def test_what_enters_and_leaves_the_block(self) -> None:
        (pair,) = compared([run("a", "b", "c"), run("d", "a", "e")], k=3).pairs
        assert (pair.entered, pair.left) == (("d",), ("b",))

    def test_every_pair_of_four(self) -> None:
        result = compared([run("a"), run("b"), run("c"), run("d")], k=1)
        assert [(p.first, p.second) for p in result.pairs] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        assert [p.second for p in result.against_present()] == [1, 2, 3]

    def test_a_failed_list_is_compared_with_nothing(self) -> None:
        result = compared([run("a"), run(failed="no store"), run("a")], k=1)
        assert [(p.first, p.second) for p in result.pairs] == [(0, 2)]

    def test_an_empty_list_has_no_figures_rather_than_zeros(self) -> None:
        (pair,) = compared([run("a"), run()], k=1).pairs
        assert (pair.overlap, pair.rbo, pair.tau, pair.shorter) == (None, None, None, 0)
        assert pair.left == ("a",)

    def test_a_rank_is_from_one_and_missing_where_it_is(self) -> None:
        assert [run("a", "b").rank(id_) for id_ in ("a", "b", "c")] == [1, 2, None]


def asking(memory: Memory, session: AgentSession = ACME) -> Callable[[Pipeline], Recollection]:
    return lambda stages: recollect(memory, session, QUESTION, stages, NOW)


class TestRuns:
    def test_each_list_is_the_librarys_own(self, store: Store, owner: Owner) -> None:
        plant(owner)
        memory = Memory(store, EMBEDDER)
        pipelines = (LIVE, INTENDED, MEMSENSE, MEMINI)
        told: list[tuple[int, int]] = []
        runs = run_pipelines(memory, pipelines, asking(memory), lambda done, total, _words: told.append((done, total)))
        assert [run.pipeline for run in runs] == ["LIVE", "INTENDED", "MEMSENSE", "MEMINI"]
        for found, stages in zip(runs, pipelines, strict=True):
            alone = retrieve(memory, ACME, QUESTION, stages, NOW)
            assert found.ids == tuple(map(str, alone.ranking.ids(DEPTH)))
            assert found.block == tuple(map(str, alone.injected))
            assert found.degraded == alone.degraded
            assert found.failed is None
        assert runs[0].texts[0].startswith("The null pointer in the auth middleware")
        assert told == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]

    def test_one_that_cannot_be_run_says_so_and_the_others_go_on(self, store: Store, owner: Owner) -> None:
        plant(owner)
        owner.execute("update observations set kind = 'reflection', reflection_depth = 1")
        beyond = (Relevance(), Reflection(boost=1e308), Reflection(boost=1e308))
        with np.errstate(over="ignore"):
            memory = Memory(store, EMBEDDER)
            runs = run_pipelines(memory, (beyond, LIVE), asking(memory))
        assert runs[0].failed is not None
        assert runs[0].failed.startswith("this pipeline cannot be run: Reflection(")
        assert runs[0].failed.endswith("expected finite scores, found inf")
        assert (runs[0].ids, runs[0].pipeline) == ((), to_text(beyond))
        assert runs[1].failed is None
        assert len(runs[1].ids) == 5

    def test_a_dead_store_is_a_failure_and_no_empty_list(self, store: Store, owner: Owner) -> None:
        plant(owner)
        owner.execute("revoke all on observations from dash_read")
        memory = Memory(store, EMBEDDER)
        (found,) = run_pipelines(memory, (LIVE,), asking(memory))
        assert found.failed is not None
        assert found.failed.startswith("the memory could not be looked up")
        assert found.ids == ()


class TestInTheWorker:
    def test_the_same_runs_come_through_json(self, store: Store, owner: Owner) -> None:
        plant(owner)
        memory = Memory(store, EMBEDDER)
        params = {
            "query": QUESTION, "session": None, "project": None, "work_type": "bug_fix",
            "pipelines": [to_text(LIVE), to_text(MEMINI)], "at": NOW.isoformat(), "bits": None,
        }  # fmt: skip
        scope = Scope.of_days(Reach.of(frozenset({"acme"})), date(2026, 3, 1), date(2026, 3, 1), "acme")
        sent = json.loads(json.dumps(compare_in_worker(memory, scope, params, lambda *_: None)))
        session = AgentSession("acme", work_type="bug_fix")
        here = run_pipelines(memory, (LIVE, MEMINI), asking(memory, session))
        assert runs_from_json(sent) == here
        assert [asdict(run) for run in runs_from_json(sent)] == [asdict(run) for run in here]

    def test_voices_are_counted_within_the_bits_it_is_sent(self, store: Store, owner: Owner) -> None:
        """Two that say nearly the same are 16 bits apart at most: only then does a large boost put both first."""
        plant(owner, texts=TWINS)
        boosted = (Relevance(), Head(20), Corroboration(scale=1.0))
        params = {
            "query": QUESTION, "session": None, "project": None, "work_type": None, "pipelines": [to_text(boosted)],
            "at": NOW.isoformat(),
        }  # fmt: skip
        scope = Scope.of_days(Reach.of(frozenset({"acme"})), date(2026, 3, 1), date(2026, 3, 1), "acme")
        first = []
        for bits in (None, 16):
            sent = compare_in_worker(Memory(store, EMBEDDER), scope, {**params, "bits": bits}, lambda *_: None)
            first.append(set(sent[0]["texts"][:2]))
        assert first == [{TWINS[2], first[0].intersection(TWINS[:2]).pop()}, set(TWINS[:2])]

    def test_it_needs_one_organization(self, store: Store) -> None:
        scope = Scope.of_days(Reach.of(frozenset({"acme"})), date(2026, 3, 1), date(2026, 3, 1))
        with pytest.raises(ValueError, match="expected one organization"):
            compare_in_worker(Memory(store), scope, {}, lambda *_: None)

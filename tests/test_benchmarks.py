from __future__ import annotations

import json
import re
import sys
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import benchmarks.__main__ as command
from benchmarks import _beside_worker, _fleet, load, soak
from benchmarks._asked import listening
from benchmarks._bars import held, missed, over, under
from benchmarks.fleet import LARGEST, Opened, judged_page
from benchmarks.retrieval import LIMITS, judged, measured, percentiles
from queries.engine import AGGREGATE
from queries.flags.history import FlagHistory
from queries.overview import Overview
from queries.scope import EVERYTHING, Scope
from tests.app_server import ROOT
from tests.crowd import Crowd

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

    from queries.engine import Store

    Answering = Callable[..., int]


def test_the_named_benchmarks_are_there() -> None:
    assert {"mmr", "ranking", "load", "replay", "drift"} <= set(command.names())
    assert not [name for name in command.names() if name.startswith("_")]


def test_every_benchmark_is_run_by_make_and_named_in_its_manual() -> None:
    manual = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    usage = re.findall(r"^python -m benchmarks (\S+) \[--quick\]$", manual, re.MULTILINE)
    run = re.findall(r"^BENCHMARKS := (.+)$", recipe, re.MULTILINE)
    assert [sorted(names.split("|")) for names in usage] == [command.names()]
    assert [sorted(names.split()) for names in run] == [command.names()]
    assert "for name in $(BENCHMARKS)" in recipe


def test_a_table_keeps_columns_in_the_order_first_seen() -> None:
    rows = [{"size": 10, "ms": 1.23456}, {"size": 1_000, "ratio": 12345.6}]
    assert command.as_text(rows).splitlines() == [
        "size  ms     ratio ",
        "10    1.235        ",
        "1000         12,346",
    ]


class TestExit:
    @pytest.fixture
    def answering(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Answering:
        """Run the command over a benchmark that gives this answer; results go elsewhere."""

        def run(answer: Any, *arguments: str) -> int:  # noqa: ANN401 - whatever a benchmark may give
            monkeypatch.setitem(sys.modules, "benchmarks.made_up", SimpleNamespace(run=lambda _quick: answer))
            return command.main(["made_up", *arguments])

        monkeypatch.setattr(command, "names", lambda: ["made_up"])
        monkeypatch.setattr(command, "FOLDER", tmp_path)
        return run

    @pytest.mark.parametrize(
        "answer",
        [[{"ms": 1.0}], {"rows": []}, {"rows": [{"ms": 1.0, "met": True}], "met": True}, {"rows": [{"met": None}]}],
    )
    def test_without_a_missed_bar_it_is_0(
        self, answering: Answering, capsys: pytest.CaptureFixture[str], answer: object
    ) -> None:
        assert answering(answer) == 0
        assert capsys.readouterr().err == ""

    @pytest.mark.parametrize("quick", [(), ("--quick",)])
    def test_a_missed_bar_is_named_and_ends_with_1(
        self, answering: Answering, capsys: pytest.CaptureFixture[str], tmp_path: Path, quick: tuple[str, ...]
    ) -> None:
        rows = [
            {"observations": 10, "organization": "small (4)", "ms": 1.5, **held(over({"ratio": 4.44}, {"ratio": 4}))},
            {"observations": 10, "organization": "large (6)", "ms": 1.5, **held([])},
        ]
        answer = {"rows": rows, "met": False, "worker": {"met": False}}
        assert answering(answer, *quick) == 1
        found = capsys.readouterr()
        assert found.err.splitlines() == [
            "missed: 10 observations, small (4): ratio 4.44, limit 4",
            "missed: worker: not met",
        ]
        assert json.loads(found.out.splitlines()[-1])["rows"][0]["met"] is False
        written = tmp_path / "results" / ("made_up.quick.json" if quick else "made_up.json")
        assert json.loads(written.read_text())["met"] is False


class TestBars:
    def test_a_bar_is_met_at_its_limit_and_not_beyond(self) -> None:
        assert over({"a": 4.0, "b": 5.0}, {"a": 4.0, "b": 4.0, "not measured": 1.0}) == ["b 5, limit 4"]
        assert under({"a": 4.0, "b": 3.0}, {"a": 4.0, "b": 4.0}) == ["b 3, at least 4"]

    def test_what_is_no_number_is_missed(self) -> None:
        nan = float("nan")
        assert over({"a": nan}, {"a": 1.0})
        assert under({"a": nan}, {"a": 1.0})

    def test_a_whole_that_only_sums_up_is_not_told_again(self) -> None:
        inner = {"met": False, "missed": "x 2, limit 1"}
        assert list(missed({"met": False, "part": inner})) == ["part: x 2, limit 1"]
        assert list(missed({"met": False, "missed": "y", "part": inner})) == ["part: x 2, limit 1", "y"]


class TestRetrieval:
    def test_the_fastest_round_of_each_question_and_every_time_there_was(self) -> None:
        times = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 90.0]])
        p50, p95, raw = percentiles(times)
        assert p50 == 2.0
        assert p95 == pytest.approx(np.percentile([1.0, 2.0, 3.0], 95))
        assert raw == pytest.approx(np.percentile([1, 2, 3, 1, 2, 90], 95))

    def test_every_round_is_kept(self) -> None:
        waits = iter([0.03, 0.0, 0.0, 0.03])
        nowhere = np.zeros(1, np.float32)
        spent = measured({"work": lambda _: time.sleep(next(waits))}, [("a", nowhere), ("b", nowhere)], 2)
        assert (spent["work"] > 25).tolist() == [[True, False], [False, True]]

    @pytest.mark.parametrize("org", ["small", "middle", "large"])
    def test_bars_of_time_are_not_asked_of_the_middle_and_recall_is(self, org: str) -> None:
        slow = {name: most + 1 for name, most in LIMITS.items()}
        found = judged(org, slow, recall=0.96)
        assert found["met"] is (org == "middle")
        told = found["over bars not asked for" if org == "middle" else "missed"]
        assert [name for name in LIMITS if f"{name} " in str(told)] == list(LIMITS)
        assert judged(org, dict.fromkeys(LIMITS, 0.0), recall=0.94)["met"] is False


class TestLoad:
    def row(self, **more: object) -> dict[str, object]:
        in_time = {"p95 ms": 1000.0, "p95 / p50 of one": 6.0, "faults": 0, "served to the end": 25}
        return {"operators": "25", "reruns": 300, **in_time, "p95 limit ms": 1000.0, "ratio limit": 6.0, **more}

    @pytest.mark.parametrize(
        ("more", "missed", "missed_by_quick"),
        [
            ({}, "", ""),
            ({"p95 ms": 1001.0}, "p95 ms 1e+03, limit 1000", ""),
            ({"p95 ms": 1001.0, "p95 limit ms": None}, "", ""),
            ({"p95 / p50 of one": 6.1}, "p95 / p50 of one 6.1, limit 6", ""),
            ({"faults": 1}, "faults 1, limit 0", "faults 1, limit 0"),
            ({"served to the end": 24}, "served to the end 24, at least 25", "served to the end 24, at least 25"),
        ],
    )
    def test_a_quick_crowd_is_held_to_faults_and_to_its_end(
        self, more: dict[str, object], missed: str, missed_by_quick: str
    ) -> None:
        for quick, expected in ((False, missed), (True, missed_by_quick)):
            assert load.judged(self.row(**more), 25, quick=quick) == {"met": not expected, "missed": expected}

    @pytest.mark.parametrize(("ratio", "finished", "met"), [(2.0, 1, True), (0.8, 0, False), (2.1, 3, False)])
    def test_beside_a_worker_that_finished_nothing_nothing_is_shown(
        self, ratio: float, finished: int, *, met: bool
    ) -> None:
        figures = {"p95 ratio": ratio, "comparisons finished meanwhile": finished}
        found = _beside_worker.judged(figures, 4, quick=False)
        assert found["met"] is met
        assert ("comparisons finished meanwhile 0, at least 1" in str(found["missed"])) == (finished == 0)
        assert _beside_worker.judged(figures, 4, quick=True)["met"] is True

    @pytest.mark.parametrize("quick", [False, True])
    def test_beside_a_worker_a_fault_and_an_operator_who_was_lost_are_told(self, *, quick: bool) -> None:
        figures = {
            "p95 ratio": 1.0,
            "comparisons finished meanwhile": 1,
            "faults alone": 1,
            "served to the end alone": 3,
        }
        found = _beside_worker.judged(figures, 4, quick=quick)
        assert found["missed"] == "faults alone 1, limit 0; served to the end alone 3, at least 4"


class TestFleet:
    def test_the_log_has_what_figures_are_about(self, store: Store, owner: psycopg.Connection[Any]) -> None:
        now = datetime.now(UTC)
        _fleet.fill(owner, 100_000, now)
        whole = Scope.of_days(EVERYTHING, now.date() - timedelta(_fleet.DAYS), now.date())
        found = store.ask(Overview(whole))
        sums = found.sum(numeric_only=True)
        assert len(found) == _fleet.ORGS
        assert sums["retrievals"] == 100_000 // _fleet.POOL
        assert found["retrievals"].max() > 5 * found["retrievals"].min() > 0
        assert 0.2 < sums["moved"] / sums["measured"] < 0.6
        assert 0 < sums["retrievals"] - sums["complete"] < 0.05 * sums["retrievals"]
        assert sums["accepted"] > sums["rework"] > 0 < sums["flips"]
        assert _fleet.turn_flags(owner, LARGEST, 100_000, now) == 2_000
        assert len(store.ask(FlagHistory(whole, size=2_000)).dropna(subset="reverted_by")) == 100

    def test_each_statement_bears_the_name_of_its_question_and_a_stopped_one_is_told(self, store: Store) -> None:
        now = datetime.now(UTC)
        with listening() as asked:
            with store.reading(EVERYTHING, AGGREGATE) as snapshot:
                asked.forget()
                snapshot.exec_driver_sql("select pg_sleep(0.02)")
            store.ask(Overview(Scope(EVERYTHING, now - timedelta(7), now)))
            assert [name for name, _ in asked.spent] == ["", "Overview"]
            assert asked.slowest[1] >= 20
            assert asked.ms == pytest.approx(sum(ms for _, ms in asked.spent))
        store.ask(Overview(Scope(EVERYTHING, now - timedelta(7), now)))
        assert len(asked.spent) == 2

    @pytest.mark.parametrize(
        ("org", "found", "met"),
        [
            ("org_14", Opened([99.0, 100.0, 900.0], ("a", 1.0), [], labelled=False), True),
            ("org_14", Opened([101.0], ("a", 1.0), [], labelled=False), False),
            ("org_14", Opened([float("nan")], ("a", 1.0), ["stopped"], labelled=False), False),
            (LARGEST, Opened([101.0], ("a", 1.0), [], labelled=False), True),
            (LARGEST, Opened([1.0], ("a", 1.0), ["stopped"], labelled=False), False),
            (None, Opened([1.0], ("a", 1.0), [], labelled=False), False),
            (None, Opened([1.0], ("a", 1.0), [], labelled=True), True),
        ],
    )
    def test_a_page_is_held_to_time_figures_and_label(self, org: str | None, found: Opened, *, met: bool) -> None:
        assert judged_page(found, 100.0, org, drawn=org is None)["met"] is met


class TestSoak:
    def looks(self, **grown: float) -> list[soak.Held]:
        """A look a second for ten minutes: steady after the first, but for what grows by so much a minute."""
        held_at_first = {"rss": 300.0, "workers": 0.0, "threads": 20, "descriptors": 50, "backends": 6}
        return [
            soak.Held(
                at, **{name: most + grown.get(name, 0) * at / 60 + (at < 60) for name, most in held_at_first.items()}
            )
            for at in range(600)
        ]

    @pytest.mark.parametrize(
        ("grown", "told"),
        [
            ({"rss": 0.9}, ""),
            ({"rss": 1.1}, "MiB a minute 1.1, limit 1"),
            ({"threads": 0.5}, "threads"),
            ({"descriptors": 0.5}, "descriptors"),
            ({"backends": 0.5}, "backends"),
            ({"workers": 9.0, "threads": -1.0}, ""),
        ],
    )
    def test_what_grows_after_the_warm_up_is_told(self, grown: dict[str, float], told: str) -> None:
        found = soak.report(Crowd([0.1], served=soak.OPERATORS), self.looks(**grown), 60)
        assert found["met"] is (not told)
        assert str(found["missed"]).startswith(told)

    def test_what_a_quick_run_grew_by_is_told_and_only_its_faults_are_judged(self) -> None:
        crowd = Crowd([0.1], served=soak.OPERATORS)
        found = soak.report(crowd, self.looks(rss=9.0), 60, quick=True)
        assert (found["met"], found["MiB a minute"]) == (True, pytest.approx(9.0))
        crowd.faults.append("no figures")
        assert soak.report(crowd, self.looks(), 60, quick=True)["met"] is False

    def test_a_fault_and_an_operator_who_was_lost_are_told(self) -> None:
        found = soak.report(Crowd([0.1], ["expected Health, found []"], soak.OPERATORS - 1), self.looks(), 60)
        assert found["missed"] == "faults 1, limit 0; served to the end 9, at least 10"

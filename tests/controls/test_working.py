"""Waiting for the worker on a page: progress, cancel, try again, and one run across reruns and sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from controls import loading, working
from jobs import worker_pool
from jobs.worker import FAILED
from jobs.worker_pool import CANCELLED
from tests.jobs.test_worker import starts, until
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

PAGE = Path(__file__).with_name("working_page.py")


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    name = cluster.create(template)
    yield cluster.plain_url("dash_read", name)
    cluster.drop(name)


@pytest.fixture
def page(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """Opens the page in a session of its own, on one pool."""
    monkeypatch.setattr(worker_pool, "REGISTRY", worker_pool.REGISTRY)
    with application(database, script=PAGE) as first:

        def opened(task: str, **params: Any) -> AppTest:  # noqa: ANN401 - JSON
            test = first if not first.query_params else first.from_file(PAGE, default_timeout=30)
            test.query_params["task"] = task
            test.query_params["params"] = json.dumps(params)
            return test.run()

        yield opened


def bars(test: AppTest) -> list[str]:
    return [element.proto.text for element in test.get("progress")]


def values(test: AppTest) -> list[Any]:
    return [json.loads(element.value)["value"] for element in test.json]


def press(test: AppTest, label: str) -> AppTest:
    return next(button for button in test.button if button.label == label).click().run()


class TestWaiting:
    def test_progress_then_the_value_and_one_run_for_all_reruns(
        self, page: Callable[..., AppTest], tmp_path: Path
    ) -> None:
        test = page("until_released", folder=str(tmp_path))
        until(lambda: starts(tmp_path))
        test.run()
        assert not test.exception
        assert values(test) == []
        assert bars(test)[0].startswith("Working, waiting · ")
        assert bars(test)[0].endswith(" s of at most 30")
        assert test.get("progress")[0].proto.value == 25  # one of four
        press(test, "Something else")
        assert bars(test)
        (tmp_path / "go").touch()
        until(lambda: values(test.run()))
        assert values(test) == ["released"]
        assert bars(test) == []
        assert [button.label for button in test.button] == ["Something else"]
        assert len(starts(tmp_path)) == 1

    def test_what_is_ready_at_once_never_shows_that_it_was_waited_for(
        self, page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(working, "AT_ONCE", 25.0)  # a busy machine is no reason to fail
        test = page("echo", n=2)
        assert [value["params"] for value in values(test)] == [{"n": 2}]
        assert bars(test) == []

    def test_the_place_in_the_queue_is_told(self, page: Callable[..., AppTest], tmp_path: Path) -> None:
        for place in range(2):
            page("until_released", folder=str(tmp_path), place=place)
        until(lambda: len(starts(tmp_path)) == 2)
        third, fourth = (page("until_released", folder=str(tmp_path), place=place) for place in (2, 3))
        assert bars(third) == ["Working: waiting for a free worker, 1 task in the queue"]
        assert bars(fourth) == ["Working: waiting, 1 task before this one"]
        (tmp_path / "go").touch()
        until(lambda: values(fourth.run()))


class TestCancelling:
    def test_it_stops_and_stays_stopped_until_asked_again(self, page: Callable[..., AppTest], tmp_path: Path) -> None:
        test = page("until_released", folder=str(tmp_path))
        until(lambda: starts(tmp_path))
        press(test.run(), "Cancel")
        assert [info.value for info in test.info] == [CANCELLED]
        assert bars(test.run()) == []
        assert [info.value for info in test.info] == [CANCELLED]
        assert len(starts(tmp_path)) == 1
        (tmp_path / "go").touch()
        press(test, "Try again")
        until(lambda: values(test.run()))
        assert len(starts(tmp_path)) == 2

    def test_for_one_operator_it_goes_on_for_the_other(self, page: Callable[..., AppTest], tmp_path: Path) -> None:
        one, other = (page("until_released", folder=str(tmp_path)) for _ in range(2))
        until(lambda: starts(tmp_path))
        other.run()
        press(one.run(), "Cancel")
        assert [info.value for info in one.info] == [CANCELLED]
        assert bars(other.run())
        (tmp_path / "go").touch()
        until(lambda: values(other.run()))
        assert len(starts(tmp_path)) == 1
        assert values(one.run()) == ["released"]


class TestFailing:
    def test_a_sentence_and_no_second_run_by_a_rerun(self, page: Callable[..., AppTest]) -> None:
        test = page("raises")
        until(lambda: test.run().info)
        assert [info.value for info in test.info] == [FAILED]
        assert not test.exception
        job = next(iter(loading.workers()._jobs.values()))
        test.run()
        assert next(iter(loading.workers()._jobs.values())) is job
        press(test, "Try again")
        assert next(iter(loading.workers()._jobs.values())) is not job

"""The application with its embedded store, as `make run` starts both: nothing is lost, and nothing stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
import requests

from tests.app_server import ROOT
from tests.browser.conftest import Visit
from tests.driver import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.app_server import AppServer

    Serve = Callable[..., AppServer]

    from playwright.sync_api import Browser


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place for the embedded store which others may enter, so that everything of it lies inside."""
    with tempfile.TemporaryDirectory(prefix="rankscope-run-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)
        yield Path(name)


def prepare(folder: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "DATABASE_URL"} | {"RANKSCOPE_DATA": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "jobs", "demo", "--if-empty", "--size", "small"],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def processes(folder: Path) -> list[str]:
    """What still runs for this store."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        command = " ".join(process.info["cmdline"] or ())
        if str(folder) in command and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(command)
    return found


def aggregators(folder: Path) -> list[psutil.Process]:
    """The aggregator that belongs to this store, if it runs."""
    command = ["-m", "jobs", "aggregate", "--every", "60", "--beside", str(folder)]
    return [p for p in psutil.process_iter(["cmdline"]) if (p.info["cmdline"] or [])[1:] == command]


def wait_until(condition: Callable[[], bool], limit: float) -> float:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < limit
        time.sleep(0.05)
    return time.monotonic() - started


def figures(server: AppServer) -> list[str]:
    with Session(server.url) as session:
        session.run()
        assert session.bodies("alert") == []
        return [element.metric.body for element in session.elements if element.WhichOneof("type") == "metric"]


@pytest.mark.long
def test_stopping_it_stops_all_of_it(folder: Path, serve: Serve) -> None:
    assert "the demo store is ready" in prepare(folder)
    server = serve(RANKSCOPE_DATA=str(folder))
    assert len(figures(server)) == 5
    assert len(aggregators(folder)) == 1
    server.stop()
    assert processes(folder) == []


@pytest.mark.long
def test_kill_9_of_the_application_loses_nothing_and_leaves_nothing(folder: Path, serve: Serve) -> None:
    prepare(folder)
    server = serve(RANKSCOPE_DATA=str(folder))
    before = figures(server)
    server.kill()
    wait_until(lambda: processes(folder) == [], limit=8)
    assert prepare(folder) == ""
    again = serve(RANKSCOPE_DATA=str(folder))
    assert figures(again) == before
    again.stop()
    assert processes(folder) == []


@pytest.mark.long
def test_the_aggregator_fills_the_store_in_silence_and_comes_back_when_killed(folder: Path, serve: Serve) -> None:
    prepare(folder)
    server = serve(RANKSCOPE_DATA=str(folder))
    said = folder / "aggregation.log"
    wait_until(lambda: said.exists() and " clusters with " in said.read_text(), limit=60)
    told = requests.get(f"{server.url}/readyz", timeout=5).json()
    assert (told["ready"], told["aggregation"]) == (True, "running")
    assert " clusters with " not in server.output()
    (first,) = aggregators(folder)
    first.kill()
    wait_until(lambda: [process.pid for process in aggregators(folder)] not in ([], [first.pid]), limit=60)
    assert "aggregation ended with code -9" in server.output()
    wait_until(lambda: "unchanged since" in said.read_text(), limit=60)
    server.stop()
    assert processes(folder) == []


@pytest.mark.long
def test_kill_9_of_the_database_is_over_by_the_next_click(folder: Path, serve: Serve) -> None:
    prepare(folder)
    server = serve(RANKSCOPE_DATA=str(folder))
    before = figures(server)
    postmaster = next(
        p
        for p in psutil.process_iter(["cmdline"])
        if (p.info["cmdline"] or [""])[0].endswith("/postgres") and str(folder) in " ".join(p.info["cmdline"])
    )
    postmaster.kill()
    wait_until(
        lambda: any("/postgres" in command for command in processes(folder)) and not postmaster.is_running(), limit=20
    )
    wait_until(lambda: requests.get(f"{server.url}/readyz", timeout=5).status_code == 200, limit=20)
    assert figures(server) == before
    server.stop()
    assert processes(folder) == []


@pytest.mark.long
def test_an_open_tab_works_again_after_kill_9_and_restart(folder: Path, browser: Browser, serve: Serve) -> None:
    """REC-7: within 15 s, without a reload."""
    prepare(folder)
    server = serve(RANKSCOPE_DATA=str(folder))
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = Visit(context).open(server.url)
    page.locator("[data-testid=stMetricValue]").first.wait_for()
    server.kill()
    again = serve(port=server.port, RANKSCOPE_DATA=str(folder))
    try:
        page.locator("[data-testid=stConnectionStatus], [data-testid=stDialog]").first.wait_for(
            state="detached", timeout=15_000
        )
        # the first click after that, in a session that the server has never seen
        page.get_by_text("7d", exact=True).click()
        page.wait_for_url("**window=7d**", timeout=15_000)
        page.get_by_text("the 7 days before").wait_for(timeout=15_000)
    finally:
        context.close()
        again.stop()

"""REC-5: the application behind a line that is slow, resets, swallows everything or trickles."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from controls.messages import MISSING
from queries.errors import NOT_ANSWERING, UNREACHABLE
from tests.app_server import AppServer
from tests.demo_server import demo_server
from tests.driver import Session
from tests.tcp_proxy import BadLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

PAGES = ("", "health", "feedback_impact", "drift_alerts", "corroboration", "feature_flags", "what_if", "observation")
WINDOWS = {"slow": "7d", "resets": "30d", "half-open": "90d", "trickle": "24h"}  # each asked for in one weather alone
PATIENCE = 10.0  # seconds that a page may take, whatever the line does


@pytest.fixture(scope="module")
def good(cluster: Cluster, template: str) -> Iterator[AppServer]:
    with demo_server(cluster, template, aggregated=True) as server:
        yield server


@pytest.fixture(scope="module")
def line(cluster: Cluster) -> Iterator[BadLine]:
    with BadLine(f"{cluster.lease._socket}/.s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture(scope="module")
def far(good: AppServer, line: BadLine) -> Iterator[AppServer]:
    """The same store behind the line; it has drawn every page once, as a server that runs has."""
    database = good.environment["DATABASE_URL"].rpartition("/")[2].partition("?")[0]
    at = f"127.0.0.1:{line.port}/{database}"
    server = AppServer(DATABASE_URL=f"postgresql://dash_read@{at}", RANKSCOPE_WRITE_URL=f"postgresql://dash_write@{at}")
    for page in PAGES:
        looked(server, page, "14d")
    yield server
    line.weather = "fair"
    server.stop()


def looked(server: AppServer, page: str, window: str) -> Session:
    with Session(server.url, query=f"org=org_tidewater&window={window}", page=page) as session:
        return session.run()


def is_under_way(session: Session) -> bool:
    return "progress" in {element.WhichOneof("type") for element in session.elements}


def figures(session: Session) -> dict[str, str]:
    """What the figures of a page say, by their label, but for one that is missing and one that a clock moves."""
    shown = [element.metric for element in session.elements if element.WhichOneof("type") == "metric"]
    return {
        metric.label: metric.body for metric in shown if metric.body != MISSING and metric.label != "Aggregation age"
    }


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "weather",
    [
        "slow",
        "resets",
        pytest.param("half-open", marks=pytest.mark.long),
        pytest.param("trickle", marks=pytest.mark.long),
    ],
)
def test_no_page_hangs_or_shows_a_wrong_figure(good: AppServer, far: AppServer, line: BadLine, weather: str) -> None:
    window = WINDOWS[weather]
    line.weather, line.harmed = weather, 0
    seen = 0
    for page in PAGES:
        session, right = looked(far, page, window), figures(looked(good, page, window))
        shown, told = figures(session), session.bodies("alert")
        assert session.bodies("exception") == []
        assert session.seconds <= PATIENCE, page
        # one that a worker computes is missing in the one or the other for a while
        assert {label: right[label] for label in shown if label in right}.items() <= shown.items(), page
        seen += len(shown)
        if not shown and right and not is_under_way(session):
            assert weather != "slow", page
            assert {UNREACHABLE, NOT_ANSWERING} & set(told), page
    assert line.harmed
    assert seen >= {"slow": 20, "resets": 5}.get(weather, 0)
    line.weather = "fair"
    for page in PAGES:
        until = time.monotonic() + 60
        while figures(looked(far, page, window)) != figures(looked(good, page, window)):
            assert time.monotonic() < until, page
            time.sleep(0.5)

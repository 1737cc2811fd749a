"""More alerts than a page holds: what it counts is of all of them, what it lists says of how many, reports have all."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift.alerts import OPEN, AlertFilter
from analysis.drift.weighing import find_alerts
from controls.drift.reports import DriftReport
from controls.drift.searching import search_now
from controls.loading import store
from tests import sample
from tests.drift_store import LOGS, PORTS, RETRIES, add_pair, window
from tests.jobs.command import ROOT
from tests.jobs.test_worker import until
from tests.pages.application import application
from tests.scopes import add_observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

PAGE = ROOT / "tests" / "controls" / "drift" / "cut_page.py"


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: psycopg.Connection[Any]) -> str:
    """Four contradictions: two about the ports of one service, whose newest statement is against both others."""
    sample.add_organization(owner, "org_a", "Acme")
    add_pair(owner, "org_a", "ports", PORTS)
    add_observation(owner, "org_a", "again", PORTS[1].replace("9090", "7070"))
    add_pair(owner, "org_a", "logs", LOGS, days=40)
    add_pair(owner, "org_a", "retries", RETRIES, days=50)
    return cluster.plain_url("dash_read", store_database)


@pytest.fixture
def page(address: str) -> Iterator[AppTest]:
    with application(address, PAGE, most="2") as test:
        yield test.run()
        store().close()


def figures(test: AppTest) -> dict[str, tuple[str, str]]:
    return {metric.label: (metric.value, metric.delta) for metric in test.metric}


def test_counts_are_of_all_and_the_list_says_of_how_many(page: AppTest) -> None:
    assert not page.exception
    every = find_alerts(store(), window("org_a"), AlertFilter(0.5)).listed
    assert len(every) == 5
    assert figures(page)["Listed"] == ("2", "of 5")
    assert (figures(page)["New"], figures(page)["Reached agents"]) == (("2", "of 2 here"), ("0", "of 2 open here"))
    strip = next(line.value for line in page.markdown if "compared" in line.value)
    assert "the 2 most severe of 5 alerts are here" in strip
    said = " ".join(line.value for line in page.caption)
    assert "2 alerts in 1 dispute, the most harmful first. Chosen among the 2 most severe of 5." in said
    listed = next(frame.value for frame in page.dataframe if "harm" in frame.value)
    whole = {one.fingerprint: one for one in every}
    for name, severity in zip(listed["fingerprint"], listed["severity"], strict=True):
        assert severity == whole[name].severity, "with the frequency that all of them give"


def test_a_report_of_all_is_searched_by_the_worker_first(page: AppTest, owner: psycopg.Connection[Any]) -> None:
    assert not page.get("download_button")
    assert any("A report holds all 5 alerts" in line.value for line in page.caption)
    page.button(key="prepare_report").click().run()
    until(lambda: page.run().get("download_button") and not page.get("progress"), limit=60)
    assert not page.exception
    assert len(page.get("download_button")) == 7
    assert owner.execute("select count(*) from observations").fetchone() == (7,)


def test_what_the_worker_searched_for_a_click_is_everything(page: AppTest) -> None:
    from controls.access import current_principal  # noqa: PLC0415 - of the page's own process

    assert page
    wanted = AlertFilter(0.5, states=frozenset(OPEN))
    report = DriftReport(current_principal(), window("org_a"), wanted, search_now(window("org_a"), 0.5))
    rows = list(csv.DictReader(io.StringIO(report.content("csv", "name").decode("utf-8-sig"), newline="")))
    expected = find_alerts(store(), window("org_a"), wanted).fingerprints
    assert tuple(row["fingerprint"] for row in rows) == expected

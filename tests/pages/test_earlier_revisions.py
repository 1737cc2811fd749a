"""A store that an earlier Rankscope migrated, served without ``migrate``: it is shown, with what to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from alembic import command
from sqlalchemy import create_engine, text

from queries.migrate import _config, targets
from tests import sample
from tests.drift_store import LOGS, PORTS, add_given, add_pair
from tests.pages.application import application, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

NEWEST = targets(create_store=False)[0]
EARLIER = [f"rankscope_{number:04d}" for number in range(1, int(NEWEST[-4:]))]


@pytest.fixture(scope="module", params=EARLIER)
def address(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """Acme with two contradictions, in a store of each revision before this one."""
    name = cluster.create()
    engine = create_engine(cluster.url("postgres", name))
    with engine.begin() as connection:
        connection.execute(text("create schema rankscope"))
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "platform@head")
        command.upgrade(config, request.param)
    engine.dispose()
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        sample.add_organization(owner, "org_a", "Acme")
        add_pair(owner, "org_a", "ports", PORTS)
        for session, pair in enumerate((add_pair(owner, "org_a", "logs", LOGS, days=20),) * 2):
            sample.add_session(owner, "org_a", f"s{session}")
            add_given(owner, "org_a", f"s{session}", list(pair))
    yield cluster.plain_url("dash_read", name)
    cluster.drop(name)


def test_alerts_are_listed_and_what_to_run_is_said(
    address: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = request.node.callspec.params["address"] < "rankscope_0005"  # which was the last that changed their tables
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", address.replace("dash_read", "dash_write"))
    with application(address, org="org_a", alert="f" * 32) as test:
        test.run()
        test.switch_page("drift_alerts.py").run()
        until(lambda: (test.run().metric or test.info) and not test.get("progress"), limit=90)
        assert not test.exception
        assert [error.value for error in test.error] == []
        assert figures(test)["Listed"] == ("2", "of 2")
        strip = next(line.value for line in test.markdown if "compared" in line.value)
        assert ("older revision and lacks" in strip, "python -m jobs migrate" in strip) == (lacking, lacking)


def figures(test: AppTest) -> dict[str, tuple[str, str]]:
    return {metric.label: (metric.value, metric.delta) for metric in test.metric}

"""What the tests of several files open a page on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.pages.application import application, until
from tests.pages.drift_page import PAGE as DRIFT_ALERTS
from tests.pages.drift_page import plant_contradictions
from tests.pages.flags_page import plant_flagged
from tests.pages.impact_page import plant_swapped
from tests.pages.inspector_page import WEIGHTS, plant_long
from tests.retrieval.planted import plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster
    from tests.pages.drift_page import Show

    Owner = psycopg.Connection[Any]


@pytest.fixture
def address(cluster: Cluster, store_database: str) -> str:
    """A store as the pages read it, with whatever the test or a fixture below plants."""
    return cluster.plain_url("dash_read", store_database)


@pytest.fixture
def _writing(cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))


@pytest.fixture
def _swapped(owner: Owner) -> None:
    plant_swapped(owner)


@pytest.fixture
def _flagged(owner: Owner) -> None:
    plant_flagged(owner)


@pytest.fixture
def _weighted_notes(owner: Owner) -> None:
    plant(owner, weights=WEIGHTS)


@pytest.fixture
def _long_notes(owner: Owner) -> None:
    plant_long(owner)


@pytest.fixture
def _contradictions(owner: Owner) -> None:
    plant_contradictions(owner)


@pytest.fixture
def drift_page(address: str) -> Iterator[Show]:
    """Drift Alerts at an address, once nothing is at work any more."""
    with application(address) as test:

        def show(**said: str) -> AppTest:
            for name, value in said.items():
                test.query_params[name] = value
            test.run()
            test.switch_page(DRIFT_ALERTS).run()
            until(lambda: (test.run().metric or test.info or test.warning) and not test.get("progress"), limit=90)
            assert not test.exception
            return test

        yield show

"""Glancing at the worker: a page goes on without a value, finds it later, and knows when none will come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jobs import worker_pool
from jobs.worker import FAILED
from tests.jobs.test_worker import until
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

PAGE = Path(__file__).with_name("glancing_page.py")


@pytest.fixture
def page(cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    monkeypatch.setattr(worker_pool, "REGISTRY", worker_pool.REGISTRY)
    with application(cluster.plain_url("dash_read", store_database), script=PAGE) as test:
        yield test


def told(test: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(test.run().json[0].value)
    return found


def test_a_page_goes_on_and_finds_the_value_or_the_failure_later(page: AppTest) -> None:
    page.query_params["task"], page.query_params["params"] = "echo", json.dumps({"said": "x"})
    first = told(page)
    assert first["failure"] is None
    until(lambda: told(page)["value"] is not None, limit=30)
    page.query_params["task"] = "raises"
    until(lambda: told(page)["failure"] is not None, limit=30)
    assert told(page) == {"value": None, "failure": FAILED}
    assert not page.exception

"""Drift Alerts as a test opens and reads it, and the contradictions behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import find_alerts
from tests import sample
from tests.drift_store import LOGS, PORTS, RETRIES, UNRELATED, add_given, add_pair, window
from tests.scopes import add_observation

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg
    from streamlit.testing.v1 import AppTest

    from analysis.drift.alerts import Listed
    from queries.engine import Store

    Owner = psycopg.Connection[Any]
    Show = Callable[..., AppTest]

PAGE = "drift_alerts.py"


def plant_contradictions(owner: Owner) -> None:
    """Acme with three contradictions, of which agents were given one; Birch with none."""
    sample.add_organization(owner, "org_a", "Acme")
    sample.add_organization(owner, "org_b", "Birch")
    sample.add_session(owner, "org_b", "s")
    add_observation(owner, "org_b", "alone", UNRELATED)
    add_pair(owner, "org_a", "ports", PORTS)
    add_pair(owner, "org_a", "logs", LOGS, days=40)
    retries = add_pair(owner, "org_a", "retries", RETRIES, days=50)
    for session in range(8):
        sample.add_session(owner, "org_a", f"s{session}")
        add_given(owner, "org_a", f"s{session}", list(retries))


def worst(store: Store) -> Listed:
    return find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0]


def figures(test: AppTest) -> dict[str, tuple[str, str]]:
    return {metric.label: (metric.value, metric.delta) for metric in test.metric}


def table(test: AppTest) -> Any:  # noqa: ANN401 - a frame
    return next(frame.value for frame in test.dataframe if "harm" in frame.value)


def press(test: AppTest, label: str) -> AppTest:
    next(button for button in test.button if button.label == label).click().run()
    assert not test.exception
    return test

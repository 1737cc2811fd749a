"""An opened alert names the other alerts of its dispute."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import find_alerts
from tests import sample
from tests.drift_store import window
from tests.pages.drift_page import table
from tests.scopes import add_observation

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from queries.engine import Store
    from tests.pages.drift_page import Show

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_writing", "_contradictions", "_three")
PORTS = (8080, 9090, 7070)


@pytest.fixture
def _three(owner: Owner) -> None:
    """Three statements of Birch about one port, each against both others: three alerts, one dispute."""
    for days, port in enumerate(PORTS):
        text = f"The relay gateway listens on port {port}."
        at = sample.TODAY - timedelta(days=30 - days)
        add_observation(owner, "org_b", f"relay-{port}", text, "api", agent_id=f"agent-{port}", created_at=at)


def said(test: AppTest) -> list[str]:
    return [line.value for line in test.text]


def test_others_of_the_dispute_are_named_with_their_state_and_opened(
    drift_page: Show, owner: Owner, store: Store
) -> None:
    first, second, third = find_alerts(store, window("org_b"), AlertFilter(0.5)).listed
    owner.execute(
        """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by)
           values ('org_b', %s, 'false_positive', 'me')""",
        (second.fingerprint,),
    )
    test = drift_page(org="org_b", alert=first.fingerprint)
    assert len(table(test)) == 2  # the one that was dismissed is not listed, and named all the same
    assert "2 other alerts of this dispute, below: ✕ false positive, ● new." in said(test)
    opening = {button.key for button in test.button if str(button.key).startswith("to_sibling_")}
    assert opening == {f"to_sibling_{second.fingerprint}", f"to_sibling_{third.fingerprint}"}
    test.button(f"to_sibling_{second.fingerprint}").click().run()
    assert test.query_params["alert"] == second.fingerprint
    assert "2 other alerts of this dispute, below: 2 × ● new." in said(test)


def test_an_alert_by_itself_names_none(drift_page: Show, store: Store) -> None:
    alone = find_alerts(store, window("org_a"), AlertFilter(0.5)).listed[0]
    test = drift_page(org="org_a", alert=alone.fingerprint)
    assert not [line for line in said(test) if "of this dispute" in line]
    assert not [button for button in test.button if str(button.key).startswith("to_sibling_")]

"""Go or no-go of a boost at work with which hardly anything was retrieved: what so few say decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.analysis.replay.planted_log import plant, plant_organization, text
from tests.pages.agreeing_organizations import BOOSTED
from tests.pages.application import application
from tests.pages.corroboration_page import shown, table

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster


def test_a_gate_that_six_would_fail_is_not_decided(
    cluster: Cluster, store_database: str, owner: psycopg.Connection[Any]
) -> None:
    """Each of six gives 0.9, 1.3, 1.2 with the boost and 0.9, 0.8, 0.7 without: one enters and one leaves."""
    plant_organization(owner, "org_a", text_0="the first says something else".ljust(40), text_2=text(1))
    logged = {"before": [2, 0, 1], "after": [2, 0, 1], "injected": [False, True, True], "boost": [0.0, 0.5, 0.5]}
    for number in range(6):
        plant(owner, "org_a", f"r{number}", weighting=False, **logged)
    owner.execute("update organizations set features = %s", (BOOSTED,))
    with application(cluster.plain_url("dash_read", store_database), org="org_a", show="shadow") as test:
        test.switch_page("corroboration.py").run()
        shown(test, "warning")
        (told,) = (message.value for message in test.warning)
        few, fails = "Not decided yet; too little is known of: retrievals replayed.", "(200, at most 20)."
        assert told == f"{few} On so few these gates fail: flips per 100 retrievals {fails}"
        assert not test.error
        gates = table(test, "gate")
        assert list(gates["holds"]) == ["— too few", "✕ fails", "✓ holds", "✓ holds", "✓ holds"]
        assert list(gates["measured"])[:2] == ["6", "200"]

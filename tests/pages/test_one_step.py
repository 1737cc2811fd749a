"""One choice is one step of the browser's history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamlit.runtime.state.query_params import QueryParams

from tests import sample
from tests.drift_store import PORTS, add_pair
from tests.pages.application import application, until

if TYPE_CHECKING:
    import psycopg
    import pytest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


def test_agents_are_chosen_in_one_step(
    cluster: Cluster, store_database: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.add_organization(owner, "org_a", "Acme")
    add_pair(owner, "org_a", "ports", PORTS)
    sent: list[dict[str, list[str]]] = []
    send = QueryParams._send_query_param_msg

    def noted(self: QueryParams) -> None:
        sent.append({name: self.get_all(name) for name in self})
        send(self)

    with application(cluster.plain_url("dash_read", store_database), org="org_a", page="1") as test:
        test.run()
        test.switch_page("drift_alerts.py").run()
        until(lambda: test.run().metric and not test.get("progress"), limit=90)
        monkeypatch.setattr(QueryParams, "_send_query_param_msg", noted)
        for chosen in (["agent-newer"], ["agent-newer", "agent-older"], []):
            sent.clear()
            test.multiselect(key="pick_agent").set_value(chosen).run()
            assert not test.exception
            assert [said.get("agent", []) for said in sent] == [chosen]
            assert test.multiselect(key="pick_agent").value == chosen

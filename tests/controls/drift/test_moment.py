"""A file and the page it is taken from weigh triage at the same moment."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift.alerts import OPEN, AlertFilter
from analysis.drift.search import search
from controls.access import Principal
from controls.drift.gathering import gather
from controls.drift.reports import DriftReport
from controls.view import shown_to
from tests import sample
from tests.drift_store import LOGS, PORTS, add_pair, window
from tests.pages.application import application

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

ANN = Principal("ann", "viewer", frozenset({"org_a"}), "local")


@pytest.mark.parametrize("seconds", [30, 90])
def test_a_snooze_that_ended_since_the_search_is_over_in_the_file_as_on_the_page(
    cluster: Cluster, store_database: str, store: Store, owner: Owner, seconds: int
) -> None:
    sample.add_organization(owner, "org_a", "Acme")
    for subject, texts in (("ports", PORTS), ("logs", LOGS)):
        add_pair(owner, "org_a", subject, texts)
    scope, wanted = window("org_a"), AlertFilter(0.5, states=frozenset(OPEN))
    searched = search(store, scope)
    owner.execute(
        """insert into rankscope.drift_triage (org_id, fingerprint, state, snoozed_until, changed_by)
           values ('org_a', %s, 'snoozed', %s, 'pia')""",
        (searched.at(0.5)[0].fingerprint, searched.as_of + timedelta(seconds=60)),
    )
    with application(cluster.plain_url("dash_read", store_database)), shown_to(ANN, scope):
        page = gather(scope, searched, wanted, searched.as_of + timedelta(seconds=seconds))
        report = DriftReport.of(page, ANN, searched)
        file = json.loads(report.content("json", "name"))
        bundles = {report.content("bundle", "name") for _ in range(2)}
        later = gather(scope, searched, wanted, page.now + timedelta(seconds=1))
        bundles.add(DriftReport.of(later, ANN, searched).content("bundle", "name"))
    assert len(page.listed) == (1 if seconds < 60 else 2)
    listed = [(one.fingerprint, one.triage.state) for one in page.listed]
    assert [(one["fingerprint"], one["triage"]["state"]) for one in file["alerts"]] == listed
    assert len(bundles) == 1  # the moment itself is no part of it

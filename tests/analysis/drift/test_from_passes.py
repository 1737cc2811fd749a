"""What the last passes found, shown as a search: the same alerts, or none at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift import from_passes
from analysis.drift.alerts import AlertFilter
from analysis.drift.from_passes import found_up_to, search_of_passes
from analysis.drift.search import STEPS, search
from analysis.drift.weighing import weigh
from jobs.aggregation import refresh
from queries.aggregation_input import AggregationScopes
from queries.scope import Reach
from tests import sample
from tests.drift_store import LOGS, PORTS, RETRIES, UNRELATED, add_given, add_pair, window
from tests.scopes import add_observation

if TYPE_CHECKING:
    import psycopg

    from analysis.drift.alerts import Listed
    from queries.engine import Store
    from queries.scope import Scope

    Owner = psycopg.Connection[Any]


@pytest.fixture
def org(owner: Owner) -> Scope:
    """Two projects, copies of a side, texts without a usable date, a weight that is no number, and retrievals."""
    sample.add_organization(owner, "org_a")
    pair = add_pair(owner, "org_a", "ports", PORTS)
    add_pair(owner, "org_a", "logs", LOGS, None, days=40)
    add_observation(owner, "org_a", "copy", PORTS[0].replace("listens", "LISTENS"), agent_id="third")
    for side, text in enumerate(RETRIES):
        add_observation(owner, "org_a", f"undated-{side}", text, created_at="infinity")
    add_observation(owner, "org_a", "odd", PORTS[1], weight="NaN")
    add_observation(owner, "org_a", "else", UNRELATED)
    add_given(owner, "org_a", "s1", list(pair))
    return window("org_a")


def aggregated(store: Store, org: str = "org_a") -> None:
    with store.reading(Reach((org,))) as snapshot:
        scopes = AggregationScopes(Reach((org,))).ask(snapshot)
    assert {refresh(store, found).outcome for found in scopes} == {"done"}


def same(listed: tuple[Listed, ...]) -> set[Listed]:
    """Alerts whatever thresholds were searched beside."""
    return {replace(one, least=0.0, most=0.0) for one in listed}


@pytest.mark.parametrize("project", [None, "api"], ids=["organization", "project"])
def test_it_is_what_a_search_at_that_threshold_finds(store: Store, org: Scope, project: str | None) -> None:
    aggregated(store)
    scope = replace(org, project=project)
    standing, searched = search_of_passes(store, scope), search(store, scope)
    assert standing is not None
    assert len(standing.at(0.5)) == (4 if project is None else 3)
    assert same(standing.at(0.5)) == same(searched.at(0.5))
    for name in ("version", "active", "considered", "set_apart", "opposed"):
        assert getattr(standing, name) == getattr(searched, name), name
    assert (standing.steps, standing.total(0.5)) == ((0.5,), searched.total(0.5))
    # to the last digit, exposure and triage included
    told = [weigh(store, scope, AlertFilter(0.5), one) for one in (standing, searched)]
    assert told[0].data_version == told[1].data_version


def test_the_highest_threshold_is_found_out_when_it_is_needed(store: Store, org: Scope) -> None:
    aggregated(store)
    standing = search_of_passes(store, org)
    assert standing is not None
    highest = {(one.fingerprint, one.least): one.most for one in search(store, org).found}
    up_to = {one.fingerprint: found_up_to(store, "org_a", one) for one in standing.found}
    assert up_to == {name: most for (name, least), most in highest.items() if least <= 0.5 <= most}
    assert len(set(up_to.values())) > 1
    assert set(up_to.values()) <= set(STEPS)


def test_nothing_stands_before_the_first_pass(store: Store, org: Scope) -> None:
    assert search_of_passes(store, org) is None


@pytest.mark.parametrize(
    "change",
    [
        "update observations set content = content || ' Now.' where agent_id = 'third'",
        "update observations set status = 'archived' where agent_id = 'third'",
        "update observations set project_id = null where agent_id = 'third'",
        "insert into rankscope.opposition_pairs values ('org_a', 'hot', 'cold', 'me')",
        "insert into projects (org_id, id, name) values ('org_a', 'new', 'New')",
        "delete from rankscope.aggregation_runs where project_id is null",
        "alter table rankscope.clusters drop column diameter cascade",
        "drop schema rankscope cascade",
    ],
)
def test_what_is_of_other_data_or_not_whole_does_not_stand(store: Store, org: Scope, owner: Owner, change: str) -> None:
    aggregated(store)
    owner.execute(change)
    assert search_of_passes(store, org) is None


def test_more_than_a_search_reads_or_a_page_holds(store: Store, org: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    aggregated(store)
    for name, most in (("LIMIT", 8), ("MOST", 3)):
        with monkeypatch.context() as patched:
            patched.setattr(from_passes, name, most)
            assert search_of_passes(store, org) is None
            patched.setattr(from_passes, name, most + 1)
            assert search_of_passes(store, org) is not None


def test_another_organizations_passes_are_nobodys_business(store: Store, org: Scope, owner: Owner) -> None:
    sample.add_organization(owner, "org_b")
    add_pair(owner, "org_b", "ports", PORTS)
    aggregated(store, "org_b")
    assert search_of_passes(store, org) is None
    assert search_of_passes(store, window("org_b")) is not None


def test_severity_is_by_whole_days_in_both(store: Store, owner: Owner) -> None:
    """One number wherever it stands: search, Observation and the worklist."""
    sample.add_organization(owner, "org_a")
    add_observation(owner, "org_a", "older", PORTS[0], created_at=sample.TODAY - timedelta(days=9))
    add_observation(owner, "org_a", "newer", PORTS[1], created_at=sample.TODAY - timedelta(days=3, hours=7))
    aggregated(store)
    kept = owner.execute("select severity, fingerprint from rankscope.contradictions").fetchall()
    (one,) = search(store, window("org_a")).at(0.5)
    assert kept == [(one.severity, one.fingerprint)]

"""HOS-6 on Corroboration and Drift Alerts: nothing, one, all the same, impossible dates, vectors that do not fit."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tests import sample
from tests.drift_store import PORTS
from tests.hostile import LARGE
from tests.pages.application import application, until
from tests.scopes import add_observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

BERLIN = ZoneInfo("Europe/Berlin")
# twice half past two on the night in which clocks went back, an hour apart
NIGHT = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN), datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1)
DATES: dict[str, tuple[object, object]] = {
    "year 1": ("0001-01-01", "0001-01-02"),
    "year 9999": ("9999-12-30", "9999-12-31 23:59:59+00"),
    "infinity": ("infinity", "infinity"),
    "minus infinity": ("-infinity", "-infinity"),
    "clock skew": (sample.TODAY + timedelta(days=2), sample.TODAY + timedelta(days=400)),
    "dst day": NIGHT,
}
OTHERS = ("nothing", "one", "equal", "equal scores", "no vectors", "mixed vectors", "large")
PAIRS = 6  # of the same severity
CASES = (*DATES, *OTHERS)


def fill(owner: Owner) -> None:
    for org in CASES:
        sample.add_organization(owner, org)
    for org, dates in DATES.items():
        for side, (text, at) in enumerate(zip(PORTS, dates, strict=True)):
            add_observation(owner, org, str(side), text, created_at=at)
    add_observation(owner, "one", "one", PORTS[0])
    for number in range(6):
        add_observation(owner, "equal", str(number), PORTS[0], agent_id="same", session_id="same")
    for org in ("no vectors", "mixed vectors"):
        for side, text in enumerate((*PORTS, PORTS[0], "word")):
            id_ = add_observation(owner, org, str(side), text)
            if org == "mixed vectors":
                vector = f"[{','.join(['0' if side == 3 else '0.5'] * (2 if side == 2 else 3))}]"
                owner.execute(
                    """insert into observation_embeddings (org_id, observation_id, route, embedding)
                       values (%s, %s, 'full', %s)""",
                    (org, id_, vector),
                )


def fill_alike(owner: Owner) -> None:
    """Alerts that nothing sets apart but their ids, and statements as large as a store may hold."""
    for number in range(PAIRS):
        for side, text in enumerate(PORTS):
            said = text.replace("dispatch", f"q{number}x{number}")
            at = sample.TODAY - timedelta(days=3 - side)
            add_observation(owner, "equal scores", f"{number}-{side}", said, created_at=at)
    for number, large in enumerate(LARGE):
        for side, text in enumerate(PORTS):
            add_observation(owner, "large", f"{number}-{side}", f"{text.replace('dispatch', f'z{number}')}\n{large}")


@pytest.fixture(scope="module")
def keeper(cluster: Cluster, template: str) -> Iterator[Owner]:
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        fill(owner)
        fill_alike(owner)
        yield owner
    cluster.drop(name)


@pytest.fixture(scope="module")
def started(cluster: Cluster, keeper: Owner) -> Iterator[AppTest]:
    with application(cluster.plain_url("dash_read", keeper.info.dbname)) as test:
        test.run()
        yield test


def shown(test: AppTest, page: str, **said: str) -> AppTest:
    """The page once it has figures or says why not, and nothing is at work."""
    test.query_params.clear()
    for name, value in said.items():
        test.query_params[name] = value
    test.switch_page(page)
    busy = {"being looked for", "being read", "measuring width"}

    def ready() -> bool:
        test.run()
        waiting = busy & {metric.delta for metric in test.metric}
        return bool(test.metric or test.info or test.warning) and not test.get("progress") and not waiting

    until(ready, limit=90)
    assert not test.exception
    return test


def figures(test: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


@pytest.mark.parametrize("page", ["drift_alerts.py", "corroboration.py"])
def test_a_store_without_organizations(cluster: Cluster, template: str, page: str) -> None:
    name = cluster.create(template)
    with application(cluster.plain_url("dash_read", name)) as test:
        test.run()
        test.switch_page(page).run()
        assert not test.exception
        assert test.info or test.warning
    cluster.drop(name)


@pytest.mark.parametrize("org", CASES)
@pytest.mark.long
def test_drift_alerts(started: AppTest, org: str) -> None:
    test = shown(started, "drift_alerts.py", org=org)
    alerts = 0 if org in {"nothing", "one", "equal"} else 1 if org in DATES else PAIRS if org == "equal scores" else 2
    assert figures(test)["Listed"] == str(alerts)
    assert bool(test.get("download_button"))
    if not alerts:
        told = [info.value for info in test.info]
        assert any("No two statements of this scope contradict each other" in each for each in told)
        return
    listed = next(frame.value for frame in test.dataframe if "harm" in frame.value)
    assert listed["severity"].between(0, 100).all()
    if org == "equal scores":
        assert listed["severity"].nunique() == listed["harm"].nunique() == 1
        assert list(listed["fingerprint"]) == sorted(listed["fingerprint"]), "of equals the first is the same each time"
    undated = org in {"infinity", "minus infinity"}
    assert listed["arose"].isna().all() == undated
    said = " ".join(line.value for line in test.caption)
    assert ("1 alert without a date: in no bar." in said) == undated
    opened = shown(test, "drift_alerts.py", org=org, alert=str(listed["fingerprint"][0]))
    assert any("Shown by" in line.value for line in opened.text)


@pytest.mark.parametrize("org", CASES)
@pytest.mark.long
def test_corroboration(started: AppTest, org: str) -> None:
    test = shown(started, "corroboration.py", org=org)
    if org == "nothing":
        assert test.info
        return
    clusters = {"equal": "1", "no vectors": "1", "mixed vectors": "1", "large": "2"}.get(org, "0")
    assert figures(test)["Clusters"] == clusters
    by_vector = shown(test, "corroboration.py", org=org, method="embedding")
    if org == "mixed vectors":
        assert figures(by_vector)["Clusters"] == "1"


@pytest.mark.parametrize("page", ["drift_alerts.py", "corroboration.py"])
def test_an_organization_that_is_deleted_while_it_is_viewed(started: AppTest, keeper: Owner, page: str) -> None:
    org = f"gone {page}"
    sample.add_organization(keeper, org)
    for side, text in enumerate(PORTS):
        add_observation(keeper, org, str(side), text)
    assert shown(started, page, org=org).metric
    for table in ("observations", "projects", "organizations"):
        column = "id" if table == "organizations" else "org_id"
        keeper.execute(f"delete from {table} where {column} = %s", (org,))  # noqa: S608 - our own names
    told = "it does not exist here, or you may not see it"
    until(lambda: any(told in line.value for line in started.run().warning), limit=60)  # as the data's version moves on
    assert not started.exception

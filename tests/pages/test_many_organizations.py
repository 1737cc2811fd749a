"""Feature flags in a store of more organizations than a page reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from queries.flags.states import Features
from queries.organizations import SHOWN
from queries.scope import EVERYTHING, Scope
from retrieval.pipelines import BOOST_ON
from tests import sample
from tests.pages.application import application
from tests.pages.test_drift_fleet import passed

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

ADD = "insert into organizations (id, name) select 'o' || n, to_char(n, '00000') from generate_series(1, %s) n"


@pytest.mark.parametrize("beyond", [0, 3])
def test_the_figures_say_of_how_many_they_are(cluster: Cluster, store_database: str, owner: Owner, beyond: int) -> None:
    owner.execute(ADD, (SHOWN + beyond,))
    with application(cluster.plain_url("dash_read", store_database)) as test:
        test.run()
        test.switch_page("feature_flags.py").run()
        assert not test.exception
        assert {metric.label: metric.value for metric in test.metric}["Organizations"] == f"{SHOWN + beyond:,}"
        said = [line.value for line in test.caption if "organizations by name" in line.value]
        assert [line.split(":")[0] for line in said] == ["The first 2,000 of 2,003 organizations by name"][
            : bool(beyond)
        ]


def test_the_same_organizations_are_read_whatever_order_they_are_stored_in(store: Store, owner: Owner) -> None:
    owner.execute(f"{ADD} order by n desc", (SHOWN + 3,))
    found = store.ask(Features(Scope.of_days(EVERYTHING, sample.TODAY.date(), sample.TODAY.date())))
    assert found["org_id"].tolist() == [f"o{number}" for number in range(1, SHOWN + 1)]


def test_the_overview_says_the_flags_of_the_organizations_that_it_lists(
    cluster: Cluster, store_database: str, owner: Owner
) -> None:
    """The most active stand on top, whatever their name: the last by name is listed first."""
    owner.execute(ADD, (SHOWN + 3,))
    last = f"o{SHOWN + 3}"
    owner.execute("update organizations set features = %s where id = %s", (f'{{"{BOOST_ON}": true}}', last))
    sample.add_retrieval(owner, last, sample.unchanged(5), name="r")
    with application(cluster.plain_url("dash_read", store_database)) as test:
        test.run()
        assert not test.exception
        (shown,) = [frame.value for frame in test.dataframe if "organization" in frame.value.columns]
    assert len(shown) == SHOWN
    assert shown["id"].iloc[0] == last
    assert shown["boost"].iloc[0].strip().startswith("on")
    assert not shown["boost"].str.contains("—").any()


def test_the_most_new_alerts_come_first_whatever_the_name(cluster: Cluster, store_database: str, owner: Owner) -> None:
    owner.execute(ADD, (SHOWN + 3,))
    last = f"o{SHOWN + 3}"
    sample.add_organization(owner, "org_a", "zz")
    passed(owner, last, [None])
    passed(owner, "o7", [None, None])
    passed(owner, "gone", [None] * 3)
    with application(cluster.plain_url("dash_read", store_database)) as test:
        test.run()
        test.switch_page("drift_alerts.py").run()
        assert not test.exception
        said = [line.value.strip() for line in test.text if not line.value.startswith("Which memories")]
        assert said[:4] == ["00007", "2 new · 2 in all", "02003", "1 new · 1 in all"]
        assert "The first 12 in this order; the sidebar's list has the first 2,000 by name." in [
            line.value for line in test.caption
        ]
        test.button("enter_1").click().run()
        assert test.query_params["org"] == last

"""The neighbours of an observation that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.pages.application import application
from tests.scopes import add_observation

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.mark.parametrize("aggregated", [True, False])
def test_no_other_text_is_told_from_no_aggregation(
    cluster: Cluster, store_database: str, owner: Owner, *, aggregated: bool
) -> None:
    sample.add_organization(owner, "org_a")
    only = add_observation(owner, "org_a", "only", "the only text of its organization")
    if aggregated:
        owner.execute(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, finished_at)
               values ('org_a', 'api', 'done', 'v', now())"""
        )
    address = {"observation": str(only), "part": "Neighbours"}
    with application(cluster.plain_url("dash_read", store_database), **address) as test:
        test.switch_page("observation.py").run()
        assert not test.exception
        said = [line.value for line in test.info]
    assert any("No other text of the organization has a SimHash" in line for line in said) == aggregated
    assert any("No aggregation has finished" in line for line in said) != aggregated

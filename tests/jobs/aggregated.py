"""Organizations to be aggregated, and the runs that the store holds of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.aggregation import aggregate
from queries.aggregation_input import AggregationScope
from queries.aggregation_runs import claimed
from tests import sample
from tests.scopes import add_alike

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]
    Aggregate = Callable[..., tuple[int, list[str]]]

RUNS = "select org_id, project_id, state from rankscope.aggregation_runs order by 1, 2, id"


def change(owner: Owner, org: str) -> None:
    """Change every text of an organization, so that all of it is hashed and stored again."""
    owner.execute("update observations set content = content || ' again' where org_id = %s", (org,))


def plant(owner: Owner, *orgs: str) -> None:
    for org in orgs:
        sample.add_organization(owner, org)
        add_alike(owner, org)


def passed(store: Store, org: str, project: str | None = "api") -> None:
    """A pass over a project, as the job makes it."""
    found = aggregate(store, AggregationScope(org, project))
    assert found is not None
    with claimed(store, found.scope) as connection:
        assert connection is not None
        found.change().apply(connection)

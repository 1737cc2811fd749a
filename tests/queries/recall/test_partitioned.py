"""A recall over observations that are stored in parts finds what it finds in one table."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pytest

from queries.recall.asking import Asked, ask
from queries.recall.estimates import estimates
from queries.recall.exact_places import exact_places
from queries.recall.legs import ROUTES
from queries.scope import Reach
from tests import sample
from tests.memories import add_memory

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

REACH = Reach(("org_a",))
# By organization, and the large one by project besides: parts of parts.
IN_PARTS = """
alter table observation_embeddings drop constraint observation_embeddings_org_id_observation_id_fkey;
alter table observations rename to stored;
create table observations (like stored including defaults including generated) partition by list (org_id);
create table of_a partition of observations for values in ('org_a') partition by list (project_id);
create table of_a_api partition of of_a for values in ('api');
create table of_a_web partition of of_a default;
create table of_b partition of observations for values in ('org_0');
create table of_others partition of observations default;
insert into observations (org_id, id, content, content_hash, project_id, created_at)
  select org_id, id, content, content_hash, project_id, created_at from stored;
alter table observations enable row level security;
create policy scope on observations to dash_read using (org_id = any (array(
  select jsonb_array_elements_text(nullif(current_setting('dash.orgs', true), '')::jsonb))));
grant select on observations to dash_read;
analyze of_a_api;
analyze of_a_web;
analyze of_b;
analyze of_others;
"""


@pytest.fixture(autouse=True)
def memory(owner: Owner) -> None:
    """Three in four are of one organization, the others of fifteen; half have *deploy* in them, a tenth *walrus*."""
    draw = np.random.default_rng(7)
    others = [sample.add_organization(owner, f"org_{number}") for number in range(30)]
    mine = sample.add_organization(owner, "org_a")
    for number in range(400):
        org = mine if number % 4 else others[number % 30]
        words = ["note", *(["deploy"] if number % 2 else []), *(["walrus"] if number % 10 == 3 else [])]
        vectors = {route: draw.normal(size=4).tolist() for route in ("full", "user")}
        at = sample.TODAY - timedelta(hours=number)
        add_memory(
            owner, org, number, " ".join(words), vectors, created_at=at, project_id="api" if number % 3 else "web"
        )
    owner.execute("analyze")


def asked(project: str | None) -> Asked:
    legs = tuple(leg for leg, route in ROUTES.items() if route in (None, "full", "user"))
    vector = np.array([1, 2, 0, 1], np.float32)
    return Asked("org_a", project, "the walrus and a deploy", vector, None, legs, 20, 30, damping=60.0)


@pytest.mark.parametrize("project", [None, "api"])
def test_a_recall_finds_the_same(store: Store, owner: Owner, project: str | None) -> None:
    whole = ask(store, REACH, asked(project)).candidates
    assert len(whole.ids) == 30
    owner.execute(IN_PARTS)
    parts = ask(store, REACH, asked(project)).candidates
    assert list(parts.ids) == list(whole.ids)
    assert parts["leg_ranks"].tolist() == whole["leg_ranks"].tolist()


@pytest.mark.parametrize("project", [None, "api", "nowhere"])
def test_the_planner_is_asked_about_all_parts_together(store: Store, owner: Owner, project: str | None) -> None:
    owner.execute(IN_PARTS)
    with store.reading(REACH) as connection:
        found = estimates(connection, "org_a", project, "the walrus and a deploy")
    assert found.stored == pytest.approx(400, rel=0.01)
    assert found.organization == pytest.approx(0.75, rel=0.3)
    assert found.project == pytest.approx({None: 0.75, "api": 0.5, "nowhere": 0.0}[project], rel=0.3, abs=0.02)
    assert [term for term, _ in found.terms] == ["walrus", "deploy"]
    assert [share for _, share in found.terms] == [pytest.approx(0.1, rel=0.5), pytest.approx(0.5, rel=0.3)]


def test_why_not_finds_a_place_too(store: Store, owner: Owner) -> None:
    owner.execute(IN_PARTS)
    found = exact_places(store, REACH, asked(None), UUID(int=3))
    assert found is not None
    assert found.content == "note deploy walrus"

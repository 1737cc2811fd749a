"""The newest observations of a scope against a sort of the raw table, and what a store has to do for them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from queries.moments import BEGIN, END
from queries.observation.latest import LatestObservations
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

SHOWN = 5
ORGS = ("org_a", "org_b", "org_c")


def fill(owner: Owner, each: int = 40) -> None:
    """Observations of three organizations at many moments, some archived, some of another project, one of no moment."""
    for org in ORGS:
        sample.add_organization(owner, org)
        owner.execute(
            """insert into observations (org_id, id, project_id, status, content, content_hash, created_at)
               select %(org)s, md5(%(org)s || n)::uuid, case when n %% 3 = 0 then 'web' else 'api' end,
                      case when n %% 4 = 0 then 'archived' else 'active' end, 'text ' || n, n,
                      %(now)s - make_interval(hours => (n * 37 + ascii(right(%(org)s, 1))) %% 97)
                 from generate_series(1, %(each)s) n""",
            {"org": org, "now": sample.TODAY - timedelta(days=1), "each": each},
        )
    owner.execute("update observations set created_at = 'infinity' where id = md5('org_a1')::uuid")


def slowly(owner: Owner, orgs: tuple[str, ...], project: str | None = None) -> list[str]:
    rows = owner.execute(
        "select org_id, id, project_id, created_at from observations where status = 'active' and isfinite(created_at)"
    ).fetchall()
    mine = [row for row in rows if row[0] in orgs and project in (None, row[2])]
    return [str(row[1]) for row in sorted(mine, key=lambda row: (-row[3].timestamp(), str(row[1])))][:SHOWN]


def test_the_newest_of_every_scope(store: Store, owner: Owner) -> None:
    fill(owner)

    def listed(scope: Scope) -> list[str]:
        return [str(each) for each in store.ask(LatestObservations(scope, SHOWN))["id"]]

    assert listed(Scope(EVERYTHING, BEGIN, END)) == slowly(owner, ORGS)
    assert listed(Scope(Reach.of(frozenset(ORGS[1:])), BEGIN, END)) == slowly(owner, ORGS[1:])
    assert listed(Scope(EVERYTHING, BEGIN, END, "org_a")) == slowly(owner, ("org_a",))
    assert listed(Scope(EVERYTHING, BEGIN, END, "org_a", "web")) == slowly(owner, ("org_a",), "web")


def test_no_more_is_read_of_an_organization_than_is_shown(store: Store, owner: Owner) -> None:
    fill(owner, 2_000)
    owner.execute("analyze organizations, observations")
    with store.reading(EVERYTHING) as connection:
        asked = LatestObservations(Scope(EVERYTHING, BEGIN, END), SHOWN).statement()
        question = asked.compile(dialect=connection.dialect)
        explained = f"explain (analyze, format json) {question}"
        (found,) = connection.exec_driver_sql(explained, dict(question.params)).one()
    assert read(found[0]["Plan"]) < 100


def read(plan: dict[str, Any]) -> float:
    """The rows that the plan took from the observations."""
    own = plan["Actual Rows"] * plan["Actual Loops"] if plan.get("Relation Name") == "observations" else 0
    return float(own) + sum(read(each) for each in plan.get("Plans", ()))


def test_columns_that_are_not_shown_may_be_lacking(store: Store, owner: Owner) -> None:
    fill(owner)
    owner.execute("alter table observations drop column search cascade, drop column metadata, drop column importance")
    assert len(store.ask(LatestObservations(Scope(EVERYTHING, BEGIN, END), SHOWN))) == SHOWN

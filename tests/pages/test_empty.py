"""An empty store, an empty organization and a database without a store explain themselves on every page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controls.access import Principal
from controls.sections import SECTIONS
from tests import sample
from tests.pages.application import application

if TYPE_CHECKING:
    import psycopg
    import pytest
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

SCRIPTS = [entry.script for entries in SECTIONS.values() for entry in entries]


def alerts(test: AppTest) -> list[str]:
    return [alert.value for kind in (test.error, test.warning, test.info) for alert in kind]


def said_by_page(address: str, **said: str) -> dict[str, list[str]]:
    """What every page says beside its figures."""
    found = {}
    with application(address, **said) as test:
        test.run()
        for script in SCRIPTS:
            test.switch_page(script)
            for name, value in said.items():
                test.query_params[name] = value
            test.run()
            assert not test.exception, script
            found[script] = alerts(test)
            shown = [metric.value for metric in test.metric]
            assert not [value for value in shown if value in ("0 %", "100 %")], (script, shown)
    return found


def test_a_store_without_organizations_says_so_on_every_page(address: str) -> None:
    for script, said in said_by_page(address).items():
        (only,) = said
        assert only.startswith("No organization can be seen here yet: this store holds none."), script
        assert "without `DATABASE_URL`" in only


def test_someone_without_organizations_is_told_who_grants_them(
    address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.add_organization(owner, "org_a")
    monkeypatch.setattr("controls.access.local_principal", lambda _: Principal("v", "viewer", frozenset(), "proxy"))
    for said in said_by_page(address).values():
        (only,) = said
        assert only.startswith("No organization can be seen here yet: none was granted to you.")
        assert "`python -m jobs grant`" in only


def test_a_database_without_a_store_says_what_to_do_on_every_page(address: str, owner: Owner) -> None:
    owner.execute("drop schema public cascade; create schema public; grant usage on schema public to public")
    for script, said in said_by_page(address).items():
        assert len(said) == 1, script
        assert "holds no agent memory" in said[0]
        assert "migrate --create-store" in said[0]


def test_an_empty_organization_explains_itself_on_every_page(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a", "Newfound")
    for script, said in said_by_page(address, org="org_a").items():
        assert [line for line in said if line.startswith("Nothing was ever stored here")], script
        assert not [line for line in said if "longer window" in line or "another project" in line], script


def test_an_empty_window_is_no_first_day(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a", "Newfound")
    sample.add_session(owner, "org_a", "s", days_ago=300)
    with application(address, org="org_a") as test:
        said = alerts(test.run())
    assert said == ["No retrievals in this scope. Choose a longer window or another organization."]

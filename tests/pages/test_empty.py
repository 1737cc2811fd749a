"""An empty store, an empty organization and a database without a store explain themselves on every page."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controls.access import Principal
from controls.sections import SECTIONS
from queries import embedded
from queries.owner import owning
from tests import sample
from tests.driver import Session
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg
    import pytest
    from streamlit.testing.v1 import AppTest

    from tests.app_server import AppServer

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


def test_an_embedded_store_that_nobody_filled_says_so_on_every_page(serve: Callable[..., AppServer]) -> None:
    """``streamlit run app.py`` on an empty folder: the server is made then, and nothing in it."""
    with tempfile.TemporaryDirectory(prefix="rankscope-empty-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)  # a server that runs as another user has to reach its files
        folder = Path(name) / "store"
        server = serve(RANKSCOPE_DATA=str(folder))
        for script in SCRIPTS:
            assert_says_how_to_fill_it(server, script.removesuffix(".py"))
        with embedded.start(folder) as lease, owning(lease.url()) as engine, engine.begin() as connection:
            connection.exec_driver_sql("create role dash_read login")
        assert_says_how_to_fill_it(server, "overview")  # now the login is there, and its database is not
        server.stop()


def assert_says_how_to_fill_it(server: AppServer, page: str) -> None:
    with Session(server.url, page=page) as session:
        (only,) = session.run().bodies("alert")
    assert only.startswith("No organization can be seen here yet: the embedded store is empty."), page
    assert "`make run`" in only


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
        elsewhere = [line for line in said if "look at another organization" in line]
        assert bool(elsewhere) == (script != "feature_flags.py"), "flags can be set before anything is stored"


def test_an_empty_window_is_no_first_day(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a", "Newfound")
    sample.add_session(owner, "org_a", "s", days_ago=300)
    with application(address, org="org_a") as test:
        said = alerts(test.run())
    assert said == ["No retrievals in this scope. Choose a longer window or another organization."]

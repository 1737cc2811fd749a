from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jobs.__main__ import run
from queries.principals import GrantRole, principal_row
from queries.scope import NOTHING
from tests.jobs.stores import rows
from tests.jobs.stores import run as run_sql

if TYPE_CHECKING:
    from queries.engine import Store
    from tests.conftest import Cluster


@pytest.fixture
def address(cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    owner = cluster.url("postgres", store_database)
    run_sql(owner, "insert into organizations (id, name) values ('acme', 'Acme'), ('globex', 'Globex')")
    monkeypatch.setenv("DATABASE_URL", owner)
    monkeypatch.delenv("RANKSCOPE_OWNER_URL", raising=False)
    return owner


def role_of(store: Store, name: str, asking_as: str | None = None) -> tuple[str, tuple[str, ...] | None] | None:
    with store.reading(NOTHING, principal=asking_as or name) as connection:
        return principal_row(connection, name)


def granted(address: str) -> list[tuple[object, ...]]:
    return rows(address, "select name, role, orgs from rankscope.principals order by name")


class TestGrant:
    def test_a_viewer_of_two_organizations(self, address: str, store: Store) -> None:
        assert run(["grant", "ada", "viewer", "--org", "globex", "--org", "acme", "--org", "acme"]) == 0
        assert granted(address) == [("ada", "viewer", ["acme", "globex"])]
        assert role_of(store, "ada") == ("viewer", ("acme", "globex"))

    def test_an_admin_and_an_operator_of_every_organization(self, address: str, store: Store) -> None:
        assert run(["grant", "root", "admin"]) == 0
        assert run(["grant", "op", "operator", "--all-orgs"]) == 0
        assert granted(address) == [("op", "operator", None), ("root", "admin", None)]
        assert role_of(store, "op") == ("operator", None)

    def test_a_second_grant_replaces_the_first(self, address: str) -> None:
        run(["grant", "ada", "admin"])
        run(["grant", "ada", "viewer", "--org", "acme"])
        assert granted(address) == [("ada", "viewer", ["acme"])]

    @pytest.mark.parametrize(
        "arguments",
        [
            ["ada", "viewer"],
            ["ada", "operator"],
            ["ada", "admin", "--org", "acme"],
            ["ada", "owner", "--all-orgs"],
            ["ada", "viewer", "--org", "acme", "--all-orgs"],
            [" ", "viewer", "--all-orgs"],
            ["a\udcff", "viewer", "--all-orgs"],
        ],
    )
    def test_what_is_unclear_is_a_usage_error_and_grants_nothing(self, address: str, arguments: list[str]) -> None:
        with pytest.raises(SystemExit) as raised:
            run(["grant", *arguments])
        assert raised.value.code == 2
        assert granted(address) == []

    def test_an_organization_that_does_not_exist(self, address: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["grant", "ada", "viewer", "--org", "acme", "--org", "\u202eacme"]) == 1
        assert capsys.readouterr().err == "no such organization: \\u202eacme. Nothing was granted.\n"
        assert granted(address) == []

    @pytest.mark.usefixtures("address")
    def test_a_name_is_data_and_never_sql(self, store: Store) -> None:
        name = "x' or '1'='1; drop table organizations; --"
        assert run(["grant", name, "viewer", "--org", "acme"]) == 0
        assert role_of(store, name) == ("viewer", ("acme",))


class TestRevoke:
    def test_the_role_is_gone_at_once(self, address: str, store: Store) -> None:
        run(["grant", "ada", "admin"])
        assert run(["revoke", "ada"]) == 0
        assert granted(address) == []
        assert role_of(store, "ada") is None

    def test_a_name_without_a_role(self, address: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert granted(address) == []
        assert run(["revoke", "ada"]) == 1
        assert capsys.readouterr().err == "ada had no role. Nothing was changed.\n"


class TestPrincipals:
    def test_everyone_on_a_line_without_control_characters(
        self, address: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert granted(address) == []
        run(["grant", "ada\x1b[2J", "viewer", "--org", "acme"])
        run(["grant", "root", "admin"])
        capsys.readouterr()
        assert run(["principals"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split("\t")[:3] for line in lines] == [
            ["ada\\x1b[2J", "viewer", "acme"],
            ["root", "admin", "every organization"],
        ]


class TestRowSecurity:
    def test_one_name_never_sees_the_role_of_another(self, address: str, store: Store) -> None:
        run(["grant", "ada", "admin"])
        assert granted(address) == [("ada", "admin", None)]
        assert role_of(store, "ada", asking_as="eve") is None


@pytest.mark.parametrize(
    ("name", "role", "orgs"), [("", "viewer", ("a",)), ("a", "owner", ("a",)), ("a", "admin", ("a",))]
)
def test_a_grant_that_makes_no_sense_cannot_be_built(name: str, role: str, orgs: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="found"):
        GrantRole(name, role, orgs)  # type: ignore[arg-type]

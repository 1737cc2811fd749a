from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING

import pytest

from jobs.__main__ import run as run_job
from jobs.doctor import diagnose, main
from jobs.migrate import main as migrate
from queries.checkup import serves
from settings import Settings
from tests.jobs.command import jobs
from tests.jobs.stores import rows, run, snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from queries.findings import Finding
    from tests.conftest import Cluster

OURS = """select c.oid, c.relname, c.relacl::text, c.relrowsecurity from pg_class c
           where relnamespace in (select oid from pg_namespace where nspname = 'rankscope')"""


def findings(address: str, write: str | None = None) -> dict[str, Finding]:
    return {found.name: found for found in diagnose(Settings(database_url=address, write_url=write))}


class TestOwnStore:
    def test_everything_is_as_it_should_be(self, cluster: Cluster, readable: str, store_database: str) -> None:
        found = findings(readable, cluster.url("dash_write", store_database))
        assert {finding.state for finding in found.values()} == {"ok"}
        assert not any(finding.mend for finding in found.values())
        assert {"server", "pgvector", "schema rankscope", "roles", "login", "writes", "features", "write login"} <= set(
            found
        )

    def test_a_superuser_is_told_that_nothing_isolates_him(self, owned: str) -> None:
        found = findings(owned)
        assert (found["login"].state, found["login"].sentence) == ("degraded", "not isolated: connected as superuser.")
        assert serves(tuple(found.values()))

    def test_without_a_write_login_it_only_reads(self, readable: str) -> None:
        assert findings(readable)["write login"].sentence.startswith(
            "No write login is configured: Rankscope only reads."
        )

    def test_a_write_login_without_rights(self, readable: str) -> None:
        found = findings(readable, readable)["write login"]
        assert found.state == "degraded"
        assert "grant update (features) on public.organizations to dash_write;" in found.mend

    def test_a_write_login_that_cannot_connect(self, readable: str) -> None:
        found = findings(readable, "postgresql://u@127.0.0.1:9/d")["write login"]
        assert found.state == "degraded"
        assert "cannot be reached" in found.sentence


class TestForeignStore:
    def test_it_can_be_served_and_says_what_is_left_out(self, foreign: str) -> None:
        found = findings(foreign)
        assert serves(tuple(found.values()))
        log = found["table retrieval_ab_logs"]
        assert log.state == "degraded"
        assert log.sentence.startswith("Table retrieval_ab_logs lacks id, retrieval_id, injected, corroboration_boost")
        assert found["schema rankscope"].state == "missing"
        assert found["table session_diagnostics"].state == "missing"
        assert found["pgvector"].mend == "create extension vector;"
        assert found["row security sessions"].sentence.startswith("Table sessions has no policy that limits")
        assert "index logs_recent" not in found  # its columns have to come first
        assert found["features"].state == "ok"

    def test_all_that_it_prints_mends_it(self, cluster: Cluster, foreign: str, empty_database: str) -> None:
        """What is printed, run in order by the owner with the platform's role filled in, leaves nothing to mend."""
        for _ in range(2):  # columns that the first round adds call for indexes and policies
            for finding in findings(foreign).values():
                run(foreign, finding.mend.replace("platform_role", "memory_write"))
            assert migrate(Namespace(create_store=False), Settings(database_url=foreign)) == 0
        run(foreign, "grant select on all tables in schema public to dash_read")
        reader = findings(cluster.url("dash_read", empty_database))
        left = {name: finding.sentence for name, finding in reader.items() if finding.state != "ok"}
        assert left == {}


class TestCannotServe:
    def test_an_empty_database(self, cluster: Cluster, empty_database: str) -> None:
        found = findings(cluster.url("postgres", empty_database))
        assert not serves(tuple(found.values()))
        assert (
            found["table organizations"].sentence
            == "Table organizations is missing; Rankscope cannot serve without it."
        )
        assert found["table organizations"].mend.startswith(
            "create table public.organizations (\n  id text primary key,"
        )

    @pytest.mark.parametrize(
        ("table", "column"),
        [("retrieval_ab_logs", "weighted_rank"), ("organizations", "name"), ("sessions", "outcome")],
    )
    def test_a_missing_column(self, owned: str, readable: str, table: str, column: str) -> None:
        run(owned, f"alter table {table} drop column {column} cascade")
        found = findings(readable)[f"table {table}"]
        assert found.prevents_serving
        assert found.sentence == f"Table {table} lacks {column}; Rankscope cannot serve without."
        run(owned, found.mend)
        assert findings(readable)[f"table {table}"].state == "ok"

    def test_a_column_of_another_type(self, owned: str, readable: str) -> None:
        run(owned, "alter table retrieval_ab_logs alter weighted_rank type text")
        found = findings(readable)["table retrieval_ab_logs"]
        assert found.prevents_serving
        assert "weighted_rank as text where a number is documented" in found.sentence

    def test_a_table_that_the_login_may_not_read(self, owned: str, readable: str) -> None:
        run(owned, "revoke select on sessions from dash_read")
        found = findings(readable)["table sessions"]
        assert found.prevents_serving
        run(owned, found.mend)
        assert findings(readable)["table sessions"].state == "ok"

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("nonsense", "address cannot be read"),
            ("postgresql://u:s3cret-canary@127.0.0.1:9/d", "cannot be reached"),
            ("postgresql://u:s3cret-canary@host-canary.invalid/d", "cannot be reached"),
        ],
    )
    def test_a_wrong_address_is_one_sentence_without_secret_or_host(
        self, address: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("DATABASE_URL", address)
        assert run_job(["doctor"]) == 1
        said = "".join(capsys.readouterr())
        assert words in said
        assert "canary" not in said

    def test_a_login_or_database_that_does_not_exist(self, cluster: Cluster) -> None:
        assert "does not exist on that server" in findings(cluster.url("postgres", "no_such"))["connection"].sentence
        assert "rejected the login" in findings(cluster.url("nobody_known", "postgres"))["connection"].sentence

    def test_an_embedded_store_that_was_never_made_is_not_made_now(self, tmp_path: Path) -> None:
        folder = tmp_path / "none"
        (found,) = diagnose(Settings(data_folder=folder))
        assert found.prevents_serving
        assert not folder.exists()


class TestChangesNothing:
    @pytest.mark.parametrize("kind", ["foreign", "owned"])
    def test_the_catalogue_is_the_same_before_and_after(self, kind: str, request: pytest.FixtureRequest) -> None:
        address: str = request.getfixturevalue(kind)
        before = (snapshot(address), rows(address, OURS))
        diagnose(Settings(database_url=address, write_url=address))
        assert (snapshot(address), rows(address, OURS)) == before


class TestCommand:
    def test_json_holds_every_finding(self, readable: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(Namespace(json=True), Settings(database_url=readable)) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["serves"] is True
        assert set(said["findings"][0]) == {"name", "state", "sentence", "mend", "required"}

    def test_exit_codes_and_verdict(self, cluster: Cluster, readable: str, empty_database: str) -> None:
        good = jobs("doctor", DATABASE_URL=readable)
        assert (good.returncode, good.stderr) == (0, "")
        assert good.stdout.endswith("Rankscope can serve this store.\n")
        bad = jobs("doctor", DATABASE_URL=cluster.url("postgres", empty_database))
        assert (bad.returncode, bad.stderr) == (1, "")
        assert bad.stdout.endswith("Rankscope cannot serve this store.\n")

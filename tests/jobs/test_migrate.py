from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

import pytest

from jobs.__main__ import run as run_job
from jobs.migrate import MigrateError, main
from queries.errors import StoreError
from queries.migrate import targets
from settings import Settings
from tests.jobs.command import jobs
from tests.jobs.stores import FOREIGN, rows, run, snapshot

if TYPE_CHECKING:
    from tests.conftest import Cluster


def migrate(*, create_store: bool = False, **settings: str) -> int:
    return main(Namespace(create_store=create_store), Settings(**settings))  # type: ignore[arg-type]


class TestForeignStore:
    def test_only_schema_rankscope_changes(self, foreign: str) -> None:
        before = snapshot(foreign)
        assert migrate(database_url=foreign) == 0
        assert snapshot(foreign) == before
        assert rows(foreign, "select version_num from rankscope.alembic_version") == [("rankscope_0007",)]

    def test_a_second_run_changes_nothing_at_all(self, foreign: str) -> None:
        migrate(database_url=foreign)
        ours = (
            "select oid, relname, relnatts, relacl::text from pg_class where relnamespace = 'rankscope'::regnamespace"
        )
        before = rows(foreign, ours)
        assert migrate(database_url=foreign) == 0
        assert rows(foreign, ours) == before

    def test_creating_a_store_over_it_is_refused(self, foreign: str) -> None:
        before = snapshot(foreign)
        with pytest.raises(MigrateError, match=r"expects an empty schema public; found observations, organizations"):
            migrate(create_store=True, database_url=foreign)
        assert snapshot(foreign) == before

    def test_its_rows_stay_as_they_were(self, foreign: str) -> None:
        image = "select l::text from retrieval_ab_logs l union all select o::text from organizations o"
        before = rows(foreign, image)
        migrate(database_url=foreign)
        assert rows(foreign, image) == before


class TestOwnStore:
    def test_both_branches_are_applied(
        self, cluster: Cluster, empty_database: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        address = cluster.url("postgres", empty_database)
        assert migrate(create_store=True, database_url=address) == 0
        assert capsys.readouterr().out == "before  never migrated\nafter   platform_0003, rankscope_0007\n"
        found = rows(address, "select version_num from rankscope.alembic_version order by 1")
        assert [revision for (revision,) in found] == list(targets(create_store=True))

    def test_without_the_option_a_migrated_store_stays_whole(
        self, cluster: Cluster, store_database: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert migrate(database_url=cluster.url("postgres", store_database)) == 0
        assert capsys.readouterr().out.count("platform_0003, rankscope_0007") == 2


class TestRefusals:
    @pytest.mark.usefixtures("template")  # which made the roles
    def test_the_owner_login_wins_over_the_read_login(self, cluster: Cluster, empty_database: str) -> None:
        reader, owner = cluster.url("dash_read", empty_database), cluster.url("postgres", empty_database)
        assert migrate(create_store=True, database_url=reader, owner_url=owner) == 0

    @pytest.mark.usefixtures("template")
    def test_a_login_that_may_not_is_told_which_setting_helps(self, cluster: Cluster, empty_database: str) -> None:
        run(cluster.url("postgres", empty_database), FOREIGN.read_text(encoding="utf-8"))
        with pytest.raises(StoreError) as raised:
            migrate(database_url=cluster.url("dash_read", empty_database))
        assert raised.value.sentence.endswith("This needs the owner's login: set RANKSCOPE_OWNER_URL.")

    def test_a_store_of_a_newer_rankscope_is_left_alone(self, cluster: Cluster, store_database: str) -> None:
        address = cluster.url("postgres", store_database)
        run(
            address,
            "update rankscope.alembic_version set version_num = 'rankscope_9999' where version_num ~ '^rankscope'",
        )
        with pytest.raises(StoreError) as raised:
            migrate(database_url=address)
        assert raised.value.sentence.startswith("This store was migrated by a newer Rankscope.")

    @pytest.mark.parametrize(
        ("address", "sentence"),
        [
            (
                "not an address",
                "The store's address cannot be read. DATABASE_URL has the form postgresql://user@host:port/database.\n",
            ),
            (
                "postgresql://u:s3cret@h:port/d",
                "The store's address cannot be read. DATABASE_URL has the form postgresql://user@host:port/database.\n",
            ),
            (
                "postgresql://u:s3cret@127.0.0.1:9/d",
                "The database cannot be reached. Check that it runs and that DATABASE_URL names it.\n",
            ),
        ],
    )
    def test_one_sentence_and_exit_code_1(
        self, address: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("DATABASE_URL", address)
        assert run_job(["migrate"]) == 1
        assert capsys.readouterr() == ("", sentence)

    def test_no_traceback_reaches_the_terminal(self) -> None:
        done = jobs("migrate", DATABASE_URL="postgresql://u:s3cret@127.0.0.1:9/d")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "The database cannot be reached. Check that it runs and that DATABASE_URL names it.\n"

    def test_an_unknown_job_is_a_usage_error(self) -> None:
        with pytest.raises(SystemExit) as raised:
            run_job(["mend-everything"])
        assert raised.value.code == 2

    def test_a_setting_that_cannot_be_used(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("RANKSCOPE_AUTH", "everyone")
        assert run_job(["migrate"]) == 1
        assert capsys.readouterr().err == "RANKSCOPE_AUTH is one of local, proxy, oidc; found 'everyone'\n"

"""``python -m jobs aggregate`` on a real store, pass by pass: what it does, refuses, keeps to itself and forgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jobs.__main__ import run
from queries.aggregation_input import AggregationScope
from queries.aggregation_runs import StandingRuns
from queries.scope import Reach
from tests import sample
from tests.jobs.aggregated import RUNS, change, plant
from tests.scopes import ALIKE, add_observation

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.jobs.aggregated import Aggregate

    Owner = psycopg.Connection[Any]

API = AggregationScope("org_a", "api")


class TestOnce:
    def test_every_scope_has_its_result(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b")
        add_observation(owner, "org_a", "loose", "text", None)
        code, lines = aggregate()
        assert code == 0
        assert [line.partition(", ")[0] for line in lines] == [
            "org_a / no project: 0 clusters with 0 of 1 observations",
            "org_a / api: 1 clusters with 3 of 4 observations",
            "org_b / api: 1 clusters with 3 of 4 observations",
        ]
        assert owner.execute(RUNS).fetchall() == [
            ("org_a", "api", "done"), ("org_a", None, "done"), ("org_b", "api", "done"),
        ]  # fmt: skip

    def test_an_unchanged_scope_is_skipped_and_says_so(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b")
        aggregate()
        before = owner.execute(
            "select id, finished_at, checked_at from rankscope.aggregation_runs order by id"
        ).fetchall()
        change(owner, "org_b")
        code, lines = aggregate()
        assert code == 0
        assert lines[0].startswith("org_a / api: unchanged since ")
        assert lines[0].endswith(" UTC, skipped")
        assert lines[1].startswith("org_b / api: 1 clusters")
        after = owner.execute(
            "select id, finished_at, checked_at from rankscope.aggregation_runs order by id"
        ).fetchall()
        assert after[0][:2] == before[0][:2]
        assert after[0][2] > before[0][2]
        assert len(after) == 3

    def test_one_organization(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b", "org_c")
        code, lines = aggregate("--org", "org_b", "--org", "org_a")
        assert code == 0
        assert [line.partition(":")[0] for line in lines] == ["org_a / api", "org_b / api"]

    def test_a_scope_that_is_gone_takes_its_results_along(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b")
        aggregate()
        owner.execute("delete from organizations where id = 'org_a'")
        _, lines = aggregate()
        assert lines[0] == "org_a / api: no longer in the store, its results were removed"
        for table in ("aggregation_runs", "clusters", "contradictions", "simhashes"):
            left = owner.execute(f"select count(*) from rankscope.{table} where org_id = 'org_a'".encode())  # noqa: S608 - our own names
            assert left.fetchone() == (0,)
        assert len(aggregate()[1]) == 1

    def test_a_scope_that_became_empty_has_an_empty_result(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a")
        aggregate()
        owner.execute("update observations set status = 'archived'")
        code, lines = aggregate()
        assert (code, lines[0].partition(",")[0]) == (0, "org_a / api: 0 clusters with 0 of 0 observations")


class TestRefusals:
    def test_an_organization_that_is_not_there(
        self, aggregate: Aggregate, owner: Owner, capsys: pytest.CaptureFixture[str]
    ) -> None:
        plant(owner, "org_a")
        assert run(["aggregate", "--org", "org_a", "--org", "typo\x1b"]) == 1
        assert capsys.readouterr().err == "no such organization: typo\\x1b. Nothing was aggregated.\n"
        assert aggregate()[0] == 0

    def test_without_a_write_login(
        self, logins: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("DATABASE_URL", logins["DATABASE_URL"])
        assert run(["aggregate"]) == 1
        assert "set RANKSCOPE_WRITE_URL" in capsys.readouterr().err

    @pytest.mark.parametrize("every", ["0", "-1", "nan", "soon"])
    def test_an_interval_that_is_none(self, every: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            run(["aggregate", "--every", every])
        assert "--every" in capsys.readouterr().err


class TestBadScope:
    REFUSE = """create function refuse() returns trigger language plpgsql as
                  $$ begin raise exception 'CANARY' using errcode = '53100'; end $$;
                create trigger refuse before insert on rankscope.clusters
                  for each row when (new.org_id = 'org_b') execute function refuse()"""

    def test_the_others_go_on_and_the_earlier_result_stands(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b", "org_c")
        aggregate()
        standing = owner.execute("select * from rankscope.clusters where org_id = 'org_b'").fetchall()
        owner.execute(self.REFUSE)
        for org in ("org_a", "org_b", "org_c"):
            change(owner, org)
        for _ in range(3):
            code, lines = aggregate()
            assert code == 1
            assert lines[1].startswith("org_b / api: failed. The database is out of memory or disk space.")
        assert lines[2].startswith("org_c / api: unchanged")
        assert owner.execute("select * from rankscope.clusters where org_id = 'org_b'").fetchall() == standing
        states = owner.execute(
            "select state, error like 'The database is out%' from rankscope.aggregation_runs where org_id = 'org_b'"
        ).fetchall()
        assert sorted(states, key=repr) == [("done", None), ("failed", True)]

    def test_a_failure_is_forgotten_with_the_next_success(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_b")
        owner.execute(self.REFUSE)
        assert aggregate()[0] == 1
        owner.execute("drop trigger refuse on rankscope.clusters")
        assert aggregate()[0] == 0
        assert owner.execute(RUNS).fetchall() == [("org_b", "api", "done")]

    def test_an_error_of_ours_names_its_place_and_no_text(
        self, aggregate: Aggregate, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A fingerprint column that holds what the library refuses is the nearest thing to a bug in it."""
        plant(owner, "org_a", "org_b")
        monkeypatch.setattr("analysis.aggregation.PARTS", ("recency", "missing"))
        add_observation(owner, "org_a", "1", "always run the linter before a push to the shared branch")
        add_observation(owner, "org_a", "2", "never run the linter before a push to the shared branch")
        code, lines = aggregate()
        assert code == 1
        assert lines[0].startswith("org_a / api: failed. The pass ended with AttributeError in aggregation.py, line ")
        assert lines[1].startswith("org_b / api: 1 clusters")


class TestIsolation:
    def test_readers_of_another_organization_never_see_a_result(
        self, aggregate: Aggregate, owner: Owner, store: Store
    ) -> None:
        plant(owner, "org_a", "org_b")
        for org in ("org_a", "org_b"):
            add_observation(owner, org, "1", "always run the linter before a push to the shared branch")
            add_observation(owner, org, "2", "never run the linter before a push to the shared branch")
        assert aggregate()[0] == 0
        for table in ("aggregation_runs", "clusters", "contradictions", "simhashes"):
            statement = f"select distinct org_id from rankscope.{table}".encode()  # noqa: S608 - our own names
            assert len(owner.execute(statement).fetchall()) == 2
        with store.reading(Reach(("org_b",))) as connection:
            assert StandingRuns(API.reach).ask(connection) == {}
            raw = connection.connection.driver_connection
            assert raw is not None
            for table in ("aggregation_runs", "clusters", "contradictions", "simhashes"):
                found = raw.execute(f"select distinct org_id from rankscope.{table}".encode()).fetchall()  # noqa: S608 - same
                assert found == [("org_b",)]

    def test_a_pass_is_bound_to_its_own_organization(self, aggregate: Aggregate, owner: Owner) -> None:
        """Observations that name another's project in the same words are in no way part of it."""
        plant(owner, "org_a")
        sample.add_organization(owner, "org_b")
        add_observation(owner, "org_b", "stray", ALIKE[0])
        aggregate()
        assert owner.execute("select count(*) from rankscope.clusters where org_id = 'org_b'").fetchone() == (0,)
        assert owner.execute("select agents from rankscope.clusters limit 1").fetchone() == (3,)


class TestLogWriters:
    WRITER = """insert into rankscope.log_writers (org_id, writer, name, queued, written, rows, dropped, failed,
                  started_at, seen_at)
                values (%s, gen_random_uuid(), %s, 0, 1, 1, 0, 0, now(), now() - %s * interval '1 day')"""
    LEFT = "select org_id, name from rankscope.log_writers order by 1, 2"

    def test_a_pass_forgets_processes_unseen_for_long(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a", "org_b")
        for org in ("org_a", "org_b"):
            for name, days in (("now", 0), ("recent", 89), ("ended", 91)):
                owner.execute(self.WRITER, (org, name, days))
        assert aggregate("--org", "org_a")[0] == 0
        left = [("org_a", "now"), ("org_a", "recent"), ("org_b", "ended"), ("org_b", "now"), ("org_b", "recent")]
        assert owner.execute(self.LEFT).fetchall() == left
        aggregate()
        assert ("org_b", "ended") not in owner.execute(self.LEFT).fetchall()

    def test_an_older_schema_keeps_them_and_the_pass_goes_on(self, aggregate: Aggregate, owner: Owner) -> None:
        plant(owner, "org_a")
        owner.execute(self.WRITER, ("org_a", "ended", 91))
        owner.execute("revoke delete on rankscope.log_writers from dash_write")
        assert aggregate()[0] == 0
        assert owner.execute(self.LEFT).fetchall() == [("org_a", "ended")]

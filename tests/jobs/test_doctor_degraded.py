from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jobs.doctor import as_text
from queries.checkup import serves
from tests.jobs.stores import rows, run
from tests.jobs.test_doctor import findings

if TYPE_CHECKING:
    from tests.conftest import Cluster


class TestDegraded:
    def test_a_database_set_to_read_only(self, owned: str, readable: str, store_database: str) -> None:
        run(owned, f"alter database {store_database} set default_transaction_read_only = on")
        found = findings(readable)
        assert found["writes"].sentence.startswith("This server or database is set to read-only")
        assert serves(tuple(found.values()))

    @pytest.mark.parametrize(
        "features",
        ["null", "[]", '"on"', "1", '{"feedback_weighting_disabled": "yes"}', '{"feedback_weighting_disabled": 1}'],
    )
    def test_malformed_features_are_counted_and_never_quoted(self, owned: str, readable: str, features: str) -> None:
        run(
            owned,
            "insert into organizations (id, name, features) values ('good', 'CANARY', '{}'), ('none', 'CANARY', null)",
        )
        rows(
            owned,
            "insert into organizations (id, name, features) values ('CANARY-id', 'CANARY', %s) returning id",
            [features],
        )
        found = findings(readable)
        assert found["features"].state == "degraded"
        assert found["features"].sentence.startswith("1 of 3 organizations have features that are no valid flag object")
        assert "CANARY" not in as_text(tuple(found.values()))
        assert len(rows(owned, found["features"].mend)) == 1

    def test_features_nested_too_deep_to_parse(self, owned: str, readable: str) -> None:
        deep = "[" * 6000 + "]" * 6000
        rows(owned, "insert into organizations (id, name, features) values ('deep', 'd', %s) returning id", [deep])
        assert findings(readable)["features"].sentence.startswith("1 of 1 organizations")

    def test_a_route_with_many_vectors_and_no_index(self, owned: str, readable: str) -> None:
        """5 001 of one organization are many; 5 000 are not, nor are 6 000 of two."""
        assert findings(readable)["route indexes"].state == "ok"
        run(owned, "insert into organizations (id, name) values ('a', 'a'), ('b', 'b')")
        run(
            owned,
            """insert into observations (org_id, content, content_hash)
               select org, '', i::text from generate_series(1, 5001) i, unnest(array['a', 'b']) org""",
        )
        run(
            owned,
            """insert into observation_embeddings (org_id, observation_id, route, embedding)
               select org_id, id, route, '[1,2,3]' from observations, unnest(array['user', 'assistant', 'events']) route
                where case route when 'user' then org_id = 'a'
                                 when 'assistant' then org_id = 'a' and content_hash <> '1'
                                 else content_hash::int <= 3000 end""",
        )
        found = findings(readable)["route indexes"]
        assert found.state == "degraded"
        assert "more than 5,000 of: user (3 dimensions); a retrieval" in found.sentence
        run(owned, found.mend)
        assert findings(readable)["route indexes"].state == "ok"

    def test_log_rows_without_a_time(self, owned: str, readable: str) -> None:
        run(owned, "alter table retrieval_ab_logs alter created_at drop not null")
        assert findings(readable)["log times"].state == "ok"
        run(owned, "insert into organizations (id, name) values ('a', 'a')")
        run(owned, "insert into sessions (org_id, id) values ('a', 's')")
        run(
            owned,
            """insert into retrieval_ab_logs
                 (org_id, session_id, query_text, observation_id, weighting_enabled, created_at)
               values ('a', 's', 'q', gen_random_uuid(), true, null)""",
        )
        found = findings(readable)["log times"]
        assert found.sentence == "1 log rows have no time and appear in no window."
        run(owned, found.mend)
        assert findings(readable)["log times"].state == "ok"

    def test_vectors_of_two_dimensions_in_one_route(self, owned: str, readable: str) -> None:
        run(owned, "insert into organizations (id, name) values ('a', 'a')")
        run(
            owned,
            """with o as (insert into observations (org_id, content, content_hash)
                          values ('a', 'x', 'x'), ('a', 'y', 'y') returning org_id, id, content)
               insert into observation_embeddings select org_id, id, route, case when content = 'x' and route = 'user'
                 then '[1,2]'::vector else '[1,2,3]'::vector end from o, unnest(array['user', 'events']) as route""",
        )
        found = findings(readable)["vector dimensions"]
        assert found.sentence.startswith("Vectors of more than one dimension in 1 routes (user);")

    def test_a_missing_index_prints_one_that_does_not_block(self, owned: str, readable: str) -> None:
        run(owned, "drop index logs_recent")
        found = findings(readable)["index logs_recent"]
        assert (
            found.mend == "create index concurrently logs_recent on public.retrieval_ab_logs (org_id, created_at, id);"
        )
        run(owned, found.mend.replace("logs_recent", "another_name", 1).replace("id);", "id, session_id);"))
        assert findings(readable)["index logs_recent"].state == "ok"

    def test_a_partial_index_does_not_stand_for_a_whole_one(self, owned: str, readable: str) -> None:
        run(owned, "drop index logs_recent")
        run(owned, "create index part on retrieval_ab_logs (org_id, created_at, id) where weighting_enabled")
        assert findings(readable)["index logs_recent"].state == "degraded"

    def test_row_security_switched_off_and_a_policy_that_hides_nothing(self, owned: str, readable: str) -> None:
        run(owned, "alter table observations disable row level security")
        run(owned, "drop policy scope on sessions")
        run(owned, "create policy open on sessions using (true)")
        found = findings(readable)
        assert found["row security observations"].state == "degraded"
        assert found["row security sessions"].state == "degraded"
        mend = found["row security observations"].mend
        assert "any other role sees only what a policy gives it" in mend
        assert "create policy platform on public.observations to platform_role using (true) with check (true);" in mend
        assert "current_setting('dash.all_orgs', true)" in mend
        assert "current_setting('dash.orgs', true)" in mend

    def test_a_login_that_owns_tables_or_bypasses_row_security(
        self, cluster: Cluster, owned: str, store_database: str
    ) -> None:
        run(owned, "create role tables_owner login; create role bypasser login bypassrls")
        try:
            run(owned, "alter table organizations owner to tables_owner")
            assert "owns platform tables" in findings(cluster.url("tables_owner", store_database))["login"].sentence
            assert "bypasses row security" in findings(cluster.url("bypasser", store_database))["login"].sentence
        finally:
            run(owned, "alter table organizations owner to postgres")
            run(owned, "drop owned by tables_owner, bypasser; drop role tables_owner, bypasser")

    def test_a_login_that_may_not_read_our_schema(self, owned: str, readable: str) -> None:
        run(owned, "revoke usage on schema rankscope from dash_read")
        found = findings(readable)["schema rankscope"]
        assert found.sentence == "This login may not read schema rankscope."
        run(owned, found.mend)
        assert findings(readable)["schema rankscope"].state == "ok"

    def test_an_older_revision(self, owned: str, readable: str) -> None:
        run(owned, "delete from rankscope.alembic_version where version_num ~ '^rankscope'")
        found = findings(readable)["schema rankscope"]
        assert found.sentence == "Schema rankscope is at platform_0003; this Rankscope expects rankscope_0007."

    def test_settings_that_make_it_slow(self, owned: str, store_database: str) -> None:
        for setting in ("jit = on", "work_mem = '4MB'"):
            run(owned, f"alter database {store_database} set {setting}")
        found = findings(owned)
        assert [found[name].state for name in ("setting jit", "setting work_mem")] == ["degraded"] * 2

    def test_a_view_in_place_of_a_table(self, owned: str, readable: str) -> None:
        run(owned, "alter table projects rename to projects_v2")
        run(owned, "create view projects as select * from projects_v2; grant select on projects to dash_read")
        found = findings(readable)
        assert found["table projects"].state == "ok"
        assert found["row security projects"].sentence.startswith("projects is a view")

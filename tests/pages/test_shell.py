"""What the shell says when something is wrong, empty or out of reach; and that a page cannot run without it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from streamlit.testing.v1 import AppTest

import settings
from controls import access
from tests import sample
from tests.pages.application import application

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.fixture
def address(cluster: Cluster, store_database: str) -> str:
    return cluster.plain_url("dash_read", store_database)


def alerts(test: AppTest) -> list[str]:
    assert not test.exception
    return [alert.value for kind in (test.error, test.warning, test.info) for alert in kind]


def compared(test: AppTest) -> str:
    """The line that says what changes are against."""
    return next(caption.value for caption in test.caption if " before" in caption.value)


class TestBadStores:
    @pytest.mark.parametrize(
        ("damage", "expected"),
        [
            ("drop table retrieval_ab_logs cascade", "lacks a table"),
            ("alter table observations drop column status cascade", "lacks a column"),
            (
                "drop schema public cascade; create schema public; grant usage on schema public to public",
                "lacks a table",
            ),
            ("revoke select on sessions from dash_read", "may not do this"),
            ("alter table retrieval_ab_logs alter column unweighted_rank type text", "lacks a function"),
            ("alter table retrieval_ab_logs rename column weighted_rank to other", "lacks a column"),
        ],
    )
    def test_a_store_that_lacks_something(self, address: str, owner: Owner, damage: str, expected: str) -> None:
        sample.add_organization(owner, "org_a")
        owner.execute(damage)
        with application(address) as test:
            said = alerts(test.run())
        assert len(said) == 1
        assert expected in said[0]
        assert "select" not in said[0].lower()

    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("postgresql://u:p@no-such-host.invalid/x", "cannot be reached"),
            ("mysql://u:p@127.0.0.1/x", "address cannot be read"),
        ],
    )
    def test_a_wrong_address(self, url: str, expected: str) -> None:
        with application(url) as test:
            assert expected in alerts(test.run())[0]

    def test_a_database_that_does_not_exist(self, cluster: Cluster) -> None:
        with application(cluster.plain_url("dash_read", "no_such_database")) as test:
            assert "does not exist on that server" in alerts(test.run())[0]

    def test_a_login_that_does_not_exist(self, cluster: Cluster, store_database: str) -> None:
        with application(cluster.plain_url("nobody_here", store_database)) as test:
            assert "rejected the login" in alerts(test.run())[0]

    def test_a_store_that_accepts_no_writes_is_served_all_the_same(
        self, cluster: Cluster, address: str, owner: Owner, store_database: str
    ) -> None:
        """A standby refuses writes as a read-only database does; Overview only reads."""
        sample.add_organization(owner, "org_a")
        owner.execute(f'alter database "{store_database}" set default_transaction_read_only = on')
        with application(address) as test:
            assert alerts(test.run()) == [
                "No retrievals in this scope. Choose a longer window or another organization."
            ]
        assert cluster.run("select 1") == [(1,)]

    def test_the_try_again_button_recovers(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        owner.execute("alter table sessions rename to elsewhere")
        with application(address) as test:
            test.run()
            owner.execute("alter table elsewhere rename to sessions")
            test.button("try_again").click().run()
            assert "lacks" not in " ".join(alerts(test))


class TestEmpty:
    def test_a_store_without_organizations_explains_itself(self, address: str) -> None:
        with application(address) as test:
            assert "No organization can be seen here yet" in alerts(test.run())[0]

    def test_an_organization_without_retrievals_explains_itself(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        with application(address) as test:
            assert "No retrievals in this scope" in alerts(test.run())[0]
            assert [metric.value for metric in test.metric] == ["0", "0", "—", "—", "—"]


class TestScope:
    @pytest.fixture(autouse=True)
    def _two_organizations(self, owner: Owner) -> None:
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
            sample.add_retrieval(owner, org, sample.unchanged(8), name="r")

    def test_the_address_is_the_scope(self, address: str) -> None:
        with application(address, org="org_b", project="api", window="7d") as test:
            test.run()
            org, project = sample.canary("org_b", "name"), sample.canary("org_b", "project")
            assert f"{org}, project {project} · api, " in test.text[0].value
            assert "the 7 days before" in compared(test)
            assert test.selectbox("pick_org").value == "org_b"

    def test_choosing_changes_the_address_and_an_organization_drops_the_project(self, address: str) -> None:
        with application(address, org="org_b", project="api") as test:
            test.run()
            test.selectbox("pick_org").select("org_a").run()
            assert test.query_params["org"] == "org_a"
            assert "project" not in test.query_params
            test.selectbox("pick_org").select("").run()
            assert "org" not in test.query_params

    @pytest.mark.parametrize("parameters", [{"org": "org_zzz"}, {"org": "org_a", "project": "nowhere"}])
    def test_a_link_to_nothing_says_so(self, address: str, parameters: dict[str, str]) -> None:
        with application(address, **parameters) as test:
            assert "does not exist here, or you may not see it" in alerts(test.run())[0]

    @pytest.mark.parametrize(
        ("parameters", "days"),
        [
            ({"window": "custom", "from": "2026-01-01", "to": "2026-01-31"}, 31),
            ({"window": "custom", "from": "2026-01-31", "to": "2026-01-01"}, 31),
            ({"window": "custom", "from": "1970-01-01", "to": "2026-01-01"}, 366),
            ({"window": "custom", "from": "0001-01-01", "to": "0001-01-02"}, 1),
            ({"window": "custom", "from": "2999-01-01"}, 1),
            ({"window": "custom", "from": "rubbish", "to": "9999-12-31"}, 30),
            ({"window": "forever"}, 30),
        ],
    )
    def test_any_window_in_a_link_gives_a_bounded_one(
        self, address: str, parameters: dict[str, str], days: int
    ) -> None:
        with application(address, **parameters) as test:
            test.run()
            assert not test.exception
            before = "the day before" if days == 1 else f"the {days} days before"
            assert before in compared(test)

    def test_all_that_is_wrong_with_a_link_is_told_in_one_banner_below_the_title(self, address: str) -> None:
        with application(address, org="nobody", window="forever", part="nonsense") as test:
            test.run().switch_page("health.py").run()
            (told,) = (warning.value for warning in test.warning)
            assert [each.type for each in test.main if each.type in {"title", "text", "alert", "warning"}][:2] == [
                "title", test.warning[0].type,
            ]  # fmt: skip
        assert told == (
            "Unknown organization in this link: it does not exist here, or you may not see it. Showing all instead. "
            "Not understood in this link, and ignored: Window, Part. The default is shown instead."
        )

    def test_a_last_day_without_a_first_leaves_the_default_window(self, address: str) -> None:
        with application(address, window="custom", to="2026-01-31") as test:
            assert "the 30 days before" in compared(test.run())

    def test_choosing_the_last_day_alone_puts_both_into_the_address(self, address: str) -> None:
        with application(address, window="custom") as test:
            first = test.run().sidebar.date_input(key="pick_from").value
            assert isinstance(first, date)
            last = first + timedelta(days=26)
            test.sidebar.date_input(key="pick_to").set_value(last).run()
            said = {name: test.query_params[name] for name in ("from", "to")}
            assert said == {"from": first.isoformat(), "to": last.isoformat()}
            assert not any("ignored" in told for told in alerts(test))

    def test_a_page_about_all_of_time_shows_no_window_and_keeps_it(self, address: str) -> None:
        with application(address, window="7d") as test:
            assert [group.key for group in test.run().sidebar.button_group] == ["pick_window"]
            test.switch_page("feature_flags.py").run()
            assert not test.exception
            assert not test.sidebar.button_group
            test.query_params["window"] = "custom"
            assert not test.run().sidebar.date_input
            assert test.query_params["window"] == "custom"


class TestStrangeStores:
    def test_a_name_that_is_missing_is_the_id(self, address: str, owner: Owner) -> None:
        owner.execute("alter table organizations alter column name drop not null")
        owner.execute("insert into organizations (id, name) values ('org_n', null)")
        with application(address, org="org_n") as test:
            assert "org_n," in test.run().text[0].value
            assert not test.exception

    def test_what_would_turn_the_writing_round_is_seen_in_a_name(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_r", "Acme\u202e")
        with application(address, org="org_r") as test:
            assert "Acme⟦U+202E⟧, " in test.run().text[0].value
            assert test.dataframe[0].value[["organization", "id"]].values.tolist() == [["Acme⟦U+202E⟧", "org_r"]]
            assert "Acme⟦U+202E⟧ · org_r" in test.selectbox("pick_org").options

    def test_times_are_told_in_utc_whatever_the_server_thinks(
        self, address: str, owner: Owner, store_database: str
    ) -> None:
        sample.add_organization(owner, "org_a")
        sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="r")
        owner.execute(f"alter database \"{store_database}\" set timezone = 'Pacific/Kiritimati'")
        with application(address) as test:
            strip = next(line.value for line in test.run().markdown if "as of" in line.value)
        told = datetime.strptime(strip.split("as of ")[1][:5], "%H:%M").replace(tzinfo=UTC).time()
        now = datetime.now(UTC).time()
        assert abs(told.hour * 60 + told.minute - now.hour * 60 - now.minute) in (0, 1, 1439)
        assert f"newest {(sample.TODAY - timedelta(days=1)).day} " in strip

    def test_rows_without_a_retrieval_id_are_grouped_by_session_and_query(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        for name in ("one", "two", "three"):
            sample.add_retrieval(owner, "org_a", sample.unchanged(8), name=name)
        owner.execute("alter table retrieval_ab_logs alter column retrieval_id drop not null")
        owner.execute("update retrieval_ab_logs set retrieval_id = null where session_id <> 'session-one'")
        with application(address) as test:
            assert {metric.label: metric.value for metric in test.run().metric}["Retrievals"] == "3"


class TestWithoutTheShell:
    def test_a_page_on_its_own_refuses_to_run(self, address: str, caplog: pytest.LogCaptureFixture) -> None:
        with application(address):
            alone = AppTest.from_file(settings.ROOT / "pages" / "overview.py").run()
        assert len(alone.exception) == 1
        assert len(alone.main) == 1
        assert "a page runs inside pages/shell.py" in caplog.text


class TestLocalPrincipal:
    """The shell guards itself, also when it is served without app.py."""

    @pytest.mark.parametrize("server", [None, "", "0.0.0.0", "::", "192.0.2.7", "example.invalid"])  # noqa: S104 - refused
    def test_a_port_that_others_can_reach_serves_nobody(self, server: str | None) -> None:
        with pytest.raises(access.NotAllowedError):
            access.local_principal(server)

    @pytest.mark.parametrize("server", ["127.0.0.1", "localhost", "::1"])
    def test_this_machines_user_is_admin(self, server: str) -> None:
        principal = access.local_principal(server)
        assert (principal.role, principal.orgs, principal.how) == ("admin", None, "local")
        assert principal.name.startswith("local:")

    def test_roles_contain_each_other(self) -> None:
        operator = access.Principal("o", "operator", frozenset({"org_a"}), "proxy")
        assert [operator.may(role) for role in ("viewer", "operator", "admin")] == [True, True, False]

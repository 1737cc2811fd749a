"""Feature flags, Feedback Impact and What-if behind a proxy: FLG-10, ISO-6 and 8, WEB-5, on the websocket itself."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import sample
from tests.app_server import AppServer
from tests.driver import Session
from tests.queries.flags.flag_store import WEIGHTING, audit_rows, features_text, live_and_audited
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

TOKEN = "a-token-that-only-the-proxy-knows"  # noqa: S105 - of this test alone
PAGE = "feature_flags"
KINDS = {
    "button": ("trigger_value", True),
    "button_group": ("string_array_value", ["on", "off", "absent"]),
    "multiselect": ("string_array_value", ["org_a", "CANARY-org_a-name · org_a"]),
    "text_area": ("string_value", "mine now"),
    "text_input": ("string_value", "x"),
    "number_input": ("double_value", 7.0),
    "selectbox": ("string_value", WEIGHTING),
    "download_button": ("trigger_value", True),
}

VALUES = st.one_of(
    st.just(("trigger_value", True)),
    st.tuples(st.just("bool_value"), st.booleans()),
    st.tuples(st.just("int_value"), st.integers(-(2**31), 2**31)),
    st.tuples(st.just("double_value"), st.floats()),
    st.tuples(st.just("string_value"), st.sampled_from(["on", "off", "absent", "org_b", WEIGHTING, ""]) | st.text()),
    st.tuples(
        st.just("string_array_value"), st.lists(st.sampled_from(["on", "org_a", "org_b"]) | st.text(), max_size=3)
    ),
)


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    """Two organizations whose every text is a canary, changes of both, a viewer of one and an operator of each."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org, features={f"CANARY-{org}-key": 1})
            add_weighed(owner, org, add_observed(owner, org), 2)
            owner.execute(
                """insert into rankscope.flag_changes
                     (org_id, request_id, flag, old_state, new_state, reason, actor, source)
                   values (%s, %s, %s, 'true', 'absent', %s, %s, 'test')""",
                (org, uuid.uuid5(sample.NAMESPACE, org), WEIGHTING, f"CANARY-{org}-reason", f"CANARY-{org}-actor"),
            )
        owner.execute(
            """insert into rankscope.principals (name, role, orgs) values ('vera', 'viewer', '{org_a}'),
                 ('otto', 'operator', '{org_a}'), ('olga', 'operator', '{org_b}')"""
        )
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def keeper(cluster: Cluster, database: str) -> Iterator[Owner]:
    with psycopg.connect(cluster.plain_url("postgres", database), autocommit=True) as owner:
        yield owner


@pytest.fixture(scope="module")
def server(cluster: Cluster, database: str) -> Iterator[AppServer]:
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", database),
        RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", database),
        RANKSCOPE_AUTH="proxy",
        RANKSCOPE_PROXY_TOKEN=TOKEN,
    )
    yield started
    started.stop()


def visit(server: AppServer, name: str, query: str = "", page: str = PAGE) -> Session:
    return Session(server.url, query, page, headers={"X-Forwarded-User": name, "X-Proxy-Token": TOKEN})


def shown(session: Session) -> bytes:
    """Everything the session was sent until nothing was waited for any more."""
    until = time.monotonic() + 60
    while any(element.WhichOneof("type") == "progress" for element in session.run().elements):
        assert time.monotonic() < until
    return session.received


def widgets(session: Session) -> dict[str, str]:
    """Every widget of the last run that could carry a value: id to kind."""
    found = {}
    for element in session.elements:
        kind = element.WhichOneof("type")
        if kind in KINDS:
            found[getattr(element, kind).id] = kind
    return found


class TestViewers:
    def test_a_viewer_is_offered_no_change_and_an_operator_is(self, server: AppServer) -> None:
        with visit(server, "otto", "state=on") as operator, visit(server, "vera", "state=on") as viewer:
            offered, seen = operator.run(), viewer.run()
            offered.widget("button", "Review 1 change")
            labels = {element.button.label for element in seen.elements if element.WhichOneof("type") == "button"}
            assert not [label for label in labels if "Review" in label or "Revert" in label or "Confirm" in label]
            assert b"takes the role operator" in seen.received
            assert b"CANARY-org_a-reason" in seen.received

    def test_no_message_of_a_viewer_changes_a_flag(self, server: AppServer, keeper: Owner) -> None:
        """FLG-10: the ids of the operator's own widgets, with every value that fits, sent by a viewer."""
        with visit(server, "otto", "state=on") as operator:
            stolen = widgets(operator.run())
            review = operator.widget("button", "Review 1 change").id
            stolen |= widgets(operator.run({review: ("trigger_value", True)}))
            assert "text_area" in stolen.values()
        before = features_text(keeper, "org_a"), audit_rows(keeper, "org_a")
        sent = {id_: KINDS[kind] for id_, kind in stolen.items()}
        with visit(server, "vera", "state=on") as viewer:
            viewer.run()
            for id_, value in sent.items():
                viewer.run({id_: value})
            viewer.run(sent)
            viewer.run(sent)
            assert viewer.bodies("exception") == []
        assert (features_text(keeper, "org_a"), audit_rows(keeper, "org_a")) == before

    @pytest.mark.parametrize("examples", [30, pytest.param(500, marks=pytest.mark.long)])
    def test_nor_any_message_made_of_random_ids(self, server: AppServer, keeper: Owner, examples: int) -> None:
        with visit(server, "otto", "state=on") as operator:
            stolen = list(widgets(operator.run()))
            stolen += widgets(operator.run({operator.widget("button", "Review 1 change").id: ("trigger_value", True)}))
        before = features_text(keeper, "org_a"), audit_rows(keeper, "org_a")
        with visit(server, "vera", "state=on") as viewer:
            known = list(widgets(viewer.run())) + stolen

            @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
            @given(st.dictionaries(st.sampled_from(known) | st.text(max_size=30), VALUES, min_size=1, max_size=6))
            def send(values: dict[str, tuple[str, Any]]) -> None:
                viewer.run({name: value for name, value in values.items() if name.isprintable()})

            send()
        assert (features_text(keeper, "org_a"), audit_rows(keeper, "org_a")) == before


class TestRoles:
    """WEB-5: a change that was offered, reviewed and reasoned by someone whose role ended before the confirm."""

    @pytest.mark.parametrize(
        ("change", "said", "made"),
        [
            ("update rankscope.principals set role = role where name = %s", "The flag was changed.", True),
            ("update rankscope.principals set role = 'viewer' where name = %s", "This needs the role operator", False),
            ("update rankscope.principals set orgs = '{org_b}' where name = %s", "", False),
            ("delete from rankscope.principals where name = %s", "no role has been granted", False),
        ],
        ids=["kept", "lowered", "elsewhere", "removed"],
    )
    def test_the_write_asks_for_the_role_again(
        self, server: AppServer, keeper: Owner, change: str, said: str, *, made: bool
    ) -> None:
        name = f"sam-{uuid.uuid4().hex[:8]}"
        org = sample.add_organization(keeper, f"org_{name}", "Sam's")
        keeper.execute("insert into rankscope.principals (name, role, orgs) values (%s, 'operator', %s)", (name, [org]))
        with visit(server, name, f"target={org}&state=on") as session:
            session.run({session.run().widget("button", "Review 1 change").id: ("trigger_value", True)})
            reason, confirm = session.widget("text_area", "Reason"), session.widget("button", "Confirm 1 change")
            dialog = session.fragment_of("button", "Confirm 1 change")
            keeper.execute(change, (name,))
            sent = {reason.id: ("string_value", "because"), confirm.id: ("trigger_value", True)}
            session.run(sent, fragment=dialog)
            session.run()  # what became of it is told by the run that comes after
        assert any(said in alert for alert in session.bodies("alert")) or not said
        assert audit_rows(keeper, org) == ([("absent", "on")] if made else [])
        assert live_and_audited(keeper, org)[0] == ("on" if made else "absent")


class TestIsolation:
    def test_no_byte_of_another_organization(self, server: AppServer, keeper: Owner) -> None:
        """ISO-6: after its own operator warmed every cache, by every kind of link."""
        row = keeper.execute("select id from rankscope.flag_changes where org_id = 'org_b'").fetchone()
        assert row is not None
        entry = row[0]
        with visit(server, "olga", f"change={entry}") as warm:
            assert b"CANARY-org_b-reason" in warm.run().received
        for query in ("", "org=org_b", "target=org_b", f"change={entry}", f"before={entry}", "words=CANARY", "stale=1"):
            for name in ("vera", "otto"):
                with visit(server, name, query) as session:
                    received = session.run().received
                assert b"CANARY-org_a" in received, (name, query)
                assert b"CANARY-org_b" not in received, (name, query)

    def test_nor_on_the_pages_that_read_the_log(self, server: AppServer, keeper: Owner) -> None:
        """ISO-6 for Feedback Impact and What-if: every part, list and opened thing of the other organization."""
        row = keeper.execute("select retrieval_id from retrieval_ab_logs where org_id = 'org_b' limit 1").fetchone()
        assert row is not None
        parts = ("movers", "weights", "outcomes", "measures", "left")
        impact = [f"org=org_b&part={part}&retrieval={row[0]}" for part in parts]
        impact += [f"retrieval={row[0]}", "query=CANARY", "cell=1-6", "agent=agent-1"]
        replayed = [f"org=org_b&w=off&show={show}" for show in ("flips", "worst", "fragile", "outcomes")]
        for page, queries in (("feedback_impact", impact), ("what_if", replayed)):
            for query in queries:
                with visit(server, "olga", query, page) as warm:
                    mine = shown(warm)
                if query.startswith("org=org_b&part=movers") or "show=flips" in query:
                    assert b"CANARY-org_b-content" in mine, query
                with visit(server, "vera", query, page) as session:
                    received = shown(session)
                assert b"CANARY-org_a" in received, query
                assert b"CANARY-org_b" not in received.replace(query.encode(), b""), query

    def test_an_entry_out_of_reach_and_one_that_is_not_there_look_the_same(
        self, server: AppServer, keeper: Owner
    ) -> None:
        row = keeper.execute("select id from rankscope.flag_changes where org_id = 'org_b'").fetchone()
        assert row is not None
        said = []
        for entry in (row[0], 10**9, "x", "-1", "9" * 30):
            with visit(server, "vera", f"change={entry}") as session:
                said.append(session.run().bodies("alert"))
        assert all(each == said[0] != [] for each in said)


class TestFiles:
    """ISO-8 for this page's own files; tests/controls/test_downloads.py has the link itself."""

    def test_a_file_holds_what_its_reader_may_see_and_is_gone_with_the_page(self, server: AppServer) -> None:
        with visit(server, "vera") as session:
            link = session.download(session.run().widget("download_button", "Download CSV").deferred_file_id)
            sent = {"X-Forwarded-User": "vera", "X-Proxy-Token": TOKEN}
            answer = requests.get(server.url + link, headers=sent, timeout=5)
            assert b"CANARY-org_a-reason" in answer.content
            assert b"CANARY-org_b" not in answer.content
            assert answer.headers["cache-control"] == "no-store"
            assert requests.get(server.url + link, timeout=5).status_code == 403
        until = time.monotonic() + 10
        while requests.get(server.url + link, headers=sent, timeout=5).status_code != 404:
            assert time.monotonic() < until

    def test_a_role_taken_away_ends_the_offer_on_an_open_page(self, server: AppServer, keeper: Owner) -> None:
        keeper.execute("insert into rankscope.principals (name, role, orgs) values ('rita', 'viewer', '{org_a}')")
        with visit(server, "rita") as session:
            offered = session.run().widget("download_button", "Download CSV").deferred_file_id
            assert session.download(offered).endswith(".csv")
            keeper.execute("delete from rankscope.principals where name = 'rita'")
            assert session.download(offered) == ""

    def test_no_two_files_share_a_link(self, server: AppServer) -> None:
        """Nothing is built before a click, and every drawing names the file anew."""
        names = set()
        for name in ("vera", "olga", "vera"):
            with visit(server, name) as session:
                button = session.run().widget("download_button", "Download CSV")
                assert button.url == ""
                assert button.deferred_file_id
                names.add(button.deferred_file_id)
                answer = requests.get(
                    f"{server.url}/media/{button.deferred_file_id}.csv",
                    headers={"X-Forwarded-User": name, "X-Proxy-Token": TOKEN},
                    timeout=5,
                )
                assert answer.status_code == 404
                assert answer.headers["cache-control"] == "no-store"
        assert len(names) == 3

"""The server around the pages: WEB-1 to 3, 6 and 7, ISO-6 and REC-7 of the bar."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import psutil
import psycopg
import pytest
import requests
from websockets.exceptions import InvalidStatus

from tests import sample
from tests.app_server import AppServer, free_port
from tests.driver import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Cluster

    Serve = Callable[..., AppServer]

TOKEN = "canary-proxy-token-5f0c"  # noqa: S105 - a canary, to be found nowhere
SECRET = "canary-password-91aa"  # noqa: S105 - same
ORGS = ("org_a", "org_b")


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    """Two organizations whose every text is a canary, and who may see which."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        for org in ORGS:
            sample.add_organization(owner, org)
            sample.add_observations(owner, org, 3)
            sample.add_session(owner, org, "session-r1")
            sample.add_retrieval(owner, org, sample.swapped(8, 4, 5), name="r1")
        owner.execute(
            """insert into rankscope.principals (name, role, orgs) values
                 ('vera', 'viewer', '{org_a}'), ('omar', 'operator', '{org_b}'), ('ada', 'admin', null),
                 ('nora', 'viewer', '{}'), ('rita', 'viewer', '{org_a}')"""
        )
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def address(cluster: Cluster, database: str) -> str:
    return cluster.plain_url("dash_read", database)


@pytest.fixture(scope="module")
def proxied(address: str) -> Iterator[AppServer]:
    server = AppServer(DATABASE_URL=address, RANKSCOPE_AUTH="proxy", RANKSCOPE_PROXY_TOKEN=TOKEN)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def local(address: str) -> Iterator[AppServer]:
    server = AppServer(DATABASE_URL=address)
    yield server
    server.stop()


def as_user(name: str, token: str = TOKEN) -> dict[str, str]:
    return {"X-Forwarded-User": name, "X-Proxy-Token": token}


def canaries(org: str) -> list[bytes]:
    """What no byte sent to someone without that organization may hold; its id stands in the address they typed."""
    return [f"CANARY-{org}".encode(), f"· {org}".encode()]


class TestIsolation:
    """ISO-6, on every byte of the websocket."""

    def test_a_viewer_sees_one_organization_whatever_the_link_says(self, proxied: AppServer) -> None:
        with Session(proxied.url, headers=as_user("omar")) as warm:
            assert canaries("org_b")[0] in warm.run().received
        for query in ("", "org=org_a", "org=org_b", "org=org_b&project=api", "org=org_b&window=90d", "org=%25", "org="):
            for page in ("", "overview", "no-such-page"):
                with Session(proxied.url, query=query, page=page, headers=as_user("vera")) as session:
                    received = session.run().received
                assert canaries("org_a")[0] in received
                assert not [canary for canary in canaries("org_b") if canary in received], (query, page)

    @pytest.mark.parametrize("value", ["org_b", "CANARY-org_b-name · org_b"])
    def test_a_message_made_by_hand_reaches_no_further(self, proxied: AppServer, value: str) -> None:
        """The list offers a viewer one organization; the message names another all the same."""
        with Session(proxied.url, headers=as_user("vera")) as session:
            session.run()
            box = session.widget("selectbox", "Organization")
            before = len(session.received)
            session.run({box.id: ("string_value", value)})
            shown = session.received[before:]
        assert b"CANARY-org_b-project" not in shown
        assert b"CANARY-org_b-query" not in shown
        assert not [text for text in session.bodies("text") if "CANARY-org_b-name," in text]

    def test_an_admin_sees_both(self, proxied: AppServer) -> None:
        with Session(proxied.url, headers=as_user("ada")) as session:
            received = session.run().received
        assert all(canaries(org)[0] in received for org in ORGS)

    def test_a_link_out_of_reach_says_the_same_as_one_to_nowhere(self, proxied: AppServer) -> None:
        said = []
        for org in ("org_b", "org_zzz"):
            with Session(proxied.url, query=f"org={org}", headers=as_user("vera")) as session:
                said.append(session.run().bodies("alert"))
        assert said[0] == said[1] != []

    def test_a_revoked_role_ends_with_the_next_page(self, proxied: AppServer, cluster: Cluster, database: str) -> None:
        with Session(proxied.url, headers=as_user("rita")) as session:
            assert canaries("org_a")[0] in session.run().received
            cluster.run("delete from rankscope.principals where name = 'rita'", database)
            before = len(session.received)
            session.run()
            assert canaries("org_a")[0] not in session.received[before:]
            assert "no role has been granted" in session.bodies("alert")[0]


class TestWhoIsAsking:
    """WEB-3: a name counts only with the proxy's token."""

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"X-Forwarded-User": "ada"},
            {"X-User": "ada", "X-Proxy-Token": TOKEN},
            as_user("ada", token="wrong"),  # noqa: S106 - the point
            as_user("ada", token=TOKEN[:-1]),
            as_user(""),
            as_user("stranger"),
        ],
    )
    def test_anyone_else_is_refused_and_sees_nothing(self, proxied: AppServer, headers: dict[str, str]) -> None:
        with Session(proxied.url, headers=headers) as session:
            session.run()
        assert len(session.bodies("alert")) == 1
        assert not [canary for org in ORGS for canary in canaries(org) if canary in session.received]

    @pytest.mark.parametrize(
        "doubled",
        [
            [("X-Forwarded-User", "ada"), ("X-Forwarded-User", "vera"), ("X-Proxy-Token", TOKEN)],
            [("X-Forwarded-User", "ada"), ("X-Proxy-Token", "x"), ("X-Proxy-Token", TOKEN)],
        ],
    )
    def test_a_header_sent_twice_counts_for_nothing(self, proxied: AppServer, doubled: list[tuple[str, str]]) -> None:
        """A proxy that adds to what a visitor sent, instead of replacing it, would let the visitor choose."""
        with Session(proxied.url, headers=doubled) as session:
            session.run()
        assert len(session.bodies("alert")) == 1
        assert not [canary for org in ORGS for canary in canaries(org) if canary in session.received]

    def test_a_role_without_organizations_sees_none(self, proxied: AppServer) -> None:
        with Session(proxied.url, headers=as_user("nora")) as session:
            session.run()
        assert "No organization can be seen here" in session.bodies("alert")[0]
        assert not [canary for org in ORGS for canary in canaries(org) if canary in session.received]

    def test_downloads_need_the_token_too(self, proxied: AppServer) -> None:
        assert requests.get(f"{proxied.url}/media/x.csv", timeout=5).status_code == 403
        assert requests.get(f"{proxied.url}/any/base/path/media/x.csv", timeout=5).status_code == 403
        assert requests.get(f"{proxied.url}/media/x.csv", headers=as_user("ada"), timeout=5).status_code == 404


class TestAddress:
    """WEB-1: reached from this machine alone, unless someone says who may come in."""

    def test_the_default_listens_on_loopback_alone(self, local: AppServer) -> None:
        process = psutil.Process(local.process.pid)
        listening = {c.laddr.ip for c in process.net_connections() if c.status == psutil.CONN_LISTEN}
        assert listening == {"127.0.0.1"}

    @pytest.mark.parametrize("address", ["0.0.0.0", "::"])  # noqa: S104 - what is refused
    def test_local_mode_refuses_any_other_address(self, serve: Serve, address: str) -> None:
        server = serve(wait=False, arguments=("--server.address", address), DATABASE_URL="postgresql://127.0.0.1:1/x")
        assert server.process.wait(30) != 0
        assert "refusing to listen on" in server.output()
        assert "Traceback" not in server.output()

    def test_proxy_mode_without_a_token_refuses_to_start(self, serve: Serve) -> None:
        """WEB-7: there is no default secret to fall back on."""
        for token in ("", "short"):
            server = serve(wait=False, RANKSCOPE_AUTH="proxy", RANKSCOPE_PROXY_TOKEN=token)
            assert server.process.wait(30) != 0
            assert "RANKSCOPE_PROXY_TOKEN" in server.output()
            assert "Traceback" not in server.output()


class TestHeaders:
    """WEB-2."""

    def test_every_response_carries_them_and_no_other_host_or_origin_is_served(self, local: AppServer) -> None:
        server = local
        for path in (
            "/",
            "/overview",
            "/healthz",
            "/readyz",
            "/_stcore/health",
            "/_stcore/host-config",
            "/media/none",
            "/nowhere.js",
        ):
            response = requests.get(server.url + path, timeout=5)
            assert "frame-ancestors 'none'" in response.headers["content-security-policy"], path
            assert "unsafe-inline" not in response.headers["content-security-policy"].split("style-src")[0], path
            assert response.headers["x-frame-options"] == "DENY", path
            assert response.headers["x-content-type-options"] == "nosniff", path
            assert response.headers["referrer-policy"] == "no-referrer", path
            for host in ("evil.example", "[", "evil@localhost", "localhost.evil.example", ""):
                other = requests.get(server.url + path, headers={"Host": host}, timeout=5)
                # health is asked for by any name; an empty host is refused by the server before us
                assert other.status_code in ((200,) if path in ("/healthz", "/readyz") else (400, 403)), (path, host)
                assert other.status_code == 400 or "content-security-policy" in other.headers, (path, host)
        assert requests.get(f"{server.url}/media/none", timeout=5).headers["cache-control"] == "no-store"
        assert requests.get(f"{server.url}/readyz", timeout=5).json()["ready"] is True
        for origin in ("http://evil.example", "null"):
            with pytest.raises(InvalidStatus) as refused:
                Session(server.url, origin=origin)
            assert refused.value.response.status_code == 403


class TestSecrets:
    def test_no_secret_and_no_tenant_text_is_logged_or_shown(self, serve: Serve, address: str) -> None:
        """WEB-6: over ordinary pages, refused visits, and a store that cannot be reached."""
        good = address.replace("dash_read@", f"dash_read:{SECRET}@")
        spoken = ""
        for url in (good, f"postgresql://someone:{SECRET}@127.0.0.1:{free_port()}/private_name"):
            server = serve(DATABASE_URL=url, RANKSCOPE_AUTH="proxy", RANKSCOPE_PROXY_TOKEN=TOKEN)
            for headers in (as_user("vera"), as_user("ada"), {"X-Forwarded-User": "ada"}):
                with Session(server.url, query="org=org_a", headers=headers) as session:
                    received = session.run().received
                assert SECRET.encode() not in received
                assert TOKEN.encode() not in received
            requests.get(f"{server.url}/readyz", timeout=5)
            spoken += server.output() + " ".join(psutil.Process(server.process.pid).cmdline())
        assert "page name=Overview" in spoken
        for secret in (SECRET, TOKEN, "CANARY", "private_name", "vera"):
            assert secret not in spoken


class TestBadAddress:
    """The app starts whatever is wrong with the store, and says in one sentence what to do."""

    @pytest.mark.parametrize(
        ("url", "expected"),
        [("postgresql://u:p@127.0.0.1:1/x", "cannot be reached"), ("this is no url", "address cannot be read")],
    )
    def test_the_app_starts_and_says_what_is_wrong(self, serve: Serve, url: str, expected: str) -> None:
        server = serve(DATABASE_URL=url)
        with Session(server.url) as session:
            session.run()
        assert expected in session.bodies("alert")[0]
        assert session.bodies("exception") == []
        assert "Traceback" not in server.output()
        assert requests.get(f"{server.url}/readyz", timeout=10).status_code == 503


def test_a_busy_port_is_named(serve: Serve) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = serve(wait=False, port=taken.getsockname()[1], DATABASE_URL="postgresql://127.0.0.1:1/x")
        assert server.process.wait(30) != 0
        assert str(server.port) in server.output()

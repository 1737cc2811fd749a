"""Signing in through an OpenID Connect provider, in a real browser, and what becomes of cookies that lie."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal

import psycopg
import pytest
import requests
from joserfc.jwk import RSAKey
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string

from tests import sample
from tests.app_server import AppServer, free_port
from tests.browser.axe import look_at
from tests.driver import Session
from tests.oidc_provider import SECRET, Provider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from tests.browser.conftest import Visit
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

COOKIE_SECRET = "canary-cookie-secret-of-thirty-two-characters"  # noqa: S105 - a canary
VERA = {"sub": "1", "email": "vera@example.invalid", "email_verified": True}
USER = "_streamlit_user"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    started = Provider()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def planted(cluster: Cluster, template: str) -> Iterator[str]:
    """Two organizations; Vera may see one of them."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        for org, title in (("org_a", "Acme"), ("org_b", "Birch")):
            sample.add_organization(owner, org, title)
            sample.add_retrieval(owner, org, sample.unchanged(8), name="one")
    yield name
    cluster.drop(name)


@pytest.fixture
def owner(cluster: Cluster, planted: str) -> Iterator[Owner]:
    """The owner of the store, in which Vera has her role again after each test."""
    with psycopg.connect(cluster.plain_url("postgres", planted), autocommit=True) as connection:
        connection.execute("delete from rankscope.principals")
        connection.execute(
            "insert into rankscope.principals (name, role, orgs) values (%s, 'viewer', '{org_a}')", (VERA["email"],)
        )
        yield connection


@pytest.fixture(scope="module")
def server(cluster: Cluster, planted: str, provider: Provider) -> Iterator[AppServer]:
    port = free_port()
    environment: dict[str, Any] = provider.settings(port, COOKIE_SECRET)
    environment["DATABASE_URL"] = cluster.plain_url("dash_read", planted)
    environment["RANKSCOPE_WRITE_URL"] = cluster.plain_url("dash_write", planted)
    started = AppServer(port=port, **environment)
    yield started
    started.stop()


def sign_in(visit: Visit, server: AppServer, path: str = "") -> Page:
    page = visit.open(server.url + path)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Continue").click()
    page.wait_for_url(re.compile(re.escape(server.url)))
    return visit.settled()


@pytest.mark.usefixtures("owner")
def test_sign_in_see_ones_own_and_sign_out(visit: Visit, server: AppServer, provider: Provider) -> None:
    provider.claims = dict(VERA)
    page = sign_in(visit, server, "/health?org=org_a&part=runs")
    expect(page.get_by_text("vera@example.invalid, viewer")).to_be_visible()
    # one arrives where the link led
    expect(page).to_have_url(f"{server.url}/health?org=org_a&part=runs")
    asked = provider.asked[-1]
    assert asked["code_challenge_method"] == "S256"
    assert asked["state"] and asked["nonce"] and asked["response_type"] == "code"  # noqa: PT018 - one request
    shown = page.content()
    assert "Birch" not in shown
    kept = page.context.cookies()
    assert {cookie["httpOnly"] for cookie in kept if cookie["name"].startswith(USER)} == {True}
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert len(provider.ended) == 1
    assert not [cookie for cookie in page.context.cookies() if cookie["name"] == USER]
    # whoever kept a copy of the cookie is signed out as well
    page.context.add_cookies(kept)  # type: ignore[arg-type]
    page.goto(server.url)
    expect(page.get_by_text("You signed out")).to_be_visible()
    copy = {each["name"]: each["value"] for each in kept}
    assert requests.get(f"{server.url}/media/0123456789abcdef.csv", cookies=copy, timeout=10).status_code == 403
    assert COOKIE_SECRET not in server.output()
    assert SECRET not in server.output()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.usefixtures("owner")
def test_whoever_is_not_signed_in_can_read_how(
    visit: Visit, server: AppServer, theme: Literal["light", "dark"]
) -> None:
    visit.page.emulate_media(color_scheme=theme)
    visit.open(server.url).get_by_role("button", name="Sign in").wait_for()
    visit.page.wait_for_timeout(1000)  # what fades in is pale until then
    assert look_at(visit.page) == []


@pytest.mark.long
@pytest.mark.usefixtures("owner")
def test_eight_hours_after_signing_in_one_signs_in_again(visit: Visit, server: AppServer, provider: Provider) -> None:
    provider.claims, provider.age = dict(VERA), 8 * 3600 - 20
    page = sign_in(visit, server)
    provider.age = 0
    expect(page.get_by_text("vera@example.invalid, viewer")).to_be_visible()
    left = provider.issued + 8 * 3600 - time.time()
    page.wait_for_timeout(max(left, 0) * 1000 + 500)
    page.get_by_role("link", name="Health").click()
    expect(page.get_by_text("You signed in too long ago")).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
    provider.claims = dict(VERA)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Continue").click()
    expect(page.get_by_text("vera@example.invalid, viewer")).to_be_visible()


@pytest.mark.long
@pytest.mark.usefixtures("owner")
def test_a_token_signed_with_another_key_signs_nobody_in(visit: Visit, server: AppServer, provider: Provider) -> None:
    provider.claims = dict(VERA)
    provider.signs_with = RSAKey.generate_key(2048)
    try:
        page = sign_in(visit, server)
    finally:
        provider.signs_with = provider.key
    expect(page.get_by_text("Sign in to go on")).to_be_visible()


def cookie(server: AppServer, secret: str = COOKIE_SECRET, **claims: Any) -> str:  # noqa: ANN401 - of any kind
    """What Streamlit's sign-in would leave in a browser."""
    now = int(time.time())
    told = {**VERA, "iss": "x", "iat": now, "exp": now + 3600, "origin": server.url, "is_logged_in": True, **claims}
    return create_signed_value(secret, USER, json.dumps(told)).decode()


def session_number(session: Session) -> str:
    """What the server calls a session, as it told its browser."""
    for raw in session.frames:
        message = ForwardMsg()
        message.ParseFromString(raw)
        if message.WhichOneof("type") == "new_session":
            return str(message.new_session.initialize.session_id)
    raise LookupError("no new_session message")


def seen(server: AppServer, value: str | None, number: str | None = None) -> Session:
    """The first page of a visitor who brings a cookie, and perhaps the number of a session."""
    token = generate_xsrf_token_string()
    brought = f"_streamlit_xsrf={token}" + ("" if value is None else f"; {USER}={value}")
    tokens = (token,) if number is None else (token, number)
    with Session(server.url, headers={"Cookie": brought}, tokens=tokens) as session:
        return session.run()


class TestCookies:
    """WEB-4."""

    @pytest.mark.usefixtures("owner")
    def test_a_good_cookie_is_whom_it_names(self, server: AppServer) -> None:
        session = seen(server, cookie(server))
        assert "vera@example.invalid, viewer" in session.bodies("text")
        assert b"Birch" not in session.received

    @pytest.mark.usefixtures("owner")
    @pytest.mark.parametrize(
        ("claims", "sentence"),
        [
            ({"exp": 1}, "too long ago"),
            ({"iat": int(time.time()) - 8 * 3600 - 1}, "too long ago"),
            ({"iat": None}, "did not say when"),
            ({"iat": int(time.time()) + 86_400, "exp": int(time.time()) + 90_000}, "did not say when"),
            ({"exp": "9999999999"}, "did not say when"),
            ({"email_verified": False}, "has not verified"),
            ({"email_verified": "true"}, "has not verified"),
            ({"email": ""}, "did not send your name"),
            ({"email": ["vera@example.invalid"]}, "did not send your name"),
            ({"is_logged_in": False}, "Sign in to go on"),
            ({"origin": "http://elsewhere.invalid"}, "Sign in to go on"),
            ({"email": "stranger@example.invalid"}, "no role has been granted"),
            ({"email": "stranger@example.invalid", "role": "admin", "groups": ["admin"]}, "no role has been granted"),
        ],
        ids=["expired", "old", "no time", "future", "time as text", "unverified", "verified as text", "no name",
             "names", "signed out", "other origin", "no role", "role in the token"],
    )  # fmt: skip
    def test_claims_that_name_nobody(self, server: AppServer, claims: dict[str, Any], sentence: str) -> None:
        session = seen(server, cookie(server, **claims))
        assert any(sentence in alert for alert in session.bodies("alert"))
        assert b"Acme" not in session.received

    @pytest.mark.usefixtures("owner")
    @pytest.mark.long
    def test_a_token_that_ends_while_the_page_is_open_ends_with_the_next_action(self, server: AppServer) -> None:
        """Streamlit reads the claims when the browser connects, and would believe them for as long as it stays."""
        token, ends = generate_xsrf_token_string(), int(time.time()) + 4
        brought = f"_streamlit_xsrf={token}; {USER}={cookie(server, exp=ends)}"
        with Session(server.url, headers={"Cookie": brought}, tokens=(token,)) as session:
            assert "vera@example.invalid, viewer" in session.run().bodies("text")
            time.sleep(max(ends - time.time(), 0) + 0.1)
            before = len(session.received)
            assert any("too long ago" in alert for alert in session.run().bodies("alert"))
            assert b"Acme" not in session.received[before:]

    def test_a_cookie_that_is_forged_or_missing(self, server: AppServer) -> None:
        good = cookie(server)
        forged = [
            None,
            "",
            "x",
            good[:-2],
            good[:-2] + "AA",
            cookie(server, COOKIE_SECRET[::-1]),
        ]
        for value in forged:
            session = seen(server, value)
            assert any("Sign in to go on" in alert for alert in session.bodies("alert")), value
            assert b"Acme" not in session.received

    @pytest.mark.usefixtures("owner")
    def test_the_number_of_anothers_session_opens_nothing(self, server: AppServer) -> None:
        """A browser that was cut off names its session when it comes back; so could someone who read the number."""
        first = seen(server, cookie(server))
        number = session_number(first)
        for value in (None, cookie(server, email="stranger@example.invalid")):
            again = seen(server, value, number)
            assert not any("vera" in line for line in again.bodies("text"))
            assert b"Acme" not in again.received

    def test_a_download_needs_a_good_cookie(self, server: AppServer) -> None:
        """404: the file does not exist, but the way to it is open; 403: it is not."""
        address = f"{server.url}/media/0123456789abcdef.csv"
        good, bad = cookie(server), cookie(server, exp=1)
        assert requests.get(address, cookies={USER: good}, timeout=10).status_code == 404
        for cookies in ({}, {USER: bad}, {USER: good[:-2]}):
            assert requests.get(address, cookies=cookies, timeout=10).status_code == 403


class TestRoles:
    """WEB-5."""

    def test_a_role_taken_away_ends_with_the_next_page(self, server: AppServer, owner: Owner) -> None:
        token = generate_xsrf_token_string()
        brought = f"_streamlit_xsrf={token}; {USER}={cookie(server)}"
        with Session(server.url, headers={"Cookie": brought}, tokens=(token,)) as session:
            assert "vera@example.invalid, viewer" in session.run().bodies("text")
            owner.execute("delete from rankscope.principals")
            assert any("no role has been granted" in alert for alert in session.run().bodies("alert"))

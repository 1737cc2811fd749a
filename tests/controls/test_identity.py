"""Whom a sign-in names and for how long; what a cookie has to be to be read; roles from the store alone."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string

from controls import access
from controls.access import NotAllowedError, NotSignedInError, oidc_principal
from controls.identity import NotNamedError, SecureCookies, SignIns, browser_of, cookie_claims, is_signed_in, named_by

if TYPE_CHECKING:
    from queries.principals import Role

NOW = 1_800_000_000.0
HOUR = 3600
USER = "_streamlit_user"
CLAIMS: dict[str, Any] = {
    "is_logged_in": True, "iss": "https://id", "sub": "7", "email": "vera@example.invalid", "email_verified": True,
    "iat": NOW, "exp": NOW + 24 * HOUR,
}  # fmt: skip


class TestAge:
    def test_eight_hours_to_the_second(self) -> None:
        assert named_by(CLAIMS, "email", NOW + 8 * HOUR - 1).name == "vera@example.invalid"
        with pytest.raises(NotNamedError, match="too long ago"):
            named_by(CLAIMS, "email", NOW + 8 * HOUR)

    def test_a_token_that_ends_sooner_ends_sooner(self) -> None:
        short = CLAIMS | {"exp": NOW + HOUR}
        assert named_by(short, "email", NOW + HOUR - 1).until == NOW + HOUR
        with pytest.raises(NotNamedError, match="too long ago"):
            named_by(short, "email", NOW + HOUR)

    def test_a_clock_that_is_a_little_ahead_is_forgiven_and_a_day_is_not(self) -> None:
        assert named_by(CLAIMS, "email", NOW - 100).name
        with pytest.raises(NotNamedError, match="did not say when"):
            named_by(CLAIMS, "email", NOW - 24 * HOUR)

    @pytest.mark.parametrize("value", [None, "1800000000", True, [1]], ids=["none", "text", "true", "list"])
    @pytest.mark.parametrize("claim", ["iat", "exp"])
    def test_a_time_is_a_number(self, claim: str, value: object) -> None:
        with pytest.raises(NotNamedError, match="did not say when"):
            named_by(CLAIMS | {claim: value}, "email", NOW)


class TestNames:
    def test_an_address_counts_only_if_it_is_verified(self) -> None:
        for said in (False, None, "true", 1):
            with pytest.raises(NotNamedError, match="not verified"):
                named_by(CLAIMS | {"email_verified": said}, "email", NOW)
        assert named_by(CLAIMS | {"email_verified": False}, "sub", NOW).name == "7"

    @pytest.mark.parametrize("value", ["", "  ", None, 7, ["vera"]], ids=["none", "blank", "null", "number", "list"])
    def test_a_name_is_a_text(self, value: object) -> None:
        with pytest.raises(NotNamedError, match="did not send your name"):
            named_by(CLAIMS | {"email": value}, "email", NOW)

    def test_each_sign_in_is_told_from_every_other(self) -> None:
        one = named_by(CLAIMS, "email", NOW)
        assert one.token == named_by(CLAIMS | {"name": "Vera"}, "email", NOW).token
        for other in ({"iat": NOW + 1}, {"sub": "8"}, {"nonce": "x"}, {"iss": "https://other"}):
            assert named_by(CLAIMS | other, "email", NOW + 1).token != one.token


class TestCookies:
    def signed(self, value: str, name: str = USER, secret: str | None = None) -> str:
        return create_signed_value(secret or get_cookie_secret(), name, value).decode()

    def test_only_what_this_server_signed_for_this_purpose_is_read(self) -> None:
        told = json.dumps(CLAIMS)
        assert cookie_claims({USER: self.signed(told)}) == CLAIMS
        for value in (
            "",
            "x",
            told,
            self.signed(told)[:-1],
            self.signed(told, "other"),
            self.signed(told, secret="x" * 32),
        ):
            assert cookie_claims({USER: value}) == {}
        assert cookie_claims({}) == {}

    @pytest.mark.parametrize("value", ["", "[1]", "null", "{", "chunks-2", "chunks-99999"])
    def test_what_is_signed_and_holds_no_claims_names_nobody(self, value: str) -> None:
        assert cookie_claims({USER: self.signed(value)}) == {}
        assert not is_signed_in({USER: self.signed(value)}, "email")


def test_every_cookie_is_for_https_alone() -> None:
    """Through the middleware, from a response with two cookies of which one is marked already."""
    sent: list[Any] = []
    headers = [(b"content-type", b"text/plain"), (b"set-cookie", b"a=1; HttpOnly"), (b"Set-Cookie", b"b=2; Secure")]

    async def answer(_scope: object, _receive: object, send: Any) -> None:  # noqa: ANN401 - an ASGI callable
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})

    async def receive() -> dict[str, str]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:  # noqa: ANN401 - an ASGI message
        sent.append(message)

    # a browser that another test left open has a loop in this thread
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, SecureCookies(answer)({"type": "http"}, receive, send)).result()
    assert [value for _, value in sent[0]["headers"]] == [b"text/plain", b"a=1; HttpOnly; Secure", b"b=2; Secure"]
    assert sent[1]["body"] == b"ok"


class TestRemembered:
    def test_what_is_over_is_forgotten(self) -> None:
        kept = SignIns()
        kept.end(named_by(CLAIMS, "email", NOW), NOW)
        later = named_by(CLAIMS | {"iat": NOW + 9 * HOUR}, "email", NOW + 9 * HOUR)
        kept.end(later, NOW + 9 * HOUR)
        assert list(kept.ended) == [later.token]

    def test_where_a_browser_wanted_to_go_is_told_once_and_soon(self) -> None:
        kept = SignIns()
        kept.want("one", "health.py", "org=a", NOW)
        assert kept.came_for("other", NOW) is None
        assert kept.came_for("one", NOW + 599) == ("health.py", "org=a")
        assert kept.came_for("one", NOW + 599) is None
        kept.want("one", "health.py", "org=a", NOW)
        assert kept.came_for("one", NOW + 600) is None

    def test_a_browser_is_known_again_by_its_token_and_not_by_its_mask(self) -> None:
        one = generate_xsrf_token_string(b"0123456789abcdef")
        again, other = generate_xsrf_token_string(b"0123456789abcdef"), generate_xsrf_token_string()
        assert one != again
        assert browser_of({"_streamlit_xsrf": one}) == browser_of({"_streamlit_xsrf": again})
        assert browser_of({"_streamlit_xsrf": one}) != browser_of({"_streamlit_xsrf": other})
        assert browser_of({}) is browser_of({"_streamlit_xsrf": "2|x"}) is None

    def test_of_very_many_the_latest_are_kept(self) -> None:
        kept = SignIns()
        for number in range(1_200):
            kept.want(str(number), "health.py", "", NOW)
        assert (len(kept.wanted), kept.came_for("0", NOW)) == (1_000, None)
        assert kept.came_for("1199", NOW) == ("health.py", "")


class TestPrincipals:
    @pytest.fixture
    def ended(self) -> SignIns:
        return SignIns()

    @pytest.fixture
    def granted(
        self, monkeypatch: pytest.MonkeyPatch, ended: SignIns
    ) -> dict[str, tuple[Role, tuple[str, ...] | None]]:
        roles: dict[str, tuple[Role, tuple[str, ...] | None]] = {"vera@example.invalid": ("viewer", ("org_a",))}
        monkeypatch.setattr(access, "stored_role", roles.get)
        monkeypatch.setattr(access, "sign_ins", lambda: ended)
        return roles

    def test_role_and_organizations_are_those_of_the_store(self, granted: dict[str, Any]) -> None:
        found = oidc_principal(CLAIMS | {"role": "admin", "orgs": ["org_b"], "groups": ["admin"]}, "email", NOW)
        assert (found.name, found.role, found.orgs, found.how) == (
            "vera@example.invalid", "viewer", frozenset({"org_a"}), "oidc",
        )  # fmt: skip
        del granted["vera@example.invalid"]
        with pytest.raises(NotAllowedError, match="no role has been granted"):
            oidc_principal(CLAIMS, "email", NOW)

    @pytest.mark.usefixtures("granted")
    def test_whoever_is_not_named_can_sign_in(self) -> None:
        for claims in ({}, CLAIMS | {"is_logged_in": "yes"}, CLAIMS | {"exp": NOW - 1}):
            with pytest.raises(NotSignedInError):
                oidc_principal(claims, "email", NOW)

    @pytest.mark.usefixtures("granted")
    def test_a_sign_in_that_was_ended_stays_ended(self, ended: SignIns) -> None:
        ended.end(named_by(CLAIMS, "email", NOW), NOW)
        with pytest.raises(NotSignedInError, match="You signed out"):
            oidc_principal(CLAIMS, "email", NOW + 60)
        assert oidc_principal(CLAIMS | {"iat": NOW + 30}, "email", NOW + 60).role == "viewer"

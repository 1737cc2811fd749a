"""Who the claims of an identity token name, and for how long that is believed; no Streamlit page is needed to ask."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value, decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME, XSRF_COOKIE_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST = 8 * 3600.0  # seconds since the token was issued; Streamlit's own cookie would last 30 days
PATIENCE = 600.0  # seconds that signing in at the provider may take before one arrives at the first page instead
MOST_WANTED = 1_000
SKEW = 120.0  # seconds by which a provider's clock may be ahead of ours


class NotNamedError(Exception):
    """Claims that name nobody, or nobody any longer, in one sentence."""


@dataclass
class SignIns:
    """What a process remembers: sign-ins ended before their time, and where a browser wanted to go as it began one."""

    ended: dict[str, float] = field(default_factory=dict)
    wanted: dict[str, tuple[float, str, str]] = field(default_factory=dict)

    def end(self, found: Identity, now: float) -> None:
        """Believe a sign-in no longer; what would be over by now is forgotten."""
        self.ended[found.token] = found.until
        for token in [token for token, until in list(self.ended.items()) if until < now]:
            self.ended.pop(token, None)

    def want(self, browser: str, script: str, query: str, now: float) -> None:
        """Remember for a few minutes where a browser wanted to go; of very many, the latest."""
        self.wanted[browser] = (now, script, query)
        for old in list(self.wanted)[:-MOST_WANTED]:
            self.wanted.pop(old, None)

    def came_for(self, browser: str, now: float) -> tuple[str, str] | None:
        """Script and query that a browser wanted, told once."""
        at, script, query = self.wanted.pop(browser, (0.0, "", ""))
        return (script, query) if now - at < PATIENCE else None


@cache
def sign_ins() -> SignIns:
    """What this process remembers about sign-ins; not one of Streamlit's caches, which are there to be emptied."""
    return SignIns()


@dataclass(frozen=True)
class Identity:
    """A name, until when it is believed (seconds since 1970), and what tells this sign-in from every other."""

    name: str
    until: float
    token: str


def named_by(claims: Mapping[str, object], claim: str, now: float) -> Identity:
    """Whom the claims name at a moment, or ``NotNamedError``.

    Streamlit checks neither when a token was issued nor when it expires: both are checked here, on every run. An e-mail
    address counts only if the provider says that it was verified; anyone could enter another's.
    """
    if claims.get("is_logged_in") is not True:
        raise NotNamedError("Sign in to go on.")
    issued, expires = _moment(claims, "iat"), _moment(claims, "exp")
    if issued is None or expires is None or issued > now + SKEW:
        raise NotNamedError("The identity provider did not say when you signed in. Sign in again.")
    until = min(expires, issued + LONGEST)
    if now >= until:
        raise NotNamedError("You signed in too long ago. Sign in again to go on.")
    name = claims.get(claim)
    if not isinstance(name, str) or not name.strip():
        raise NotNamedError("The identity provider did not send your name. Ask whoever runs Rankscope.")
    if claim == "email" and claims.get("email_verified") is not True:
        raise NotNamedError("The identity provider has not verified your e-mail address. Verify it and sign in again.")
    told = json.dumps([claims.get(part) for part in ("iss", "sub", "iat", "nonce", "jti")], default=str)
    return Identity(name, until, hashlib.sha256(told.encode()).hexdigest())


def _moment(claims: Mapping[str, object], claim: str) -> float | None:
    found = claims.get(claim)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def browser_of(cookies: Mapping[str, str]) -> str | None:
    """What tells a browser from others while it is away at the provider: its XSRF token, however that is masked."""
    token, _ = decode_xsrf_token_string(cookies.get(XSRF_COOKIE_NAME, ""))
    return None if token is None else token.hex()


def is_signed_in(cookies: Mapping[str, str], claim: str) -> bool:
    """Whether a request's cookies name someone who has not signed out; not whether that name was granted anything."""
    try:
        return named_by(cookie_claims(cookies), claim, time.time()).token not in sign_ins().ended
    except NotNamedError:
        return False


def cookie_claims(cookies: Mapping[str, str]) -> Mapping[str, object]:
    """The claims of a request's signed cookie; none where it is missing, forged, cut, or signed with another key."""

    def verified(name: str) -> bytes | None:
        value = cookies.get(name)
        return None if value is None else decode_signed_value(get_cookie_secret(), name, value.encode("latin-1"))

    try:
        found = json.loads(get_cookie_with_chunks(verified, USER_COOKIE_NAME) or b"{}")
    except (ValueError, UnicodeError):
        return {}
    return found if isinstance(found, dict) else {}


class SecureCookies:
    """Marks every cookie for https alone; Streamlit leaves that out, not knowing what stands in front of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with its cookies marked as its response starts."""

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [(name, _secure(name, value)) for name, value in message.get("headers", ())]
            await send(message)

        await self.app(scope, receive, send_marked)


def _secure(name: bytes, value: bytes) -> bytes:
    marked = b"; secure" in value.lower()
    return value + b"; Secure" if name.lower() == b"set-cookie" and not marked else value

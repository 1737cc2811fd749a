"""Who is asking, and what they may do. Nobody may do anything until a mode below says otherwise."""

from __future__ import annotations

import hmac
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

import settings
from controls.identity import NotNamedError, browser_of, named_by, sign_ins
from controls.loading import store
from queries.engine import LIST
from queries.principals import ROLES, principal_row
from queries.scope import NOTHING, Reach, is_storable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from queries.principals import Role


class NotAllowedError(Exception):
    """Whoever asks may not do this; the sentence says what would let them."""


class NotSignedInError(NotAllowedError):
    """Nobody is signed in, or no longer: signing in would help."""


@dataclass(frozen=True)
class Principal:
    """Who is asking, in which role, for which organizations (``None``: every one), and how that is known."""

    name: str
    role: Role
    orgs: frozenset[str] | None
    how: str

    @property
    def reach(self) -> Reach:
        """The organizations this principal's queries can see."""
        return NOTHING if self.orgs == frozenset() else Reach.of(self.orgs)

    def may(self, role: Role) -> bool:
        """Whether this principal has at least ``role``."""
        return ROLES.index(self.role) >= ROLES.index(role)


def current_principal() -> Principal:
    """The principal of this browser session, or ``NotAllowedError``."""
    chosen = settings.current()
    if chosen.oidc is not None:
        return oidc_principal(st.user.to_dict(), chosen.oidc.claim, time.time())
    if chosen.auth == "proxy":
        headers = st.context.headers
        return proxy_principal(
            headers.get_all(chosen.proxy_user_header),
            headers.get_all(settings.PROXY_TOKEN_HEADER),
            chosen.proxy_token or "",
        )
    return local_principal(st.get_option("server.address"))


def require(role: Role, org: str) -> Principal:
    """The principal, if it may act on an organization in at least this role; asked of the store anew on every call."""
    principal = current_principal()
    if not principal.may(role) or not principal.reach.allows(org):
        raise NotAllowedError(f"This needs the role {role} for the organization. Ask an administrator for it.")
    return principal


def local_principal(address: str | None) -> Principal:
    """This machine's user as admin, provided that the server listens where nobody else can reach it."""
    if not settings.is_loopback(address):
        raise NotAllowedError("Local mode serves this machine alone. Listen on 127.0.0.1 or set RANKSCOPE_AUTH=proxy.")
    return Principal(f"local:{settings.os_user()}", "admin", None, "local")


def oidc_principal(claims: Mapping[str, object], claim: str, now: float) -> Principal:
    """The user whom a sign-in names, with the role stored for that name; what a token says about roles counts nothing.

    Streamlit reads the claims when the browser connects and keeps them: their age and a sign-out are looked at anew.
    """
    try:
        found = named_by(claims, claim, now)
    except NotNamedError as error:
        raise NotSignedInError(str(error)) from error
    if found.token in sign_ins().ended:
        raise NotSignedInError("You signed out. Sign in to go on.")
    return _granted(found.name, "oidc")


def sign_out() -> None:
    """End this sign-in: here for every tab and copy of its cookie, in this browser, and at the provider."""
    chosen = settings.current()
    if chosen.oidc is None:
        return
    with suppress(NotNamedError):
        sign_ins().end(named_by(st.user.to_dict(), chosen.oidc.claim, time.time()), time.time())
    st.logout()


def sign_in(script: str, query: str) -> None:
    """Go to the provider; who comes back soon in the same browser is led on to where they wanted to go."""
    if browser := browser_of(st.context.cookies):
        sign_ins().want(browser, script, query, time.time())
    st.login()


def came_for() -> tuple[str, str] | None:
    """Where whoever has just signed in wanted to go; none for everyone else."""
    browser = browser_of(st.context.cookies) if settings.current().oidc else None
    return sign_ins().came_for(browser, time.time()) if browser else None


def proxy_principal(names: Sequence[str], tokens: Sequence[str], token: str) -> Principal:
    """The user that the proxy names, with the role stored for that name, or nobody without the proxy's token.

    Exactly one of each: a proxy that adds its header to the visitor's instead of replacing it would let anyone choose.
    """
    if not token or len(tokens) != 1 or not hmac.compare_digest(tokens[0].encode(), token.encode()):
        raise NotAllowedError("Sign in through the company's proxy: this address does not accept direct visits.")
    if len(names) != 1 or not names[0]:
        raise NotAllowedError("The proxy has to send exactly one user name. Sign in again, or ask whoever runs it.")
    return _granted(names[0], "proxy")


def _granted(name: str, how: str) -> Principal:
    """Role and organizations stored for a name; nobody has any until an administrator grants them."""
    granted = stored_role(name)
    if granted is None or granted[0] not in ROLES:
        raise NotAllowedError("You are signed in, but no role has been granted to you. Ask an administrator for one.")
    role, orgs = granted
    return Principal(name, ROLES[ROLES.index(role)], None if orgs is None else frozenset(orgs), how)


def stored_role(name: str) -> tuple[str, tuple[str, ...] | None] | None:
    """Role and organizations granted to a name, read on every run so that a revoked role ends with the next page."""
    if not is_storable(name):
        return None
    return store().once(NOTHING, LIST, lambda snapshot: principal_row(snapshot, name), principal=name)

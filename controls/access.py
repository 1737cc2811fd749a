"""Who is asking, and what they may do. Nobody may do anything until a mode below says otherwise."""

from __future__ import annotations

import getpass
import hmac
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

import settings
from controls.loading import stored_role
from queries.principals import ROLES
from queries.scope import NOTHING, Reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from queries.principals import Role


class NotAllowedError(Exception):
    """Whoever asks may not do this; the sentence says what would let them."""


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
    # A third mode, OpenID Connect through st.login, belongs here: same Principal, roles from the same table.
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
    return Principal(f"local:{_os_user()}", "admin", None, "local")


def _os_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        return f"uid {os.getuid()}"


def proxy_principal(names: Sequence[str], tokens: Sequence[str], token: str) -> Principal:
    """The user that the proxy names, with the role stored for that name, or nobody without the proxy's token.

    Exactly one of each: a proxy that adds its header to the visitor's instead of replacing it would let anyone choose.
    """
    if not token or len(tokens) != 1 or not hmac.compare_digest(tokens[0].encode(), token.encode()):
        raise NotAllowedError("Sign in through the company's proxy: this address does not accept direct visits.")
    if len(names) != 1 or not names[0]:
        raise NotAllowedError("The proxy has to send exactly one user name. Sign in again, or ask whoever runs it.")
    name = names[0]
    granted = stored_role(name)
    if granted is None or granted[0] not in ROLES:
        raise NotAllowedError("You are signed in, but no role has been granted to you. Ask an administrator for one.")
    role, orgs = granted
    return Principal(name, ROLES[ROLES.index(role)], None if orgs is None else frozenset(orgs), "proxy")

"""The only reader of environment and secrets."""

from __future__ import annotations

import ipaddress
import os
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent
SECRETS = ROOT / ".streamlit" / "secrets.toml"
SHORTEST_TOKEN = 16
PROXY_TOKEN_HEADER = "X-Proxy-Token"  # noqa: S105 - the name of a header, not a token


class SettingsError(Exception):
    """A setting that cannot be used, in one sentence that says which and what to do."""


@dataclass(frozen=True)
class Settings:
    """Everything that can be set from outside; secrets do not show in its repr."""

    database_url: str | None = field(default=None, repr=False)
    write_url: str | None = field(default=None, repr=False)
    owner_url: str | None = field(default=None, repr=False)
    data_folder: Path = ROOT / ".rankscope"
    auth: Literal["local", "proxy"] = "local"
    proxy_token: str | None = field(default=None, repr=False)
    proxy_user_header: str = "X-Forwarded-User"

    @classmethod
    def read(cls, environ: Mapping[str, str], secrets: Path = SECRETS) -> Settings:
        """Settings from the environment, and from ``secrets.toml`` where the environment is silent."""
        stored = _stored(secrets)

        def get(name: str) -> str | None:
            return (environ.get(name) or str(stored.get(name, ""))).strip() or None

        auth = get("RANKSCOPE_AUTH") or "local"
        if auth not in ("local", "proxy"):
            raise SettingsError(f"RANKSCOPE_AUTH is local or proxy; found {auth!r}")
        token = get("RANKSCOPE_PROXY_TOKEN")
        if auth == "proxy" and (token is None or len(token) < SHORTEST_TOKEN or not token.isascii()):
            raise SettingsError(
                f"RANKSCOPE_AUTH=proxy needs RANKSCOPE_PROXY_TOKEN of at least {SHORTEST_TOKEN} ASCII characters, "
                "known to the proxy alone"
            )
        database_url = get("DATABASE_URL")
        write_url = get("RANKSCOPE_WRITE_URL")
        if write_url and not database_url:
            raise SettingsError("RANKSCOPE_WRITE_URL needs DATABASE_URL beside it; found none")
        return cls(
            database_url=database_url,
            write_url=write_url,
            owner_url=get("RANKSCOPE_OWNER_URL"),
            data_folder=Path(get("RANKSCOPE_DATA") or ROOT / ".rankscope"),
            auth="proxy" if auth == "proxy" else "local",
            proxy_token=token,
            proxy_user_header=get("RANKSCOPE_PROXY_USER_HEADER") or cls.proxy_user_header,
        )


def is_loopback(address: str | None) -> bool:
    """Whether a server address can be reached from this machine alone; no address means every one."""
    if address == "localhost":
        return True
    try:
        return address is not None and ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


@cache
def current() -> Settings:
    """The settings of this process, read once."""
    return Settings.read(os.environ)


def _stored(secrets: Path) -> dict[str, object]:
    try:
        with secrets.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        # The parser's message may quote a secret.
        raise SettingsError(f"{secrets.name} is not valid TOML") from error

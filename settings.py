"""The only reader of environment and secrets."""

from __future__ import annotations

import getpass
import ipaddress
import os
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VERSION = "0.1.0"  # not released yet: CHANGELOG.md has what it will hold under "Unreleased"
ROOT = Path(__file__).resolve().parent
SECRETS = ROOT / ".streamlit" / "secrets.toml"
SHORTEST_TOKEN = 16
PROXY_TOKEN_HEADER = "X-Proxy-Token"  # noqa: S105 - the name of a header, not a token
EMBEDDERS = ("wordllama", "bge", "e5", "onnx", "openai", "none")
SCORERS = ("neural", "lexical")
AUTHS = ("local", "proxy", "oidc")
SHORTEST_COOKIE_SECRET = 32
CALLBACK = "/oauth2callback"  # where Streamlit takes the provider's answer


class SettingsError(Exception):
    """A setting that cannot be used, in one sentence that says which and what to do."""


@dataclass(frozen=True)
class Oidc:
    """An OpenID Connect provider, and which claim of its tokens is a user's name."""

    metadata_url: str
    client_id: str
    client_secret: str = field(repr=False)
    redirect_url: str
    cookie_secret: str = field(repr=False)
    claim: str = "email"

    @property
    def over_https(self) -> bool:
        """Whether visitors come by https; on this machine alone they may not."""
        return urlsplit(self.redirect_url).scheme == "https"

    def secrets(self) -> dict[str, dict[str, Any]]:
        """The same as Streamlit's sign-in reads it; it stands in memory alone."""
        return {
            "auth": {
                "server_metadata_url": self.metadata_url,
                "client_id": self.client_id,
                "client_secret": self.client_secret,
                "redirect_uri": self.redirect_url,
                "cookie_secret": self.cookie_secret,
            }
        }


@dataclass(frozen=True)
class Settings:
    """Everything that can be set from outside; secrets do not show in its repr."""

    database_url: str | None = field(default=None, repr=False)
    write_url: str | None = field(default=None, repr=False)
    owner_url: str | None = field(default=None, repr=False)
    data_folder: Path = ROOT / ".rankscope"
    auth: Literal["local", "proxy", "oidc"] = "local"
    proxy_token: str | None = field(default=None, repr=False)
    proxy_user_header: str = "X-Forwarded-User"
    oidc: Oidc | None = None
    embedder: str = "wordllama"
    embedder_folder: Path | None = None
    embedder_url: str | None = field(default=None, repr=False)
    embedder_model: str | None = None
    embedder_key: str | None = field(default=None, repr=False)
    scorer: str = "neural"
    scorer_folder: Path | None = None

    @classmethod
    def read(cls, environ: Mapping[str, str], secrets: Path = SECRETS) -> Settings:
        """Settings from the environment, and from ``secrets.toml`` where the environment is silent."""
        stored = _stored(secrets)

        def get(name: str) -> str | None:
            return (environ.get(name) or str(stored.get(name, ""))).strip() or None

        auth = _one_of("RANKSCOPE_AUTH", get, AUTHS)
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
            auth="proxy" if auth == "proxy" else "oidc" if auth == "oidc" else "local",
            proxy_token=token,
            proxy_user_header=get("RANKSCOPE_PROXY_USER_HEADER") or cls.proxy_user_header,
            oidc=_oidc(get) if auth == "oidc" else None,
            embedder=_embedder(get),
            embedder_folder=_folder(get("RANKSCOPE_EMBEDDER_FOLDER")),
            embedder_url=get("RANKSCOPE_EMBEDDER_URL"),
            embedder_model=get("RANKSCOPE_EMBEDDER_MODEL"),
            embedder_key=get("RANKSCOPE_EMBEDDER_KEY"),
            scorer=_one_of("RANKSCOPE_SCORER", get, SCORERS),
            scorer_folder=_folder(get("RANKSCOPE_SCORER_FOLDER")),
        )


def _embedder(get: Callable[[str], str | None]) -> str:
    """Which embedder to use; one that needs an address or a folder is refused without."""
    kind = _one_of("RANKSCOPE_EMBEDDER", get, EMBEDDERS)
    needs = {"openai": ("RANKSCOPE_EMBEDDER_URL", "RANKSCOPE_EMBEDDER_MODEL"), "onnx": ("RANKSCOPE_EMBEDDER_FOLDER",)}
    missing = [name for name in needs.get(kind, ()) if get(name) is None]
    if missing:
        raise SettingsError(f"RANKSCOPE_EMBEDDER={kind} needs {' and '.join(missing)} beside it; found none")
    return kind


def _oidc(get: Callable[[str], str | None]) -> Oidc:
    """The provider, complete; tokens and codes travel in the clear to nothing but this machine itself."""
    names = [f"RANKSCOPE_OIDC_{part}" for part in ("METADATA_URL", "CLIENT_ID", "CLIENT_SECRET", "REDIRECT_URL")]
    found = [get(name) for name in names]
    missing = [name for name, value in zip(names, found, strict=True) if value is None]
    if missing:
        raise SettingsError(f"RANKSCOPE_AUTH=oidc needs {' and '.join(missing)} beside it; found none")
    cookie = get("RANKSCOPE_COOKIE_SECRET") or ""
    if len(cookie) < SHORTEST_COOKIE_SECRET:
        raise SettingsError(
            f"RANKSCOPE_AUTH=oidc needs RANKSCOPE_COOKIE_SECRET of at least {SHORTEST_COOKIE_SECRET} random characters"
        )
    metadata, client, secret, redirect = (value or "" for value in found)
    for name, url in ((names[0], metadata), (names[3], redirect)):
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
            raise SettingsError(f"{name} begins with https://; http:// is for this machine alone")
    if urlsplit(redirect).path.rstrip("/")[-len(CALLBACK) :] != CALLBACK:
        raise SettingsError(f"RANKSCOPE_OIDC_REDIRECT_URL is Rankscope's own address and ends in {CALLBACK}")
    return Oidc(metadata, client, secret, redirect, cookie, get("RANKSCOPE_OIDC_CLAIM") or Oidc.claim)


def _one_of(name: str, get: Callable[[str], str | None], options: tuple[str, ...]) -> str:
    """The option a setting names, the first without one."""
    found = get(name) or options[0]
    if found not in options:
        raise SettingsError(f"{name} is one of {', '.join(options)}; found {found!r}")
    return found


def _folder(path: str | None) -> Path | None:
    return None if path is None else Path(path).expanduser()


def is_loopback(address: str | None) -> bool:
    """Whether a server address can be reached from this machine alone; no address means every one."""
    if address == "localhost":
        return True
    try:
        return address is not None and ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def os_user() -> str:
    """Who runs this process, as the operating system calls them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        return f"uid {os.getuid()}"


def now() -> Settings:
    """The settings as the environment has them at this moment."""
    return Settings.read(os.environ)


@cache
def current() -> Settings:
    """The settings of this process, read once."""
    return now()


def _stored(secrets: Path) -> dict[str, object]:
    try:
        with secrets.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        # The parser's message may quote a secret.
        raise SettingsError(f"{secrets.name} is not valid TOML") from error

"""The application: Streamlit's shell script behind security headers, with health routes and the store it owns.

Served by ``streamlit run app.py``. The script is ``pages/shell.py`` and not this file, because a ``pages`` folder
beside the main script makes Streamlit serve a first deep link without the shell, and so without access check.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import logging
import re
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from streamlit.starlette import App

import settings
from queries import embedded
from queries.engine import answers, make_engine
from queries.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, MutableMapping, Sequence
    from typing import Any

    from sqlalchemy import Engine
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("rankscope.app")
SHELL = Path(__file__).parent / "pages" / "shell.py"
CARE_INTERVAL = 5.0
INDEX = Path(streamlit.__file__).parent / "static" / "index.html"


def inline_script_hashes(html: str) -> str:
    """The CSP sources of a page's inline scripts, so that no other inline script can run."""
    bodies = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in bodies)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


HEADERS = {
    "content-security-policy": "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'wasm-unsafe-eval' {inline_script_hashes(INDEX.read_text(encoding='utf-8'))}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "frame-src 'none'",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    ),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Puts our headers on every response, whoever made it, and keeps downloads out of shared caches."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with the headers added as its response starts."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _headers(message, no_store=scope["path"].startswith("/media/"))
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def _headers(message: MutableMapping[str, Any], *, no_store: bool) -> list[tuple[bytes, bytes]]:
    ours = HEADERS | ({"cache-control": "no-store"} if no_store else {})
    replaced = {name.encode() for name in ours} | {b"server"}
    kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in replaced]
    return kept + [(name.encode(), value.encode()) for name, value in ours.items()]


class Gate:
    """Answers 403 to a request for another host, and in proxy mode to a download that did not come through the proxy.

    Streamlit checks the host of a websocket alone, and hands out ``/media/<id>`` to anyone who knows the address.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], token: str | None) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and not (self._names_us(scope) and self._may_download(scope)):
            await PlainTextResponse("forbidden", status_code=403)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _names_us(self, scope: Scope) -> bool:
        host = urlsplit(f"//{_header(scope, b'host').decode('latin-1')}").hostname
        return not self.hosts or (host or "") in self.hosts

    def _may_download(self, scope: Scope) -> bool:
        if self.token is None or not scope["path"].startswith(("/media/", "/_stcore/upload_file")):
            return True
        return hmac.compare_digest(_header(scope, b"x-proxy-token"), self.token.encode())


def _header(scope: Scope, name: bytes) -> bytes:
    found: bytes = dict(scope["headers"]).get(name, b"")
    return found


def refuse_open_address(address: str | None, auth: str) -> None:
    """Stop before the server starts when anyone on the network could act as this machine's user."""
    if auth != "local" or is_loopback(address):
        return
    raise SystemExit(
        f"refusing to listen on {address or 'every address'}: in local mode whoever reaches the port is an admin. "
        "Listen on 127.0.0.1, or set RANKSCOPE_AUTH=proxy."
    )


def is_loopback(address: str | None) -> bool:
    """Whether a server address can be reached from this machine only; none at all means every address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address or "0.0.0.0").is_loopback  # noqa: S104 - the case that is refused
    except ValueError:
        return False


async def healthz(_request: Request) -> PlainTextResponse:
    """The process is up."""
    return PlainTextResponse("ok")


async def readyz(_request: Request) -> JSONResponse:
    """200 when the store answers within a second, 503 otherwise."""
    engine: Engine | None = app.state["probe"]
    ready = engine is not None and await asyncio.to_thread(answers, engine, limit=1.0)
    return JSONResponse({"ready": ready}, status_code=200 if ready else 503, headers={"cache-control": "no-store"})


async def keep(lease: embedded.Lease) -> None:
    """See to it that the embedded server has its keeper, which may be killed like any other process."""
    while True:
        await asyncio.sleep(CARE_INTERVAL)
        with suppress(embedded.EmbeddedError):
            await asyncio.to_thread(lease.ensure)


@asynccontextmanager
async def lifespan(_app: App) -> AsyncIterator[dict[str, Any]]:
    """Hold the embedded server, if it is ours, for as long as the application runs."""
    chosen = settings.current()
    lease = None
    if chosen.database_url is None:
        try:
            lease = await asyncio.to_thread(embedded.start, chosen.data_folder)
        except embedded.EmbeddedError as error:
            # The app starts all the same: its pages say what is wrong.
            log.error("embedded store: %s", error)  # noqa: TRY400 - the sentence is the message
    url = chosen.database_url or (lease.url("dash_read", "rankscope") if lease else None)
    # A connection of its own, so that busy pages cannot make a healthy store look dead.
    probe = None
    if url is not None:
        with suppress(StoreError):  # an address that cannot be read; the pages say so
            probe = make_engine(url, name="rankscope readyz", pool=1, overflow=0)
    care = asyncio.create_task(keep(lease)) if lease else None
    try:
        yield {"probe": probe}
    finally:
        if care is not None:
            care.cancel()
        if probe is not None:
            probe.dispose()
        if lease is not None:
            await asyncio.to_thread(lease.release)


def log_to_stderr() -> None:
    """One line per page run and per query: names, times and counts, never a value."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    ours = logging.getLogger("rankscope")
    ours.handlers = [handler]
    ours.setLevel(logging.INFO)
    ours.propagate = False


def safe_settings() -> settings.Settings:
    """The settings, or a one-sentence exit where one of them makes it unsafe to serve."""
    try:
        chosen = settings.current()
    except settings.SettingsError as error:
        raise SystemExit(str(error)) from None
    refuse_open_address(streamlit.get_option("server.address"), chosen.auth)
    return chosen


def proxy_token() -> str | None:
    """The token that downloads need; none in local mode."""
    chosen = safe_settings()
    return chosen.proxy_token if chosen.auth == "proxy" else None


log_to_stderr()

# Streamlit finds this assignment by reading the source: built in any other way, it would serve this file as a plain
# script, without headers and health routes.
app = App(
    SHELL,
    lifespan=lifespan,
    routes=[Route("/healthz", healthz), Route("/readyz", readyz)],
    middleware=[
        Middleware(SecurityHeaders),
        Middleware(Gate, hosts=streamlit.get_option("server.allowedHosts"), token=proxy_token()),
    ],
)

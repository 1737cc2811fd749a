"""The application: Streamlit's shell script behind security headers, with health routes and the store it owns.

Served by ``streamlit run app.py``. The script is ``pages/shell.py`` and not this file, because a ``pages`` folder
beside the main script makes Streamlit serve a first deep link without the shell, and so without access check.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from streamlit.starlette import App

import settings
from controls import downloads
from controls.identity import SecureCookies, is_signed_in
from controls.wire import NeededMessages
from jobs.care import Care

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, MutableMapping, Sequence
    from typing import Any

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SHELL = Path(__file__).parent / "pages" / "shell.py"
DOWNLOADS, UPLOADS = "/media/", "/_stcore/upload_file"
HEALTH = ("/healthz", "/readyz")
HOST_AND_PORT = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d+)?")
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
    """Puts our headers on every response that the application makes, and keeps downloads out of shared caches."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with the headers added as its response starts."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _headers(message, no_store=DOWNLOADS in scope["path"])
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def _headers(message: MutableMapping[str, Any], *, no_store: bool) -> list[tuple[bytes, bytes]]:
    ours = HEADERS | ({"cache-control": "no-store"} if no_store else {})
    replaced = {name.encode() for name in ours}
    kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in replaced]
    return kept + [(name.encode(), value.encode()) for name, value in ours.items()]


class Gate:
    """Answers 403 to a request for another host, and to a download that came neither through the proxy nor signed in.

    The file of a session that was closed is not found. Streamlit checks the host of a websocket alone, and hands out
    ``/media/<id>`` to anyone who knows it. Whoever watches over the process asks for its health by any name.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], token: str | None, claim: str | None = None) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.token = token
        self.claim = claim

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        answer: ASGIApp = self.app
        if scope["type"] == "http" and not (self._names_us(scope) and self._may_download(scope)):
            answer = PlainTextResponse("forbidden", status_code=403)
        elif scope["type"] == "http" and DOWNLOADS in scope["path"] and not downloads.is_open(scope["path"]):
            answer = PlainTextResponse("not found", status_code=404)
        await answer(scope, receive, send)

    def _names_us(self, scope: Scope) -> bool:
        if not self.hosts or scope["path"].endswith(HEALTH):
            return True
        return any(HOST_AND_PORT.fullmatch(host) and _bare(host) in self.hosts for host in _values(scope, b"host"))

    def _may_download(self, scope: Scope) -> bool:
        if not (DOWNLOADS in scope["path"] or UPLOADS in scope["path"]):
            return True
        if self.claim is not None:
            return is_signed_in(HTTPConnection(scope).cookies, self.claim)
        if self.token is None:
            return True
        sent = _values(scope, settings.PROXY_TOKEN_HEADER.lower().encode())
        return len(sent) == 1 and hmac.compare_digest(sent[0].encode(), self.token.encode())


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _bare(host: str) -> str:
    """A host without its port: ``localhost:8501`` and ``[::1]:8501`` alike."""
    return re.sub(r":\d+$", "", host).strip("[]").lower()


def refuse_open_address(address: str | None, auth: str) -> None:
    """Stop before the server starts when anyone on the network could act as this machine's user."""
    if auth != "local" or settings.is_loopback(address):
        return
    raise SystemExit(
        f"refusing to listen on {address or 'every address'}: in local mode whoever reaches the port is an admin. "
        "Listen on 127.0.0.1, or set RANKSCOPE_AUTH=proxy or oidc."
    )


async def healthz(_request: Request) -> PlainTextResponse:
    """The process is up."""
    return PlainTextResponse("ok")


async def readyz(_request: Request) -> JSONResponse:
    """200 when the store answers within a second, 503 otherwise; how the log and, where it is ours, the aggregator are.

    A lost log row makes nothing unready: retrievals go on. ``null`` where the store cannot tell.
    """
    care: Care = app.state["care"]
    ready = await care.is_ready()
    told: dict[str, object] = {"ready": ready, "retrieval_log": care.log_totals if ready else None}
    told |= {"aggregation": care.aggregator.state} if care.aggregator else {}
    return JSONResponse(told, status_code=200 if ready else 503, headers={"cache-control": "no-store"})


@asynccontextmanager
async def lifespan(_app: App) -> AsyncIterator[dict[str, Any]]:
    """Care for the store from the first request to the last."""
    care = Care(settings.current())
    await asyncio.to_thread(care.attend)
    keeping = asyncio.create_task(care.keep())
    try:
        yield {"care": care}
    finally:
        keeping.cancel()
        await asyncio.to_thread(care.end)


def log_to_stderr() -> None:
    """One line per page run and per query: names, times and counts, never a value."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    ours = logging.getLogger("rankscope")
    ours.handlers = [handler]
    ours.setLevel(logging.INFO)
    ours.propagate = False
    # it warns of what it ignores at the end of a pipeline, with the store's address; what matters is raised
    logging.getLogger("psycopg").setLevel(logging.ERROR)


def safe_settings() -> settings.Settings:
    """The settings, or a one-sentence exit where one of them makes it unsafe to serve."""
    try:
        chosen = settings.current()
    except settings.SettingsError as error:
        raise SystemExit(str(error)) from None
    refuse_open_address(streamlit.get_option("server.address"), chosen.auth)
    return chosen


log_to_stderr()
chosen = safe_settings()
oidc = chosen.oidc
token = chosen.proxy_token if chosen.auth == "proxy" else None  # which downloads need

# Streamlit finds this assignment by reading the source: built in any other way, it would serve this file as a plain
# script, without headers and health routes.
app = App(
    SHELL,
    lifespan=lifespan,
    routes=[Route("/healthz", healthz), Route("/readyz", readyz)],
    middleware=[
        *([Middleware(SecureCookies)] if oidc and oidc.over_https else []),
        Middleware(SecurityHeaders),
        Middleware(NeededMessages),
        Middleware(Gate, streamlit.get_option("server.allowedHosts"), token, oidc.claim if oidc else None),
    ],
    secrets=oidc.secrets() if oidc else None,
)

"""A small OpenID Connect provider on loopback: authorization code flow with PKCE, RS256 keys made when it starts."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "rankscope", "canary-client-secret-77aa"


class Provider:
    """Names whoever ``claims`` says, after one click; refuses what a real provider would refuse.

    ``asked`` are the authorization requests it got, ``refused`` why token requests failed, ``ended`` its sign-outs.
    """

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.age = 0  # seconds since the user signed in at the provider, which the next token says
        self.issued = 0
        self.asked: list[dict[str, str]] = []
        self.refused: list[str] = []
        self.ended: list[dict[str, str]] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.key = RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "use": "sig", "alg": "RS256"})
        self.signs_with = self.key
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)

    def settings(self, port: int, cookie_secret: str) -> dict[str, str]:
        """The environment of an application on a port that trusts this provider."""
        return {
            "RANKSCOPE_AUTH": "oidc",
            "RANKSCOPE_OIDC_METADATA_URL": f"{self.url}/.well-known/openid-configuration",
            "RANKSCOPE_OIDC_CLIENT_ID": CLIENT,
            "RANKSCOPE_OIDC_CLIENT_SECRET": SECRET,
            "RANKSCOPE_OIDC_REDIRECT_URL": f"http://127.0.0.1:{port}/oauth2callback",
            "RANKSCOPE_COOKIE_SECRET": cookie_secret,
        }

    def metadata(self) -> dict[str, object]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "end_session_endpoint": f"{self.url}/end",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """The address to go back to, with a code that works once."""
        self.asked.append(asked)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> dict[str, object] | None:
        """Tokens for a code, if the client, its address and its verifier are those that asked for it."""
        asked = self.codes.pop(form.get("code", ""), None)
        told = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        reason = (
            "unknown code" if asked is None
            else "wrong client" if told != f"{CLIENT}:{SECRET}"
            else "wrong address" if form.get("redirect_uri") != asked["redirect_uri"]
            else "wrong verifier" if challenge != asked.get("code_challenge")
            else ""
        )  # fmt: skip
        if asked is None or reason:
            self.refused.append(reason)
            return None
        now = int(time.time())
        self.issued = now - self.age
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": self.issued,
            "exp": now + 3600,
            "nonce": asked["nonce"],
            **self.claims,
        }
        header = {"alg": "RS256", "kid": self.key.kid}
        return {
            "access_token": secrets.token_urlsafe(16),
            "token_type": "Bearer",
            "expires_in": 3600,
            "id_token": jwt.encode(header, claims, self.signs_with),
        }


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/.well-known/openid-configuration":
                self._json(provider.metadata())
            elif parts.path == "/jwks":
                self._json({"keys": [provider.key.as_dict(private=False)]})
            elif parts.path == "/authorize":
                back = html.escape(provider.authorize(asked))
                self._send(200, "text/html", f'<h1>Provider</h1><a href="{back}">Continue</a>'.encode())
            elif parts.path == "/end":
                provider.ended.append(asked)
                self.send_response(302)
                self.send_header("location", asked["post_logout_redirect_uri"])
                self.end_headers()
            else:
                self._send(404, "text/plain", b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            found = provider.token(form, self.headers.get("authorization", ""))
            self._json(found or {"error": "invalid_grant"}, 200 if found else 400)

        def _json(self, value: object, status: int = 200) -> None:
            self._send(status, "application/json", json.dumps(value).encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler

"""Nothing is sent anywhere: WEB-11. The browser's half is held by every page's own test in a browser."""

from __future__ import annotations

import ipaddress
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from tests.app_server import ROOT, AppServer
from tests.browser.pictures import PAGES
from tests.driver import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

# Runs as every Python process starts: an address beyond this machine is written down, and refused.
GUARD = """
import ipaddress, os, sys

def here(host):
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False

def watch(event, told):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        host = told[1][0] if isinstance(told[1], tuple) else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = told[0]
    else:
        return
    if not here(host):
        with open(os.environ["OUTBOUND"], "a") as seen:
            seen.write(f"{event} {host} by {sys.argv}\\n")
        raise OSError(f"{host} lies beyond this machine")

sys.addaudithook(watch)
"""


@pytest.fixture
def guarded() -> Iterator[dict[str, str]]:
    """The environment of a guarded process, with a store of its own to make."""
    with tempfile.TemporaryDirectory(prefix="rankscope-outbound-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)
        (folder / "guard").mkdir()
        (folder / "guard" / "sitecustomize.py").write_text(GUARD)
        (folder / "seen").touch()
        yield {
            "PYTHONPATH": str(folder / "guard"),
            "OUTBOUND": str(folder / "seen"),
            "RANKSCOPE_DATA": str(folder / "store"),
        }


def run(guarded: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=inherited | guarded, capture_output=True, text=True, check=False
    )


def seen(guarded: dict[str, str]) -> list[str]:
    return Path(guarded["OUTBOUND"]).read_text().splitlines()


def beyond(server: AppServer) -> list[str]:
    """Connections of the application and everything it started that lead beyond this machine."""
    application = psutil.Process(server.process.pid)
    held = [c for p in (application, *application.children(recursive=True)) for c in p.net_connections("inet")]
    return [str(c) for c in held if c.raddr and not ipaddress.ip_address(c.raddr.ip).is_loopback]


@pytest.mark.parametrize("way", ["create_connection(('192.0.2.1', 9), 1)", "getaddrinfo('example.invalid', 80)"])
def test_the_guard_sees_and_refuses(guarded: dict[str, str], way: str) -> None:
    """192.0.2.1 belongs to nobody; without the guard this would wait for it."""
    done = run(guarded, "-c", f"import socket; socket.{way}")
    assert done.returncode == 1
    assert "lies beyond this machine" in done.stderr
    assert len(seen(guarded)) == 1


@pytest.mark.long
@pytest.mark.timeout(400)
def test_no_part_of_the_product_calls_out(guarded: dict[str, str]) -> None:
    """As ``make run`` does it: the demo is made, then every page is looked at while the aggregator runs beside."""
    made = run(guarded, "-m", "jobs", "demo", "--if-empty", "--size", "small")
    assert made.returncode == 0, made.stderr
    environment: dict[str, Any] = dict(guarded)
    server = AppServer(**environment)
    try:
        for path in PAGES.values():
            page, _, query = path.removeprefix("/").partition("?")
            with Session(server.url, query=query, page=page) as session:
                assert session.run().bodies("exception") == []
                assert beyond(server) == []
    finally:
        server.stop()
    assert seen(guarded) == []


def test_streamlit_is_told_to_report_nothing() -> None:
    told = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert told["browser"]["gatherUsageStats"] is False

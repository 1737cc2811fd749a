"""ISO-8: a link leads to its own tenant's bytes and to nothing once its page was closed."""

from __future__ import annotations

import ast
import re
import time
from typing import TYPE_CHECKING

import pytest
import requests
from streamlit.runtime.memory_media_file_storage import _calculate_file_id

from controls.downloads import download
from tests.app_server import ROOT, AppServer
from tests.controls.tenant_file import tenant_file
from tests.driver import Session

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def server() -> Iterator[AppServer]:
    started = AppServer(script="tests/controls/download_app.py")
    yield started
    started.stop()


def click(session: Session) -> str:
    return session.download(session.widget("download_button", "Download").deferred_file_id)


def test_two_such_files_of_one_name_would_share_a_link() -> None:
    """What the tests below are about; if Streamlit ever looks at all of a file, they say less."""
    assert tenant_file("a") != tenant_file("b")
    assert _calculate_file_id(tenant_file("a"), "text/csv", "drift.csv") == _calculate_file_id(
        tenant_file("b"), "text/csv", "drift.csv"
    )


def test_each_link_returns_its_own_bytes_as_often_as_it_is_clicked(server: AppServer) -> None:
    with Session(server.url, "tenant=a") as first, Session(server.url, "tenant=b") as second:
        links = {tenant: click(session.run()) for tenant, session in (("a", first), ("b", second))}
        assert links["a"] != links["b"]
        for tenant, link in links.items():
            answer = requests.get(server.url + link, timeout=10)
            assert answer.content == tenant_file(tenant)
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["content-disposition"].startswith("attachment")
        assert requests.get(server.url + click(first), timeout=10).content == tenant_file("a")


def test_a_link_ends_with_its_session_and_no_other(server: AppServer) -> None:
    with Session(server.url, "tenant=b") as other:
        stays = click(other.run())
        with Session(server.url, "tenant=a") as closed:
            link = click(closed.run())
        until = time.monotonic() + 10
        while (answer := requests.get(server.url + link, timeout=10)).status_code == 200 and time.monotonic() < until:
            time.sleep(0.02)  # the server hears of the closed socket a moment later
        assert answer.status_code == 404
        assert answer.headers["cache-control"] == "no-store"
        assert requests.get(server.url + stays, timeout=10).content == tenant_file("b")


def test_nobody_guesses_a_name() -> None:
    names = {download("drift", "csv").name for _ in range(50)}
    assert len(names) == 50
    assert all(re.fullmatch(r"drift-[0-9a-f]{32}\.csv", name) for name in names)


def test_every_download_button_offers_such_a_file() -> None:
    for folder in ("pages", "controls"):
        for file in (ROOT / folder).rglob("*.py"):
            calls = {
                ast.unparse(node.func) for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
            }
            if "st.download_button" in calls:
                assert calls & {"download", "downloads.download"}, file.name

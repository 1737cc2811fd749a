"""A real Chromium, and a page that remembers every request, dialog and console line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests import sample
from tests.app_server import AppServer
from tests.browser import chromium
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import ConsoleMessage, Dialog

    from tests.conftest import Cluster


# Milliseconds after which a page will not show what is waited for: also on a busy machine, and no measure of speed.
LIMIT = 60_000
expect.set_options(timeout=LIMIT)

# Streamlit looks for itself beside the page of a deep link before it looks at the root, and is told 404 there.
PROBE = re.compile(r"/\w+/_stcore/(health|host-config)")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.find()
    if path is None:
        pytest.fail(chromium.HELP)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        yield started
        started.close()


class Visit:
    """A page of a browser, with what it did besides showing itself."""

    def __init__(self, context: BrowserContext) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(LIMIT)
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.complaints: list[str] = []
        self.frames: list[bytes] = []
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._receive))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dismiss)
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _receive(self, frame: bytes | str) -> None:
        self.frames.append(frame.encode() if isinstance(frame, str) else frame)

    @property
    def received(self) -> bytes:
        """Everything that the page was sent over its websocket: a table is drawn on a canvas, whose text has no DOM."""
        return b"".join(self.frames)

    def _listen(self, line: ConsoleMessage) -> None:
        looking = "404" in line.text and PROBE.fullmatch(urlsplit(line.location["url"]).path)
        if line.type == "error" and not looking:
            self.complaints.append(line.text)

    def open(self, url: str) -> Page:
        self.page.goto(url)
        return self.settled()

    def settled(self) -> Page:
        """The page once its script has run and everything it sent is drawn."""
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        self.page.wait_for_selector("[data-testid=stSkeleton]", state="detached")
        return self.page

    def foreign_requests(self, home: str) -> list[str]:
        """Requests to anything but the application itself."""
        return [url for url in self.requests if not url.startswith((home, "data:", "blob:"))]


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    """A migrated store for all tests of a file."""
    name = cluster.create(template)
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def keeper(cluster: Cluster, database: str) -> Iterator[psycopg.Connection[Any]]:
    """Its owner: for planting rows, and for looking at what the application wrote."""
    with psycopg.connect(cluster.plain_url("postgres", database), autocommit=True) as owner:
        yield owner


@pytest.fixture(scope="module")
def flags_server(cluster: Cluster, database: str, keeper: psycopg.Connection[Any]) -> Iterator[AppServer]:
    """Six organizations to change, each with three retrievals that weighting changed, and one that is malformed."""
    for title in ("Acme", "Birch", "Cedar", "Dogwood", "Elm", "Fir"):
        org = f"org_{title[0].lower()}"
        sample.add_organization(keeper, org, title, features={"theirs": 1})
        add_weighed(keeper, org, add_observed(keeper, org), 3)
    sample.add_organization(keeper, "org_m", "Mangled", features="[1]")
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", database),
        RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", database),
    )
    yield started
    started.stop()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    yield Visit(context)
    context.close()


@pytest.fixture
def quiet(visit: Visit) -> Iterator[None]:
    """For every test of a file: whatever it did, the console has no error in the end and no dialog came up."""
    yield
    assert visit.complaints == []
    assert visit.dialogs == []

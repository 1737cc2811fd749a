"""HOS-1: NUL and half characters, which no store holds, sent by address and by hand: every page stands."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import psycopg
import pytest

from controls.sections import SECTIONS
from tests.app_server import AppServer
from tests.driver import Session
from tests.hostile import UNSTORABLE
from tests.retrieval.planted import QUESTION, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

PAGES = [entry.script.removesuffix(".py") for entries in SECTIONS.values() for entry in entries]
NAMES = (
    "project", "window", "from", "to", "search", "q", "retrieval", "obs", "show", "preset", "scorer", "with", "start",
    "lam", "bits", "open", "why", "missed", "pin", "top", "t", "sev", "kind", "agent", "state", "since", "page",
    "alert", "cluster", "area", "part", "method", "cos", "scale", "query", "cell", "outcome", "work", "k", "target",
    "flag", "change", "before", "words", "stale", "observation", "below", "v",
)  # fmt: skip
TYPED = {"text_input": "string_value", "text_area": "string_value"}


@pytest.fixture(scope="module")
def server(cluster: Cluster, template: str) -> Iterator[AppServer]:
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner)
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", name), RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", name)
    )
    yield started
    started.stop()
    cluster.drop(name)


def said(text: str) -> str:
    """A text in an address, half characters as the bytes that they would have."""
    return quote(text.encode("utf-8", "surrogatepass"))


def stands(session: Session, page: str) -> None:
    assert session.bodies("exception") == []
    assert session.bodies("heading"), page
    spoken = [line for kind in ("alert", "markdown", "heading") for line in session.bodies(kind)]
    assert not [line for line in spoken if "__x" in line or "half " in line], page
    assert not [line for line in session.bodies("alert") if "went wrong" in line or "could not be" in line], page


@pytest.mark.parametrize("page", PAGES)
def test_an_address_that_holds_them(server: AppServer, page: str) -> None:
    """Everything that an address can say at once, for an organization that is there and for one that is not."""
    for text in UNSTORABLE:
        everything = "&".join(f"{name}={said(text)}" for name in NAMES)
        for org in ("acme", said(text)):
            with Session(server.url, f"org={org}&{everything}", page) as session:
                stands(session.run(), page)


@pytest.mark.parametrize("page", PAGES)
def test_typed_into_every_box(server: AppServer, page: str) -> None:
    """NUL alone: half a character cannot be written into a message at all."""
    asked = {"inspector": f"&q={said(QUESTION)}&show=why", "observation": "&observation=x"}.get(page, "")
    with Session(server.url, f"org=acme{asked}", page) as session:
        session.run()
        boxes = [
            getattr(element, kind).id
            for element in session.elements
            for kind in TYPED
            if element.WhichOneof("type") == kind
        ]
        assert boxes  # at least the search of the sidebar
        for text in (each for each in UNSTORABLE if each.isascii()):
            for box in boxes:
                stands(session.run({box: ("string_value", text)}), page)
    assert "Traceback" not in server.output()

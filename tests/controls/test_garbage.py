"""What runs leave behind in circles is let go, though Streamlit no longer looks for it after every one of them."""

from __future__ import annotations

import gc
import time
import tomllib
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controls import garbage
from controls.garbage import Collection
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster


class Circle:
    """Something that only the collector can let go."""

    def __init__(self) -> None:
        self.itself = self


def lost() -> weakref.ref[Circle]:
    return weakref.ref(Circle())


@pytest.fixture(autouse=True)
def nobody_else_collects() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def test_it_collects_once_the_time_has_come_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    collection, circle = Collection(), lost()
    assert not collection.tidy()
    assert circle() is not None
    monkeypatch.setattr(garbage, "EVERY", 0.01)
    time.sleep(0.02)
    assert collection.tidy()
    assert circle() is None
    assert not collection.tidy()


def test_what_was_there_before_is_not_looked_at_again() -> None:
    before = Circle()
    Collection()
    after = Circle()
    looked_at = {id(each) for each in gc.get_objects()}
    assert id(before) not in looked_at
    assert id(after) in looked_at


def test_every_run_of_a_page_tidies(cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's own collection is off, so a run that did not would leave it all to chance."""
    settings = tomllib.loads(Path(".streamlit/config.toml").read_text(encoding="utf-8"))
    assert settings["runner"]["postScriptGC"] is False
    monkeypatch.setattr(garbage, "EVERY", 0.0)
    with application(cluster.plain_url("dash_read", store_database)) as test:
        test.run()  # which freezes what is imported, and collects as it does
        circle = lost()
        test.run()
        assert not test.exception
        assert circle() is None

"""The pages run in this process, as Streamlit's own test harness does it: through the shell, on a real store."""

from __future__ import annotations

import logging
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.testing.v1 import AppTest

import settings
from controls import loading
from tests.jobs.test_worker import until as eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SHELL = settings.ROOT / "pages" / "shell.py"


@contextmanager
def application(database_url: str, script: Path | str = SHELL, **address: str) -> Iterator[AppTest]:
    """The application on a store, opened at an address, with nothing left over from other tests.

    A panel that no page holds yet is tested by a script of its own.
    """
    os.environ["DATABASE_URL"] = database_url
    _forget()
    test = AppTest.from_file(script, default_timeout=30)
    for name, value in address.items():
        test.query_params[name] = value
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    try:
        yield test
    finally:
        del os.environ["DATABASE_URL"]
        _forget()


def until(holds: Callable[[], Any], limit: float = 30.0) -> Any:  # noqa: ANN401 - whatever it finds
    """As elsewhere, but a page is run again only when its workers are done: they share the cores with it."""
    end = time.monotonic() + limit

    def holds_now() -> Any:  # noqa: ANN401 - same
        if found := holds():
            return found
        for job in list(loading.workers()._jobs.values()):
            job.over.wait(max(end - time.monotonic(), 0.0))
        return None

    return eventually(holds_now, limit)


def _forget() -> None:
    settings.current.cache_clear()
    st.cache_data.clear()
    st.cache_resource.clear()

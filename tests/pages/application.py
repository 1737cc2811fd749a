"""The pages run in this process, as Streamlit's own test harness does it: through the shell, on a real store."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.testing.v1 import AppTest

import settings

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def _forget() -> None:
    settings.current.cache_clear()
    st.cache_data.clear()
    st.cache_resource.clear()

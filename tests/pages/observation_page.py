"""Observation as a test opens it."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamlit.testing.v1 import AppTest

    Opened = Callable[..., AppTest]


@contextmanager
def opening(url: str) -> Iterator[Opened]:
    """Open the page at an address, one after the other."""
    with ExitStack() as stack:

        def open_(**address: str) -> AppTest:
            stack.close()
            test = stack.enter_context(application(url, **address))
            test.switch_page("observation.py").run()
            assert not test.exception
            return test

        yield open_

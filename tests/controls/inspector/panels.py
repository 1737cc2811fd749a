"""The Inspector's panels on a page of their own, as a test reads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

SCRIPT = Path(__file__).with_name("inspecting.py")


def said(test: AppTest) -> list[str]:
    assert not test.exception
    return [alert.value for kind in (test.error, test.warning, test.info, test.success) for alert in kind]

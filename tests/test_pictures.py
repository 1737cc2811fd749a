"""The documents' pictures: each one that is shown is there, and each that is there is shown or one of a page's four."""

from __future__ import annotations

import re

from tests.app_server import ROOT
from tests.browser.pictures import IMAGES, PAGES, SHOTS


def test_what_documents_show_is_there_and_what_is_there_has_a_reason() -> None:
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for each in documents for name in re.findall(r"images/([\w.-]+)", each.read_text(encoding="utf-8"))}
    there = {path.name for path in IMAGES.iterdir()}
    taken = {f"{page}-{shot}.png" for page in PAGES for shot in SHOTS}
    assert shown <= there
    assert taken <= there <= taken | shown
    assert all(f"{page}-light.png" in shown for page in PAGES if page != "drift-alerts-opened")

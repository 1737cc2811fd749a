"""The documents' pictures: each one that is shown is there, and each has the name under which it is taken anew."""

from __future__ import annotations

import re

from tests.app_server import ROOT
from tests.browser.pictures import IMAGES, PAGES, SHOTS

BY_HAND = {"retrieval.svg", "drift_report.png", "what-if-outcomes.png"}  # no page looks so at first sight


def test_what_documents_show_is_there_and_what_is_there_is_taken_or_shown() -> None:
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for each in documents for name in re.findall(r"images/([\w.-]+)", each.read_text(encoding="utf-8"))}
    there = {path.name for path in IMAGES.iterdir()}
    assert shown <= there
    assert there == {f"{page}-{shot}.png" for page in PAGES for shot in SHOTS} | BY_HAND
    assert shown >= BY_HAND
    assert all(f"{page}-light.png" in shown for page in PAGES if page != "drift-alerts-opened")

"""The documents' pictures: each one that is shown is there, and each that is there is shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.app_server import ROOT
from tests.browser.pictures import IMAGES, PAGES, REPORT, SHOTS
from tests.browser.walks import WALKS

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"


def shown(*documents: Path) -> set[str]:
    """The pictures that some documents show."""
    return {
        name
        for each in documents
        for name in re.findall(r"!\[.*?\]\([\w./]*images/([\w.-]+)\)", each.read_text("utf-8"))
    }


def test_what_documents_show_is_there_and_what_is_there_is_shown() -> None:
    assert shown(ROOT / "README.md", *DOCS.rglob("*.md")) == {path.name for path in IMAGES.iterdir()}


def test_the_gallery_shows_every_page_in_both_themes_and_widths() -> None:
    assert shown(DOCS / "pictures.md") == {f"{page}-{shot}.png" for page in PAGES for shot in SHOTS}


def test_every_picture_is_taken_by_the_command() -> None:
    pages = {f"{page}-{shot}" for page in PAGES for shot in SHOTS}
    rest = {path.stem for path in IMAGES.glob("*.png")} - pages - {REPORT}
    assert {name.rpartition("-")[0] for name in rest} == set(WALKS)


def test_the_handbook_shows_every_page() -> None:
    assert {f"{page}-light.png" for page in PAGES} <= shown(*(DOCS / "pages").glob("*.md"))

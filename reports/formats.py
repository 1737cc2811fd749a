"""Every format a report can have: who writes it, what a browser calls it, how its file ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from reports.bundle import write_bundle
from reports.html_page import write_html
from reports.markdown import write_markdown
from reports.pdf import write_pdf
from reports.tables import write_csv, write_json, write_jsonld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analysis.drift.alerts import Alert
    from reports.about import About

Form = Literal["csv", "json", "jsonld", "md", "html", "pdf", "bundle"]


class Kept(NamedTuple):
    """How a format is named to people, to browsers and to file systems."""

    label: str
    mime: str
    ending: str


WRITERS: dict[Form, Callable[[Iterable[Alert], About, BinaryIO], None]] = {
    "csv": write_csv,
    "json": write_json,
    "jsonld": write_jsonld,
    "md": write_markdown,
    "html": write_html,
    "pdf": write_pdf,
    "bundle": write_bundle,
}
FORMATS: dict[Form, Kept] = {
    "csv": Kept("CSV", "text/csv", "csv"),
    "json": Kept("JSON", "application/json", "json"),
    "jsonld": Kept("JSON-LD", "application/ld+json", "jsonld"),
    "md": Kept("Markdown", "text/markdown", "md"),
    "html": Kept("HTML", "text/html", "html"),
    "pdf": Kept("PDF", "application/pdf", "pdf"),
    "bundle": Kept("Evidence bundle", "application/zip", "zip"),
}

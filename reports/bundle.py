"""Evidence in one file: the report, the rows, the SQL, and a manifest by which anyone can check them.

Equal inputs give equal bytes: members in one order, with one date, compressed in one way; nothing in it says who took
it or when.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from reports.about import FORMAT_VERSION
from reports.fields import encoded
from reports.html_page import HtmlSink
from reports.summary import Summary
from reports.tables import CsvSink, JsonSink, feed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.drift.alerts import Alert
    from reports.about import About, Statement

MANIFEST = "manifest.json"
README = "README.txt"
MEMBERS = ("report.html", "alerts.csv", "alerts.json", "queries.sql", README)
HOW_TO_CHECK = (Path(__file__).parent / "bundle.txt").read_text(encoding="utf-8")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a zip file can hold
LEVEL = 6
UNIX = 3
READABLE = 0o644 << 16
CHUNK = 1 << 16


class Hashed:
    """A temporary file that knows its own digest once it is written."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by whoever made it
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, content: bytes) -> int:
        """Write and digest."""
        self.digest.update(content)
        self.size += len(content)
        return self.file.write(content)


class Sealed(NamedTuple):
    """A member as the manifest has it."""

    bytes: int
    sha256: str


def write_bundle(alerts: Iterable[Alert], about: About, out: BinaryIO) -> None:
    """Read the alerts once into every member, then seal them."""
    files = {name: Hashed() for name in MEMBERS}
    summary = Summary.of(about)
    try:
        html, rows, objects = (files[name] for name in MEMBERS[:3])
        page = HtmlSink(about, html)
        with page.body:
            feed(alerts, page, CsvSink(rows), JsonSink(about, objects), Counting(summary))
        files["queries.sql"].write(encoded(sql(about.statements())))
        files[README].write(encoded(HOW_TO_CHECK))
        manifest = _manifest(about, summary, {name: Sealed(f.size, f.digest.hexdigest()) for name, f in files.items()})
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
            # whoever changes the manifest alone is found out; whoever changes both, by the record of exports
            archive.comment = seal(manifest)
            archive.writestr(_info(MANIFEST), manifest)
            for name, held in files.items():
                held.file.seek(0)
                with archive.open(_info(name), "w", force_zip64=True) as member:
                    shutil.copyfileobj(held.file, member, CHUNK)
    finally:
        for held in files.values():
            held.file.close()


class Counting:
    """A summary as one more sink."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary

    def add(self, alert: Alert) -> None:
        """Count one alert."""
        self.summary.add(alert)

    def finish(self) -> None:
        """Nothing is left to write."""


def seal(manifest: bytes) -> bytes:
    """The digest of the manifest, as the archive's comment."""
    return b"manifest sha256 " + hashlib.sha256(manifest).hexdigest().encode()


def sql(statements: Iterable[Statement]) -> str:
    """The statements as they were asked, each with its parameters as a comment that no value can leave."""
    parts = ["-- The questions behind this report, as the database was asked them; %(name)s stands for a parameter.\n"]
    for number, statement in enumerate(statements, 1):
        times = "once" if statement.times == 1 else f"{statement.times:,} times, first with these parameters"
        parts.append(f"\n-- {number}. asked {times}\n")
        parts += [
            f"-- {json.dumps(name)[1:-1]} = {json.dumps(value, default=str)}\n"
            for name, value in sorted(statement.parameters.items())
        ]
        parts.append(f"{statement.text.strip()};\n")
    return "".join(parts)


def _manifest(about: About, summary: Summary, members: dict[str, Sealed]) -> bytes:
    told = {
        **about.to_json(),
        "report": "evidence bundle of drift alerts",
        "format_version": FORMAT_VERSION,
        "counts": summary.to_json(),
        "versions": about.versions(),
        "members": {name: sealed._asdict() for name, sealed in members.items()},
    }
    return encoded(json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = UNIX
    info.external_attr = READABLE
    return info

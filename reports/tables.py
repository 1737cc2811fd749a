"""Alerts as CSV, JSON and JSON-LD: every one of them, one at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO, Protocol

from reports.fields import COLUMNS, as_object, as_row, compact, encoded
from reports.linked import CONTEXT, described, linked
from reports.spreadsheet import BOM, csv_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.drift.alerts import Alert
    from reports.about import About


class Out(Protocol):
    """All that a sink needs of a file."""

    def write(self, content: bytes, /) -> object:
        """Take these bytes."""
        ...


class Sink(Protocol):
    """A file that takes one alert after another; several can be fed from one reading."""

    def add(self, alert: Alert) -> None:
        """Take one more alert."""
        ...

    def finish(self) -> None:
        """Write what could only be known after the last."""
        ...


def feed(alerts: Iterable[Alert], *sinks: Sink) -> None:
    """Give every alert to every sink, holding none."""
    for alert in alerts:
        for sink in sinks:
            sink.add(alert)
    for sink in sinks:
        sink.finish()


class CsvSink:
    """One row per alert, every field quoted, nothing that a spreadsheet would run."""

    def __init__(self, out: Out) -> None:
        self.out = out
        out.write(BOM + encoded(csv_line(COLUMNS)))

    def add(self, alert: Alert) -> None:
        """Write one row."""
        self.out.write(encoded(csv_line(as_row(alert))))

    def finish(self) -> None:
        """Write nothing more: a row that is no alert would be counted as one."""


class JsonSink:
    """One object: what was asked, every alert on a line of its own, and their number."""

    def __init__(self, about: About, out: Out) -> None:
        self.out = out
        self.count = 0
        out.write(encoded(f'{{"about":{json.dumps(about.to_json(), ensure_ascii=False, indent=1)},\n"alerts":['))

    def add(self, alert: Alert) -> None:
        """Write one object."""
        self.out.write(encoded(f"{',' if self.count else ''}\n{compact(as_object(alert))}"))
        self.count += 1

    def finish(self) -> None:
        """Close the list and say how many there were, so that a file cut short is no JSON."""
        self.out.write(encoded(f'\n],\n"count":{self.count}}}\n'))


class JsonLdSink:
    """The same as linked data; the context stands inside, so that reading it asks nobody."""

    def __init__(self, about: About, out: Out) -> None:
        self.out = out
        self.count = 0
        head = json.dumps({"@context": CONTEXT} | described(about), ensure_ascii=False, indent=1)
        out.write(encoded(f'{head.removesuffix("}").rstrip()},\n"alerts":['))

    def add(self, alert: Alert) -> None:
        """Write one node."""
        self.out.write(encoded(f"{',' if self.count else ''}\n{compact(linked(alert))}"))
        self.count += 1

    def finish(self) -> None:
        """Close the list and say how many there were."""
        self.out.write(encoded(f'\n],\n"count":{self.count}}}\n'))


def write_csv(alerts: Iterable[Alert], _about: About, out: BinaryIO) -> None:
    """Every alert as a row; a table has no place for what was asked."""
    feed(alerts, CsvSink(out))


def write_json(alerts: Iterable[Alert], about: About, out: BinaryIO) -> None:
    """Every alert as an object, exactly as stored."""
    feed(alerts, JsonSink(about, out))


def write_jsonld(alerts: Iterable[Alert], about: About, out: BinaryIO) -> None:
    """Every alert as linked data."""
    feed(alerts, JsonLdSink(about, out))

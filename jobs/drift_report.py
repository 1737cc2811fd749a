"""``python -m jobs drift-report``: the alerts of one organization as a file, whole, without the page."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from jobs.contradictions import share
from jobs.days import day, window
from jobs.target import opened, refuse_unknown
from jobs.terminal import printable
from queries.exports import RecordExport
from queries.scope import Reach, Scope
from settings import VERSION, os_user

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from analysis.drift.alerts import Alert, AlertFilter
    from queries.engine import Store
    from settings import Settings

STANDARD_OUTPUT = "-"
FORMS = ("csv", "json", "jsonld", "md", "html", "pdf", "bundle")
KINDS = ("opposition", "negation", "value", "superseded")
STATES = ("new", "acknowledged", "investigating", "resolved", "false positive", "snoozed")
SEVEREST = 100
EVERY = 1_000  # alerts between two lines of progress


class DriftReportError(Exception):
    """A report that could not be made, in one sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--org", required=True, metavar="ORG", help="an organization's id")
    parser.add_argument("--project", metavar="PROJECT", help="one of its projects; without it, all of them")
    parser.add_argument("--since", type=day, metavar="DAY", help="only alerts whose newer statement is from then, UTC")
    parser.add_argument("--from", dest="first", type=day, metavar="DAY", help="first day of injections; as --since")
    parser.add_argument("--until", dest="last", type=day, metavar="DAY", help="last day of injections; today")
    parser.add_argument("--threshold", type=share, default=0.5, help="share of words that must agree (0.5)")
    parser.add_argument("--least-severity", type=_severity, default=0.0, metavar="S", help="from 0 to 100 (0)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind; may be repeated")
    parser.add_argument("--agent", action="append", metavar="AGENT", help="only alerts of this agent; may be repeated")
    parser.add_argument("--state", action="append", choices=STATES, help="only this state; may be repeated")
    parser.add_argument("--format", required=True, choices=FORMS)
    parser.add_argument("--out", required=True, metavar="FILE", help="the file to write; - is the standard output")


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Write the file, put it on record, and only then give it its name; progress goes to stderr."""
    # not above: numpy and Arrow take a while that the other jobs need not wait for
    from analysis.drift.alerts import AlertFilter  # noqa: PLC0415
    from analysis.drift.weighing import ChangedMeanwhileError  # noqa: PLC0415
    from ranking.contradictions import Kind  # noqa: PLC0415
    from reports.pdf import PdfError  # noqa: PLC0415

    wanted = AlertFilter(
        threshold=args.threshold,
        least_severity=args.least_severity,
        kinds=frozenset(map(Kind, args.kind)) if args.kind else None,
        agents=frozenset(args.agent) if args.agent else None,
        states=frozenset(args.state) if args.state else None,
        since=None if args.since is None else datetime(args.since.year, args.since.month, args.since.day, tzinfo=UTC),
    )
    with opened(settings) as store:
        refuse_unknown(store, args.org, args.project)
        try:
            scope = _scope(args)
            written = _write(store, scope.named(_name(store, scope)), wanted, args)
        except (ChangedMeanwhileError, PdfError) as error:
            raise DriftReportError(str(error)) from error
    _tell(f"{written:,} alerts written")
    return 0


def _write(store: Store, scope: Scope, wanted: AlertFilter, args: argparse.Namespace) -> int:
    from analysis.drift.weighing import find_alerts, read_alerts  # noqa: PLC0415 - as above
    from queries.recorded import recording  # noqa: PLC0415
    from reports.about import About  # noqa: PLC0415
    from reports.formats import WRITERS  # noqa: PLC0415
    from reports.verifying import sha256_of  # noqa: PLC0415

    with recording(store) as asked, _file(args.out) as out:
        found = find_alerts(store, scope, wanted, report=lambda _done, _total, words: _tell(words))
        about = About.of(scope, wanted, found, asked.asked, VERSION)
        alerts = _counted(read_alerts(store, scope, found), len(found.fingerprints))
        WRITERS[args.format](alerts, about, out)
        out.flush()
        told = {**about.parameters(), "data_version": found.data_version, "sha256": sha256_of(out)}
        _record(store, scope, args, told, len(found.fingerprints))
    return len(found.fingerprints)


def _record(store: Store, scope: Scope, args: argparse.Namespace, told: dict[str, object], rows: int) -> None:
    """A row in the record of exports; a store that takes none is told of, as nothing can be written there."""
    if store.writer is None:
        _tell("not recorded: no login that may write is configured")
        return
    name = "standard output" if args.out == STANDARD_OUTPUT else Path(args.out).name
    taken = RecordExport("drift-report", args.format, told, {args.org: rows}, printable(name), f"jobs:{os_user()}")
    taken.record(store, scope.reach)


def _counted(alerts: Iterable[Alert], total: int) -> Iterator[Alert]:
    for number, alert in enumerate(alerts, 1):
        if number % EVERY == 0:
            _tell(f"{number:,} of {total:,} alerts")
        yield alert


@contextmanager
def _file(name: str) -> Iterator[BinaryIO]:
    """A file that gets its name, or goes to the standard output, only if nothing was raised."""
    if name == STANDARD_OUTPUT:
        with tempfile.TemporaryFile() as held:
            yield cast("BinaryIO", held)
            held.seek(0)
            shutil.copyfileobj(held, sys.stdout.buffer)
            return
    target = Path(name)
    try:
        descriptor, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part")
    except OSError as error:
        raise DriftReportError(f"cannot write {printable(name)}: {(error.strerror or str(error)).lower()}") from error
    try:
        with os.fdopen(descriptor, "w+b") as out:
            yield out
        Path(aside).chmod(0o600)
        Path(aside).replace(target)
    except OSError as error:
        raise DriftReportError(f"cannot write {printable(name)}: {(error.strerror or str(error)).lower()}") from error
    finally:
        Path(aside).unlink(missing_ok=True)


def _scope(args: argparse.Namespace) -> Scope:
    first, last = window(args.first or args.since, args.last)
    return Scope.of_days(Reach.of(frozenset({args.org})), first, last, args.org, args.project)


def _severity(text: str) -> float:
    """A number from 0 to 100."""
    number = float(text)
    if not 0 <= number <= SEVEREST:
        raise ValueError(text)
    return number


def _name(store: Store, scope: Scope) -> str | None:
    """What the organization calls itself, as the page shows it."""
    from queries.organizations import Organizations  # noqa: PLC0415 - pandas, as above

    return str(store.ask(Organizations(scope, scope.org))["name"].iloc[0])


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr)

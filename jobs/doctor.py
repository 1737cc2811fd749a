"""``python -m jobs doctor``: what the store has and lacks, and the SQL that would mend it. Changes nothing."""

from __future__ import annotations

import dataclasses
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from queries.checkup import examine, serves
from queries.embedded import DATABASE, start
from queries.engine import Store
from queries.findings import Finding
from queries.owner import open_engine

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from settings import Settings

SIGNS = {"ok": "ok      ", "degraded": "degraded", "missing": "MISSING "}
NOT_MADE_YET = Finding(
    "connection", "missing", "The embedded store was not made yet: `python -m jobs demo` makes it.", required=True
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Print every finding; 1 if Rankscope cannot serve."""
    findings = diagnose(settings)
    print(as_json(findings) if args.json else as_text(findings))
    return 0 if serves(findings) else 1


def diagnose(settings: Settings) -> tuple[Finding, ...]:
    """The findings about the settings' store, seen through the login that pages use."""
    if settings.database_url is None and not settings.data_folder.exists():
        return (NOT_MADE_YET,)
    with opened(settings) as store:
        return examine(store)


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """The store as the application opens it, closed afterwards."""
    if settings.database_url is None:
        with start(settings.data_folder) as lease:
            yield from _store(lease.url("dash_read", DATABASE), lease.url("dash_write", DATABASE))
    else:
        yield from _store(settings.database_url, settings.write_url)


def _store(reader: str, writer: str | None) -> Iterator[Store]:
    store = Store(open_engine(reader), open_engine(writer) if writer else None)
    try:
        yield store
    finally:
        store.close()


def as_text(findings: tuple[Finding, ...]) -> str:
    """One line per finding, then the SQL in the order in which it should be run."""
    lines = [f"{SIGNS[finding.state]}  {finding.name}: {finding.sentence}" for finding in findings]
    mends = [f"-- {finding.name}\n{finding.mend}" for finding in findings if finding.mend]
    if mends:
        lines += ["", "-- What would mend it, for the store's owner to read and run. Nothing was changed.", ""]
        lines.append("\n\n".join(mends))
    verdict = "Rankscope can serve this store." if serves(findings) else "Rankscope cannot serve this store."
    return "\n".join([*lines, "", verdict])


def as_json(findings: tuple[Finding, ...]) -> str:
    """The same for a program."""
    listed = [dataclasses.asdict(finding) for finding in findings]
    return json.dumps({"serves": serves(findings), "findings": listed}, indent=2)

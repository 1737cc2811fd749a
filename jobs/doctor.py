"""``python -m jobs doctor``: what the store has and lacks, and the SQL that would mend it. Changes nothing."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from jobs.target import NotMadeYetError, opened
from queries.checkup import examine, serves
from queries.findings import Finding

if TYPE_CHECKING:
    import argparse

    from settings import Settings

SIGNS = {"ok": "ok      ", "degraded": "degraded", "missing": "MISSING "}


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
    try:
        with opened(settings) as store:
            return examine(store)
    except NotMadeYetError as error:
        return (Finding("connection", "missing", str(error), required=True),)


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

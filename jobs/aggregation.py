"""``python -m jobs aggregate``: clusters and contradictions of every scope, kept fresh in schema rankscope."""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jobs.ending import Ending
from jobs.target import opened
from jobs.terminal import printable
from queries.aggregation_input import READING, AggregationScopes
from queries.aggregation_runs import DropResults, NoteFailure, NoteUnchanged, StandingRuns, claimed, writing
from queries.errors import StoreError
from queries.log_writers import ForgetWriters
from queries.organizations import unknown_organizations
from queries.scope import EVERYTHING, Reach, is_storable

if TYPE_CHECKING:
    from queries.aggregation_input import AggregationScope, ScopeFound
    from queries.aggregation_runs import StandingRun
    from queries.engine import Store
    from settings import Settings

INTERVAL = 60.0  # seconds from the start of one pass to that of the next (000)
AGAIN = 5.0  # seconds until a pass that could not begin is tried again; doubled each time, up to the interval
POLITE = 10  # what a process that runs beside the dashboard adds to its niceness

NEEDS_WRITE_LOGIN = "Aggregation writes to schema rankscope: set RANKSCOPE_WRITE_URL to a login that may."

Outcome = Literal["done", "unchanged", "busy", "gone", "failed"]


class AggregationError(Exception):
    """An aggregation that cannot begin, in one sentence."""


@dataclass(frozen=True)
class Report:
    """What became of one scope, and one sentence on it."""

    scope: AggregationScope
    outcome: Outcome
    sentence: str
    run: int | None = None

    @classmethod
    def unchanged(cls, scope: AggregationScope, standing: StandingRun) -> Report:
        """A scope whose result still holds."""
        since = f"unchanged since {standing.finished_at:%Y-%m-%d %H:%M:%S %Z}, skipped"
        return cls(scope, "unchanged", since, standing.id)

    def in_words(self) -> str:
        """The scope and the sentence, for a terminal."""
        project = "no project" if self.scope.project_id is None else printable(self.scope.project_id)
        return f"{printable(self.scope.org_id)} / {project}: {self.sentence}"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--org", action="append", metavar="ORG", help="only this organization; may be repeated")
    parser.add_argument(
        "--every",
        type=_seconds,
        nargs="?",
        const=INTERVAL,
        metavar="SECONDS",
        help=f"go on for ever, a pass every so many seconds ({INTERVAL:.0f} if no number is given); otherwise once",
    )
    # How the application starts it: with its embedded store, politely, and only for as long as the application lives.
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Aggregate once, or until told to end; 1 if a scope failed in the last pass."""
    if args.beside is not None:
        os.nice(POLITE)
        settings = replace(settings, database_url=None, write_url=None, data_folder=args.beside)
    if settings.database_url is not None and settings.write_url is None:
        raise AggregationError(NEEDS_WRITE_LOGIN)
    reach = EVERYTHING if args.org is None else Reach.of(frozenset(args.org))
    with Ending(with_input=args.beside is not None) as ending, opened(settings) as store:
        if args.org is not None:
            refuse_unknown(store, args.org)
        return go_on(store, reach, args.every, ending) if args.every else _failures(run_pass(store, reach, ending))


def go_on(store: Store, reach: Reach, every: float, ending: Ending) -> int:
    """One pass after another, the first at once, until it is time to end; a store that is away is waited for."""
    failures = 0
    while True:
        started = time.monotonic()
        try:
            code = _failures(run_pass(store, reach, ending))
            failures, pause = 0, max(every - (time.monotonic() - started), 0)
        except StoreError as error:
            code, pause = 1, min(every, AGAIN * 2**failures)
            failures += 1
            print(f"no pass: {error.sentence} Again in {pause:.0f} s.", file=sys.stderr, flush=True)
        if ending.comes_within(pause):
            return code


def run_pass(store: Store, reach: Reach, ending: Ending) -> list[Report]:
    """Every scope in reach once, one after the other; what goes wrong in one is that one's affair."""
    with store.reading(reach, READING, name="aggregation scopes") as snapshot:
        scopes = AggregationScopes(reach).ask(snapshot)
        standing = StandingRuns(reach).ask(snapshot)
    reports = []
    for found in scopes:
        if ending.has_come:
            break
        run = standing.get(found.scope)
        quiet = found.there and run is not None and run.data_version == found.version
        report = Report.unchanged(found.scope, run) if quiet and run else attempt(store, found)
        print(report.in_words(), flush=True)
        reports.append(report)
    note_unchanged(store, reports)
    forget_writers(store, reach)
    return reports


def attempt(store: Store, found: ScopeFound) -> Report:
    """Aggregate one scope, or say why not; its earlier result stands unless a new one is complete."""
    try:
        return refresh(store, found)
    except StoreError as error:
        return _failed(store, found.scope, error.sentence)
    except Exception as error:  # noqa: BLE001 - whatever one scope's data do to the library, the others go on
        # Kind and place alone: the text of such an error may quote what a tenant wrote.
        place = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
        return _failed(store, found.scope, f"The pass ended with {at}. Its earlier result stands.")


def refresh(store: Store, found: ScopeFound) -> Report:
    """Claim a scope and bring its result up to date, all in one transaction."""
    from analysis.aggregation import aggregate  # noqa: PLC0415 - the library takes a second that other jobs need not wait for

    scope = found.scope
    with claimed(store, scope) as connection:
        if connection is None:
            return Report(scope, "busy", "another aggregator is at work on it, left alone")
        if not found.there:
            DropResults(scope).apply(connection)
            return Report(scope, "gone", "no longer in the store, its results were removed")
        # Someone else may have been here since the scopes were listed.
        standing = StandingRuns.of(scope).ask(connection).get(scope)
        made = aggregate(store, scope, unless=standing.data_version if standing else None)
        if made is not None:
            made.change().apply(connection)
            return Report(scope, "done", made.in_words())
        if standing is None:
            raise ValueError("expected a pass over a scope without a result, found none")
        return Report.unchanged(scope, standing)


def note_unchanged(store: Store, reports: list[Report]) -> None:
    """Tell readers, organization by organization, that what stands was looked at."""
    for org, quiet in groupby(reports, key=lambda report: report.scope.org_id):
        runs = tuple(report.run for report in quiet if report.run is not None)
        if runs:
            with writing(store, Reach((org,))) as connection:
                NoteUnchanged(org, runs).apply(connection)


def forget_writers(store: Store, reach: Reach) -> None:
    """Let go of log writers that have long ended; where the store's schema or grants are older, they stay."""
    with suppress(StoreError), writing(store, reach) as connection:
        ForgetWriters(reach).apply(connection)


def refuse_unknown(store: Store, orgs: list[str]) -> None:
    """Stop where an organization is named that is not there: a typing error must not look like a quiet night."""
    with store.reading(Reach.of(frozenset(orgs)), name="aggregation scopes") as snapshot:
        unknown = unknown_organizations(snapshot, tuple(filter(is_storable, orgs)))
    unknown += tuple(org for org in orgs if not is_storable(org))
    if unknown:
        raise AggregationError(f"no such organization: {', '.join(map(printable, unknown))}. Nothing was aggregated.")


def _failed(store: Store, scope: AggregationScope, sentence: str) -> Report:
    try:
        with claimed(store, scope) as connection:
            if connection is not None:
                NoteFailure(scope, sentence).apply(connection)
    except StoreError as error:
        sentence = f"{sentence} That could not be noted: {error}."
    return Report(scope, "failed", f"failed. {sentence}")


def _failures(reports: list[Report]) -> int:
    return int(any(report.outcome == "failed" for report in reports))


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 1 <= seconds <= 86_400:  # noqa: PLR2004 - a second and a day
        raise argparse.ArgumentTypeError(f"expected seconds from 1 to 86400, found {text}")
    return seconds

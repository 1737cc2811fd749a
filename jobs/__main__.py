"""``python -m jobs NAME …``: what runs without a person. One sentence on stderr and exit code 1 when it cannot."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import settings
from jobs import (
    aggregation,
    contradictions,
    days,
    demo,
    doctor,
    drift_report,
    grant,
    migrate,
    pins,
    rank,
    replay,
    target,
    verify_bundle,
)
from queries.embedded import EmbeddedError
from queries.errors import StoreError
from settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from settings import Settings

INTERRUPTED = 130


class Job(NamedTuple):
    """A command: what it is for, what it takes, what it does."""

    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    main: Callable[[argparse.Namespace, Settings], int]


JOBS = {
    "doctor": Job("say what the store has and lacks, and the SQL that would mend it", doctor.arguments, doctor.main),
    "migrate": Job("create or update schema rankscope", migrate.arguments, migrate.main),
    "demo": Job("prepare the embedded store and fill it once", demo.arguments, demo.main),
    "rank": Job("rank what a store remembers about a question, and record nothing", rank.arguments, rank.main),
    "pins": Job("say whether an organization's pins hold", pins.arguments, pins.main),
    "replay": Job("say what other settings would have done to what was logged", replay.arguments, replay.main),
    "aggregate": Job("refresh clusters and contradictions of every scope", aggregation.arguments, aggregation.main),
    "contradictions": Job(
        "say which observations of a file contradict each other", contradictions.arguments, contradictions.main
    ),
    "drift-report": Job("write an organization's drift alerts to a file", drift_report.arguments, drift_report.main),
    "verify-bundle": Job(
        "say whether an evidence bundle is as it was made", verify_bundle.arguments, verify_bundle.main
    ),
    "grant": Job("give a name a role", grant.grant_arguments, grant.grant),
    "revoke": Job("take every role from a name", grant.revoke_arguments, grant.revoke),
    "principals": Job("list who was granted which role", grant.no_arguments, grant.principals),
}


def parser() -> argparse.ArgumentParser:
    """The command line of every job."""
    root = argparse.ArgumentParser(prog="python -m jobs", description="Rankscope's jobs.")
    commands = root.add_subparsers(dest="job", metavar="NAME", required=True)
    for name, job in JOBS.items():
        job.arguments(commands.add_parser(name, help=job.help, description=job.help))
    return root


def run(argv: Sequence[str] | None = None) -> int:
    """Do one job and return its exit code."""
    args = parser().parse_args(argv)
    try:
        code = JOBS[args.job].main(args, settings.now())
        sys.stdout.flush()
    except StoreError as error:
        return _fail(error.sentence)
    except (
        SettingsError,
        EmbeddedError,
        target.NotMadeYetError,
        target.UnknownNameError,
        aggregation.AggregationError,
        contradictions.FileError,
        days.DaysError,
        demo.MakerError,
        drift_report.DriftReportError,
        grant.GrantError,
        migrate.MigrateError,
        pins.PinsError,
        rank.RankError,
        replay.ReplayError,
        verify_bundle.VerifyError,
    ) as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough; Python would complain once more while flushing at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(run())

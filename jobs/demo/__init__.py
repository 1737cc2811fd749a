"""``python -m jobs demo``: the embedded store, migrated and filled once, so that there is something to look at."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from jobs.demo.load import SEED, fill
from jobs.demo.makers import MakerError
from jobs.demo.sizes import DEFAULT, SIZES
from jobs.target import embedded
from queries.migrate import migrate

__all__ = ["MakerError", "Progress", "arguments", "main"]

if TYPE_CHECKING:
    import argparse

    from settings import Settings


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--if-empty", action="store_true", help="say nothing when the store already holds data")
    parser.add_argument(
        "--size", choices=sorted(SIZES), default=DEFAULT.name, help="how much of everything; large is for benchmarks"
    )
    parser.add_argument("--seed", default=SEED, help="another seed, another past")


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Start, migrate and fill, and leave the server running for whoever starts next."""
    if settings.database_url is not None:
        print("serving the store named by DATABASE_URL; no demo data is written")
        return 0
    with Progress() as say:
        say("starting the embedded PostgreSQL")
        with embedded(settings.data_folder, linger=True) as engine:
            say("migrating the store")
            migrate(engine, create_store=True)
            with engine.begin() as connection:
                written = fill(connection, datetime.now(UTC), SIZES[args.size], args.seed, say)
    if written:
        organizations, observations, rows = (written[t] for t in ("organizations", "observations", "retrieval_ab_logs"))
        print(
            f"the demo store is ready: {organizations} organizations, {observations:,} observations, {rows:,} log rows"
        )
    elif not args.if_empty:
        print("the store already holds organizations and stays as it is")
    return 0


class Progress:
    """One line that says what is being done, rewritten in place; on a terminal only."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()

    def __call__(self, step: str) -> None:
        """Show the step that begins."""
        if self.live:
            print(f"\r\033[K{step} …", end="", flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            print("\r\033[K", end="", flush=True)

"""The demo's rows into a store, all in one transaction: a store is empty or filled, never half."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jobs.demo.makers import making
from jobs.demo.sizes import DEFAULT, Size, of_copies, of_named
from queries import own_schema, schema
from queries.demo_truth import create_truth, truth
from queries.load import analyze, claim_empty, copy_encoded, rebuilt_indexes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from sqlalchemy import Connection, Table

    from jobs.demo.rows import Records
    from jobs.demo.texts import Organization

    Rows = Callable[[Table], Iterable[bytes]]

SEED = "tide"

# What is written beside schema demo.
TABLES = (
    schema.organizations,
    schema.projects,
    schema.sessions,
    schema.observations,
    schema.observation_embeddings,
    schema.retrieval_ab_logs,
    schema.context_injection_logs,
    schema.observation_weight_history,
    schema.session_diagnostics,
    own_schema.flag_changes,
    own_schema.log_writers,
)


def fill(
    connection: Connection,
    now: datetime,
    size: Size = DEFAULT,
    seed: str = SEED,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, int] | None:
    """Rows written by table, or ``None`` where the store already holds organizations and stays as it is."""
    if not claim_empty(connection):
        return None
    from jobs.demo.rows import COLUMNS  # noqa: PLC0415 - a filled store need not wait for what makes one

    create_truth(connection)
    written: Counter[str] = Counter()
    with rebuilt_indexes(connection, TABLES):
        with organizations_of(now, size, seed, say) as organizations:
            for rows in organizations:
                for table, columns in COLUMNS.items():
                    # Identities are handed out in the order of arrival, so a later log row has the higher one.
                    written[table.name] += copy_encoded(connection, table, columns, rows(table))
        say("building indexes")
    analyze(connection, (*TABLES, *truth.sorted_tables))
    return dict(written)


@contextmanager
def organizations_of(now: datetime, size: Size, seed: str, say: Callable[[str], None]) -> Iterator[Iterator[Rows]]:
    """One organization after the other as what gives the rows of a table, so that a large store is never in memory."""
    total = len(told(size))
    if size.copies:
        with making(now, size, seed, total, say) as organizations:
            yield organizations
    else:
        with ThreadPoolExecutor(max_workers=1) as maker:
            yield ahead(maker, (made(number, now, size, seed, say) for number in range(total)))


def ahead(maker: ThreadPoolExecutor, all_made: Iterator[Records]) -> Iterator[Rows]:
    """The same, each made while the one before is written: the server works on one core, this process on another."""
    coming = maker.submit(next, all_made, None)
    while (ready := coming.result()) is not None:
        coming = maker.submit(next, all_made, None)
        yield ready.encoded


def told(size: Size) -> list[tuple[Organization, Size]]:
    """The organizations of a demo in their order, each with the size that its part is taken of."""
    from jobs.demo.texts import copies, organizations  # noqa: PLC0415 - as above

    named = [(org, of_named(size)) for org in organizations()]
    return named + [(org, of_copies(size)) for org in copies(size.copies)]


def made(number: int, now: datetime, size: Size, seed: str, say: Callable[[str], None]) -> Records:
    """One organization, told, embedded and replayed."""
    from jobs.demo.history import replay  # noqa: PLC0415 - as above
    from jobs.demo.rows import Records  # noqa: PLC0415 - as above
    from jobs.demo.story import tell  # noqa: PLC0415 - as above
    from jobs.demo.vectors import embed  # noqa: PLC0415 - as above

    all_told = told(size)
    org, part = all_told[number]
    name = f"organization {number + 1} of {len(all_told)}"
    say(f"imagining {name}")
    story = tell(org, part, now, seed)
    say(f"embedding {len(story.placed):,} observations of {name}")
    full = embed([entry.memory.text for entry in story.placed])
    # copies are there for their number: their full vectors alone take a gigabyte
    said = [] if part.copies else [(row, *pair) for row, e in enumerate(story.placed) for pair in e.memory.routes]
    routes, others = [(row, route) for row, route, _ in said], embed([text for _, _, text in said])
    say(f"replaying {len(story.sessions):,} sessions of {name}")
    return Records(replay(story, full), full, routes, others)

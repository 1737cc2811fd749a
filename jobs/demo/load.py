"""The demo's rows into a store, all in one transaction: a store is empty or filled, never half."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from jobs.demo.sizes import DEFAULT, Size
from queries import own_schema, schema
from queries.demo_truth import create_truth, truth
from queries.load import analyze, claim_empty, copy_records, rebuilt_indexes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from sqlalchemy import Connection

    from jobs.demo.rows import Records

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
    from jobs.demo.rows import COLUMNS  # noqa: PLC0415 - brings the ranking library, which a filled store need not wait for

    create_truth(connection)
    written: Counter[str] = Counter()
    with rebuilt_indexes(connection, TABLES):
        for records in ahead(histories(now, size, seed, say)):
            for table, columns in COLUMNS.items():
                # Identities are handed out in the order of arrival, so a later log row has the higher one.
                written[table.name] += copy_records(connection, table, columns, records.of(table))
        say("building indexes")
    analyze(connection, (*TABLES, *truth.sorted_tables))
    return dict(written)


def ahead(made: Iterator[Records]) -> Iterator[Records]:
    """The same, each made while the one before is written: the server works on one core, this process on another."""
    with ThreadPoolExecutor(max_workers=1) as maker:
        coming = maker.submit(next, made, None)
        while (ready := coming.result()) is not None:
            coming = maker.submit(next, made, None)
            yield ready


def histories(now: datetime, size: Size, seed: str, say: Callable[[str], None]) -> Iterator[Records]:
    """One organization after the other, so that a large store is never in memory."""
    from jobs.demo.history import replay  # noqa: PLC0415 - as above
    from jobs.demo.rows import Records  # noqa: PLC0415 - as above
    from jobs.demo.sizes import of_copies, of_named  # noqa: PLC0415 - as above
    from jobs.demo.story import tell  # noqa: PLC0415 - as above
    from jobs.demo.texts import copies, organizations  # noqa: PLC0415 - as above
    from jobs.demo.vectors import embed  # noqa: PLC0415 - as above

    named = [(org, of_named(size)) for org in organizations()]
    told = named + [(org, of_copies(size)) for org in copies(size.copies)]
    for number, (org, part) in enumerate(told, start=1):
        name = f"organization {number} of {len(told)}"
        say(f"imagining {name}")
        story = tell(org, part, now, seed)
        say(f"embedding {len(story.placed):,} observations of {name}")
        full = embed([entry.memory.text for entry in story.placed])
        # copies are there for their number: their full vectors alone take a gigabyte
        said = [] if part.copies else [(row, *pair) for row, e in enumerate(story.placed) for pair in e.memory.routes]
        routes, others = [(row, route) for row, route, _ in said], embed([text for _, _, text in said])
        say(f"replaying {len(story.sessions):,} sessions of {name}")
        yield Records(replay(story, full), full, routes, others)

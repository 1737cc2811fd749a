"""Statements that travel together: a snapshot's beginning, scope, questions and end in one round trip.

Each round trip is a wait, and after every wait the threads of a process stand in line for its interpreter: eight
callers spent more time there than the server took to answer them.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg
from psycopg import generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, Format
from sqlalchemy import exc

from queries.connections import GRACE
from queries.errors import sentences
from queries.transactions import BEGIN, COMMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from psycopg.abc import Buffer, PQGen
    from psycopg.abc import Transformer as Reader
    from psycopg.pq.abc import PGconn, PGresult
    from sqlalchemy import Engine, PoolProxiedConnection

    from queries.connections import DeadlineConnection, Key
    from queries.engine import Store
    from queries.scope import Reach

    Rows = Sequence[tuple[Any, ...]]

MOST_NAMED = 100  # statements that one connection keeps prepared; further ones are read anew each time
# What the server says where its prepared statements are not those that the connection remembers: it forgot one, has one
# of that name, would answer with other columns since a table was altered, or misses a type that a restore made anew.
# Behind a pooler the first two come at any time.
OUTDATED = (pg.InvalidSqlStatementName, pg.DuplicatePreparedStatement, pg.FeatureNotSupported, pg.InternalError_)


@dataclass(frozen=True)
class Statement:
    """One statement of a round: its text with parameters ``$1``, ``$2``, …, and what is bound to them.

    One that ``is_kept`` is prepared at its first use, so that the server need not read it again.
    """

    text: bytes
    values: Sequence[Any] = ()
    is_kept: bool = True


OPENS = Statement(BEGIN.encode(), is_kept=False)
ENDS = Statement(COMMIT.encode(), is_kept=False)
# Counted, because nobody reads a dozen settings back. Transaction-local (true), as in every other snapshot.
SET_LOCAL = b"select count(set_config(key, value, true)) from json_each_text($1::json)"


class Snapshot:
    """A read-only transaction in one reach that opens with its first questions and ends with its last."""

    def __init__(
        self,
        raw: DeadlineConnection,
        settings: Mapping[str, str],
        more: Mapping[str, str] | None = None,
        *,
        prepares: bool = True,
    ) -> None:
        self._raw = raw
        self._fixed = settings
        self._more = dict(more or {})
        self._prepares = prepares
        self._is_open = False

    def ask(self, *statements: Statement, more: Mapping[str, str] | None = None, ends: bool = False) -> list[Rows]:
        """The rows of each statement, in one round trip; ``more`` are settings from here on, none of reach or limits.

        What ``ends`` it ends with these questions. Asked again, a new snapshot begins.
        """
        self._more |= more or {}
        opening = [] if self._is_open else [OPENS, _setting({**self._more, **self._fixed})]
        later = {key: value for key, value in (more or {}).items() if key not in self._fixed}
        if self._is_open and later:
            opening = [_setting(later)]
        together = [*opening, *statements, *([ENDS] if ends else [])]
        answers = ask_at_once(self._raw, together, prepares=self._prepares)
        self._is_open = not ends
        return answers[len(opening) : len(opening) + len(statements)]


@contextmanager
def snapshot(
    store: Store,
    reach: Reach,
    limit: float,
    *,
    name: str,
    more: Mapping[str, str] | None = None,
    prepares: bool = True,
) -> Iterator[Snapshot]:
    """``Store.reading`` for those who know their questions beforehand: same reach, limits and deadline, fewer waits.

    One that was ``OUTDATED`` is asked again in a snapshot that ``prepares`` nothing: there it cannot be.
    """
    settings = store.reading_settings(reach, limit, name=name)
    with sentences():
        borrowed = _borrowed(store.reader)
        raw: DeadlineConnection = borrowed.driver_connection  # type: ignore[assignment]
        raw.deadline = limit + GRACE
        try:
            yield Snapshot(raw, settings, more, prepares=prepares)
        finally:
            if raw.closed:
                borrowed.invalidate()
            borrowed.close()


def _borrowed(engine: Engine) -> PoolProxiedConnection:
    try:
        return engine.raw_connection()
    except psycopg.Error as error:
        # As ``Engine.connect`` tells it: a connection that could not be made is none that was cut.
        raise exc.DBAPIError(None, None, error) from error


def ask_at_once(raw: DeadlineConnection, statements: Sequence[Statement], *, prepares: bool = True) -> list[Rows]:
    """The rows of each statement, all sent before the first is answered; the first that fails is raised.

    Where a transaction is open they are part of it; those behind one that fails are not run. Unless it ``prepares``,
    every statement is read anew, whatever has been prepared.
    """
    pgconn, named, most = raw.pgconn, dict(raw.named) if prepares else {}, MOST_NAMED if prepares else 0
    sends: list[Callable[[], None]] = []
    readers: list[Reader | None] = []
    made: dict[int, Key] = {}
    for statement in statements:
        reader, bound, key = _bound(raw, statement)
        if key not in named and statement.is_kept and len(named) < most:
            made[len(sends)] = key
            named[key] = blake2b(repr(key).encode(), digest_size=12).hexdigest().encode()
            sends.append(partial(pgconn.send_prepare, named[key], *key))
            readers.append(None)
        name = named.get(key)
        sends.append(
            partial(pgconn.send_query_params, key[0], bound, key[1], reader.formats, Format.BINARY)
            if name is None
            else partial(pgconn.send_query_prepared, name, bound, reader.formats, Format.BINARY)
        )
        readers.append(reader)
    results = _answered(raw, sends)
    for place, result in enumerate(results):
        if result.status == ExecStatus.FATAL_ERROR:
            error = pg.error_from_result(result, encoding=raw.info.encoding)
            if isinstance(error, OUTDATED) and prepares:
                # what else is prepared on this connection, nobody knows; on a new one nothing is
                raw.close()
            raise error
        if place in made:
            raw.named[made[place]] = named[made[place]]
    return [_rows(reader, result) for reader, result in zip(readers, results, strict=True) if reader is not None]


def _bound(raw: DeadlineConnection, statement: Statement) -> tuple[Reader, Sequence[Buffer | None] | None, Key]:
    reader: Reader = Transformer(raw)
    if not statement.values:
        return reader, None, (statement.text, ())
    bound = reader.dump_sequence(statement.values, [PyFormat.AUTO] * len(statement.values))
    return reader, bound, (statement.text, reader.types or ())


def _rows(reader: Reader, result: PGresult) -> Rows:
    if result.status != ExecStatus.TUPLES_OK:
        return []
    reader.set_pgresult(result)
    return reader.load_rows(0, result.ntuples, tuple)


def _answered(raw: DeadlineConnection, sends: Sequence[Callable[[], None]]) -> list[PGresult]:
    is_whole = False
    try:
        with raw.lock:
            results = raw.wait(_round(raw.pgconn, sends))
        is_whole = True
    finally:
        if not is_whole:
            # what the server has still to say, and to which question, nobody knows
            raw.close()
    return results


def _round(pgconn: PGconn, sends: Sequence[Callable[[], None]]) -> PQGen[list[PGresult]]:
    """One result for each; one that fails is a result, too, and so is each that was not run for it."""
    pgconn.enter_pipeline_mode()
    for send in sends:
        send()
    pgconn.pipeline_sync()
    yield from generators.send(pgconn)
    results: list[PGresult] = []
    for _ in sends:
        results += (yield from generators.fetch_many(pgconn))[:1]
    yield from generators.fetch_many(pgconn)  # that all were answered
    pgconn.exit_pipeline_mode()
    return results


def _setting(settings: Mapping[str, str]) -> Statement:
    return Statement(SET_LOCAL, (json.dumps(settings),))

"""What went wrong with the store, as one sentence an operator can act on: no SQL, host, user or traceback."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
from sqlalchemy import exc

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

NOT_ANSWERING = "The database is not answering. Nothing was changed. Try again in a moment."
BAD_ADDRESS = "The store's address cannot be read. DATABASE_URL has the form postgresql://user@host:port/database."
UNREACHABLE = "The database cannot be reached. Check that it runs and that DATABASE_URL names it."
NO_WRITER = "No login that may write is configured here, so nothing was changed."
NO_STORE = (
    "This database holds no agent memory: it lacks a table that every page needs, `organizations`. Check that "
    "DATABASE_URL names the platform's database. `python -m jobs doctor` lists what is missing; in an empty database "
    "`python -m jobs migrate --create-store` makes a store."
)
BUSY = "All connections to the database are in use. Try again in a few seconds."
UNKNOWN = "The database refused this question. The log on the server names the reason."

# SQLSTATE, or its two-character class → (what it is called in the log, what the operator reads).
SENTENCES: dict[str, tuple[str, str]] = {
    "08": ("connection", NOT_ANSWERING),
    "22": (
        "data",
        "The store holds a value that cannot be read as what it should be. `python -m jobs doctor` says more.",
    ),
    "22P02": ("data", "This address names something that cannot exist. Check the link."),
    "23": ("conflict", "The change conflicts with what is already stored. Nothing was changed."),
    "25006": ("read_only", "This database accepts no writes now: it is a standby or set to read-only."),
    "25P03": ("idle", "The question was left open too long and the database ended it. Try again."),
    "28": ("login", "The database rejected the login. Check user and password in DATABASE_URL."),
    "28P01": ("login", "The database rejected the password. Check DATABASE_URL."),
    "3D000": ("database", "The database named in DATABASE_URL does not exist on that server."),
    "3F000": ("schema", "Rankscope's own schema is missing. Run `python -m jobs migrate`."),
    "40001": ("retry", "Someone else changed the same data at the same moment. Nothing was changed. Try again."),
    "40P01": ("retry", "Someone else changed the same data at the same moment. Nothing was changed. Try again."),
    "42501": (
        "privilege",
        "The database user may not do this. `python -m jobs doctor` prints the grants that are missing.",
    ),
    "42703": ("column", "The store lacks a column that this page needs. `python -m jobs doctor` names it."),
    "42704": ("extension", "The store lacks the pgvector extension. `python -m jobs doctor` prints how to add it."),
    "42883": (
        "extension",
        "The store lacks a function that this page needs. `python -m jobs doctor` names what is missing.",
    ),
    "42P01": ("table", "The store lacks a table that this page needs. `python -m jobs doctor` names it."),
    "53": ("resources", "The database is out of memory or disk space. Its administrator has to make room."),
    "53300": ("connections", "The database accepts no more connections. Try again in a few seconds."),
    "55P03": ("locked", "Someone else is changing the same row. Nothing was changed. Try again."),
    "57014": (
        "slow",
        "The question took longer than its limit and was stopped. Choose a shorter window or one organization.",
    ),
    "57P01": ("restarting", NOT_ANSWERING),
    "57P02": ("restarting", NOT_ANSWERING),
    "57P03": ("starting", "The database is starting or recovering. Try again in a moment."),
    "58": ("system", "The database reports a failure of its own system. Its administrator has to look."),
    "XX": ("internal", "The database reports an internal failure. Its administrator has to look."),
}

# The kinds that one question can meet while others of the same page are answered.
LACKING = ("schema", "table", "privilege", "column", "extension", "slow", "data")
OUR_SCHEMA = ("schema", "table", "privilege", "column")  # what a store without our tables answers


class DeadlineError(psycopg.OperationalError):
    """The server was silent for longer than the client waits: it is stopped, or the network swallows packets."""


@dataclass(eq=False)
class StoreError(Exception):
    """A failed read or write: what to call it, what to tell the operator, and the SQLSTATE if there was one."""

    kind: str
    sentence: str
    sqlstate: str | None = None

    def __str__(self) -> str:
        # What has no SQLSTATE is known by what raised it; its text may hold SQL and values, which no log is given.
        raised = "no sqlstate" if self.__cause__ is None else type(self.__cause__).__name__
        return f"{self.kind} ({self.sqlstate or raised})"


def store_error(error: Exception) -> StoreError:
    """The sentence for any error that SQLAlchemy or psycopg raised, found by SQLSTATE and never by its text."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, exc.TimeoutError):
        return StoreError("busy", BUSY)
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    state = getattr(original, "sqlstate", None)
    if state is None:
        is_asked = isinstance(error, exc.DBAPIError) and error.statement is not None
        return _without_state(original, is_asked=is_asked)
    kind, sentence = SENTENCES.get(state) or SENTENCES.get(state[:2]) or ("unknown", UNKNOWN)
    return StoreError(kind, sentence, state)


def _without_state(error: BaseException | None, *, is_asked: bool) -> StoreError:
    """What never reached a server that could have given a SQLSTATE."""
    if isinstance(error, DeadlineError):
        return StoreError("silent", NOT_ANSWERING)
    if isinstance(error, psycopg.OperationalError):
        return _connect_error(error)
    if isinstance(error, psycopg.DataError):  # psycopg itself could not read what the server sent
        return StoreError(*SENTENCES["22"])
    # libpq refuses an option that it does not know before it connects
    refused = isinstance(error, psycopg.ProgrammingError) and not is_asked
    return StoreError("address", BAD_ADDRESS) if refused else StoreError("unknown", UNKNOWN)


# While connecting psycopg passes on libpq's text only: the server's FATAL line is all there is to go by.
FATAL_LINES = (
    (r"password authentication failed", "28P01"),
    (r"no pg_hba\.conf entry|role \".*\" does not exist|no password supplied", "28"),
    (r"database \".*\" does not exist", "3D000"),
    (r"too many (clients|connections)|remaining connection slots", "53300"),
    (r"is starting up|is shutting down|in recovery mode|not yet accepting", "57P03"),
)


def _connect_error(error: psycopg.OperationalError) -> StoreError:
    for pattern, state in FATAL_LINES:
        if re.search(pattern, str(error)):
            return StoreError(*SENTENCES[state], state)
    return StoreError("unreachable", UNREACHABLE)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: commas between them, and "and" before the last."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


@contextmanager
def sentences() -> Generator[None]:
    """Whatever goes wrong with the store inside comes out as a ``StoreError``."""
    try:
        yield
    except (exc.SQLAlchemyError, psycopg.Error) as error:
        raise store_error(error) from error


def was_cut(error: StoreError) -> bool:
    """Whether a connection was lost that had been made."""
    cause = error.__cause__
    return isinstance(cause, exc.DBAPIError) and cause.connection_invalidated

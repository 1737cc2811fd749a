"""Records as COPY's binary format: written without a connection, and by whichever process has the time."""

from __future__ import annotations

import json
import struct
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import BigInteger, Boolean, DateTime, Double, Integer, Text, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from uuid import UUID

    import numpy as np
    from sqlalchemy import Table
    from sqlalchemy.types import TypeEngine

HEADER, TRAILER = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
NULL = b"\xff\xff\xff\xff"
CHUNK = 1 << 18  # bytes that are handed on at a time
REPEATED = 4096  # texts and moments that are remembered: rows of one retrieval share most of theirs
EPOCH, MICROSECOND = datetime(2000, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
TEXT_NUMBER, UUID_NUMBER = 25, 2950  # of the types, the same in every Postgres
TRUE, FALSE = b"\0\0\0\1\1", b"\0\0\0\1\0"

_LONG, _DOUBLE, _INTEGER = (struct.Struct(f).pack for f in (">iq", ">id", ">ii"))
_LENGTH, _COUNT, _ARRAY = (struct.Struct(f).pack for f in (">i", ">h", ">iiiii"))


def encoded(table: Table, columns: Sequence[str], records: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The records in pieces, as ``copy … (format binary)`` reads them."""
    makers = [_maker(table.c[name].type) for name in columns]
    begin, parts, size = _COUNT(len(columns)), [HEADER], len(HEADER)
    for record in records:
        fields = [NULL if value is None else make(value) for make, value in zip(makers, record, strict=True)]
        row = b"".join((begin, *fields))
        parts.append(row)
        size += len(row)
        if size >= CHUNK:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join((*parts, TRAILER))


def _maker(kind: TypeEngine[Any]) -> Callable[[Any], bytes]:
    """What turns one value of a column into its length and its bytes."""
    if isinstance(kind, ARRAY):
        return _uuids if isinstance(kind.item_type, Uuid) else _texts
    makers: dict[type, Callable[[Any], bytes]] = {
        Text: _text, Uuid: _uuid, Double: _double, Integer: _integer, BigInteger: _long, Boolean: _boolean,
        DateTime: _moment, JSONB: _json, VECTOR: _vector,
    }  # fmt: skip
    return makers[type(kind)]


@lru_cache(REPEATED)
def _text(value: str) -> bytes:
    written = value.encode()
    return _LENGTH(len(written)) + written


@lru_cache(REPEATED)
def _moment(value: datetime) -> bytes:
    return _LONG(8, (value - EPOCH) // MICROSECOND)


def _uuid(value: UUID) -> bytes:
    return b"\0\0\0\x10" + value.bytes


def _double(value: float) -> bytes:
    return _DOUBLE(8, value)


def _long(value: int) -> bytes:
    return _LONG(8, value)


def _integer(value: int) -> bytes:
    return _INTEGER(4, value)


def _boolean(value: bool) -> bytes:  # noqa: FBT001 - a value of a column
    return TRUE if value else FALSE


def _json(value: object) -> bytes:
    written = b"\1" + json.dumps(value).encode()
    return _LENGTH(len(written)) + written


def _vector(value: np.ndarray[Any, Any]) -> bytes:
    return struct.pack(">ihh", 4 + 4 * len(value), len(value), 0) + value.astype(">f4").tobytes()


def _texts(values: Sequence[str]) -> bytes:
    return _array(TEXT_NUMBER, list(map(_text, values)))


def _uuids(values: Sequence[UUID]) -> bytes:
    return _array(UUID_NUMBER, list(map(_uuid, values)))


def _array(number: int, items: Sequence[bytes]) -> bytes:
    # dimensions, nulls, type; and of the only dimension its length and first index
    written = b"".join((_ARRAY(1, 0, number, len(items), 1) if items else _ARRAY(0, 0, number, 0, 0)[:12], *items))
    return _LENGTH(len(written)) + written

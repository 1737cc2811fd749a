import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# an Arrow column; the stubs know neither large_binary nor lists of it
Arrow = Any
_LARGE_BINARY: Arrow = pa.large_binary()
Texts = Sequence[str] | npt.NDArray[np.object_] | Arrow

_CONTROL_SPACES = "\t\n\v\f\r\ufeff"
# no Unicode version has put punctuation or spaces at or above this code point; a test walks the rest
_LAST_SEPARATOR = 0x20000
_SPACE = ord(" ")
_ROW_END = ord("\n")


def is_separator(character: str) -> bool:
    """Whether a character ends a token: category Z or P, TAB LF VT FF CR or U+FEFF; not U+0085, not U+001C–1F."""
    return unicodedata.category(character)[0] in "ZP" or character in _CONTROL_SPACES


def _ascii_table() -> bytes:
    lowered = (" " if is_separator(chr(point)) else chr(point).lower() for point in range(128))
    return "".join(lowered).encode("ascii") + bytes(range(128, 256))


# bytes of longer sequences map to themselves, so the table is safe on any UTF-8
_ASCII_TABLE = _ascii_table()


@cache
def _separator_points() -> npt.NDArray[np.bool_]:
    table = np.zeros(0x110000, dtype=np.bool_)
    table[:_LAST_SEPARATOR] = [is_separator(chr(point)) for point in range(_LAST_SEPARATOR)]
    table[_ROW_END] = False
    return table


def refuse_lone_text(name: str, texts: object) -> None:
    """Raise for one text where many are asked for: it would be read as a list of letters."""
    if isinstance(texts, str | bytes):
        raise TypeError(f"{name}: expected a list of texts, found one text")


def text_column(texts: Texts) -> Arrow:
    """Texts as one UTF-8 column; lone surrogates, which UTF-8 has no place for, keep their three-byte form."""
    refuse_lone_text("texts", texts)
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        column: Arrow = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        if column.null_count:
            raise ValueError(f"texts: expected strings, found {column.null_count} missing")
        return column.cast(pa.large_string()).cast(pa.large_binary())
    try:
        whole = "".join(texts)
    except TypeError as error:
        raise ValueError(f"texts: expected strings, found {error}") from None
    # not pa.array, nor pa.scalar below: they import pandas, which takes longer than ten thousand texts
    if whole.isascii():
        return _column(_LARGE_BINARY, _offsets(texts), whole.encode("ascii"))
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    return _column(_LARGE_BINARY, _offsets(parts), b"".join(parts))


def _offsets(parts: Texts | Sequence[bytes]) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))))


def _buffers(column: Arrow) -> tuple[npt.NDArray[np.int64], memoryview]:
    """Offsets from 0 and the bytes they cut, also for a slice of a longer column."""
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, np.int64)[column.offset : column.offset + len(column) + 1]
    return offsets - offsets[0], memoryview(data or b"")[offsets[0] : offsets[-1]]


def _column(kind: Arrow, offsets: npt.NDArray[np.int64], data: bytes | memoryview) -> Arrow:
    ends: Arrow = offsets
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])


def joined(column: Arrow) -> bytes:
    """All values of a column in one, each but the last closed by a line feed."""
    bounds: Arrow = np.array([0, len(column)], np.int32)
    whole: Arrow = pa.Array.from_buffers(pa.list_(_LARGE_BINARY), 1, [None, pa.py_buffer(bounds)], children=[column])
    parts: Arrow = pc.binary_join(whole, _column(_LARGE_BINARY, _offsets([b"\n"]), b"\n")[0])
    return cast("bytes", parts[0].as_py())


def _fold_wide(column: Arrow) -> Arrow:
    """Lower-case and space out texts beyond ASCII, all at once: no rule of Python's lower() looks past a line feed."""
    text = joined(pc.replace_substring(column, b"\n", b" ")).decode("utf-8", "surrogatepass").lower()
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    spaced = np.where(_separator_points()[points], np.uint32(_SPACE), points).tobytes()
    folded = spaced.decode("utf-32-le", "surrogatepass").encode("utf-8", "surrogatepass")
    return _split(_column(_LARGE_BINARY, _offsets([folded]), folded), "\n").values


def _split(column: Arrow, separator: str) -> Arrow:
    return pc.split_pattern(column, separator)


def split_column(column: Arrow) -> Arrow:
    """Each text's pieces between separators, lower-case; empty and one-unit pieces are still among them.

    Whoever reads the pieces drops those once per distinct piece, which is far cheaper than once per occurrence.
    """
    offsets, data = _buffers(column)
    narrow = pc.string_is_ascii(_column(pa.large_string(), offsets, data))
    if not pc.all(narrow).as_py():
        wide: Arrow = pc.invert(narrow)
        column = pc.replace_with_mask(column, wide, _fold_wide(column.filter(wide)))
        offsets, data = _buffers(column)
    return _split(_column(_LARGE_BINARY, offsets, bytes(data).translate(_ASCII_TABLE)), " ")


def tokenize(text: str) -> list[str]:
    """The tokens SimHash votes with: lower-case pieces between separators of two UTF-16 units or more."""
    pieces = (piece.decode("utf-8", "surrogatepass") for piece in split_column(text_column([text]))[0].as_py())
    return [piece for piece in pieces if len(piece) > 1 or piece > "\uffff"]

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ranking.contradictions.stretches import COLON, DASH, TIE
from ranking.contradictions.vocabulary import Ids
from ranking.tokens import Arrow, Texts, text_column

Marks = tuple[tuple[str, str], ...]
# where the reader of claims always begins a new one; a dot inside a number or a path does not end a sentence
_ENDS = (*((mark + space, mark + "\n") for mark in ".!?" for space in " \t\xa0"), (";", "\n"), ("\r", "\n"))
_TEXT_END = "\0"
# a comma parts clauses unless it stands in a number; signs of paths, quotes and compounds become pieces of their own
_PARTING = (
    (" - ", f" {DASH} "),
    *((mark, " , ") for mark in (", ", "(", ")")),
    (":", f" {COLON} "),
    *((sign, " / ") for sign in '/_"`'),
)
# a sign to look for at the head of a pattern, and what stands before it after it, make these ten times as fast
_INSIDE = re.compile(r"[.,:](?<=\d.)(?=\d)")
# "node-7f" is the name of one thing, "2026-05" is not
_IDENTIFIER = re.compile(r"-(?<=[A-Za-z]-)(?=[A-Za-z]*\d)")
_NUMBERED = re.compile(r"-(?=\d)")
# 3e-5 is one number
_EXPONENT = re.compile(r"-(?<=\d[eE]-)(?=\d)")
_WIDE = (
    *((mark, "'") for mark in "\u2018\u2019"),
    *((mark, f" {DASH} ") for mark in "\u2013\u2014"),
    *((mark, " ") for mark in "\u2026\u00a0"),
    *((mark, '"') for mark in "\u201c\u201d"),
)
_KEPT = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',/" + COLON + DASH + TIE))
# bytes from here on belong to longer sequences
_ASCII = 128
_TABLE = bytes(point if point in _KEPT or point >= _ASCII else ord(" ") for point in range(256))


def _exchanged(whole: str, marks: Marks) -> str:
    """A text with one mark after another exchanged; a single sign is looked for ten times as fast as it is replaced."""
    for mark, other in marks:
        if mark[0] in whole and mark[-1] in whole:
            whole = whole.replace(mark, other)
    return whole


def split(texts: Texts) -> tuple[list[str], Ids, Ids]:
    """The distinct sentences of texts; for every sentence of every text, the text and the sentence."""
    whole = _TEXT_END.join(texts)
    if whole.count(_TEXT_END) >= len(texts):
        whole = _TEXT_END.join(text.replace(_TEXT_END, " ") for text in texts)
    whole = _exchanged(whole, _ENDS).replace(_TEXT_END, f"\n{_TEXT_END}\n")
    parts = list(map(str.strip, whole.split("\n")))
    distinct = dict.fromkeys(parts)
    distinct.pop("", None)
    distinct.pop(_TEXT_END, None)
    known = dict(zip(distinct, range(len(distinct)), strict=True)) | {"": -1, _TEXT_END: -2}
    sentence = np.fromiter(map(known.__getitem__, parts), np.int64, len(parts))
    text, kept = np.cumsum(sentence == known[_TEXT_END]), sentence >= 0
    return list(distinct) or [" "], text[kept], sentence[kept]


def _folded(written: list[str]) -> list[str]:
    """Sentences with the signs that part clauses or tie names as pieces of their own."""
    whole = "\n".join(written)
    whole = _NUMBERED.sub(" / ", _IDENTIFIER.sub(TIE, _EXPONENT.sub("", _INSIDE.sub("", whole))))
    return _exchanged(whole, _PARTING if whole.isascii() else (*_WIDE, *_PARTING)).split("\n")


def pieces_of(written: list[str]) -> Arrow:
    """Each sentence cut at spaces."""
    # one letter beyond ASCII makes every step over the whole take several times as long
    narrow = list(map(str.isascii, written))
    if all(narrow):
        folded = _folded(written)
    else:
        sides = [
            iter(_folded([part for part, is_narrow in zip(written, narrow, strict=True) if is_narrow == side]))
            for side in (False, True)
        ]
        folded = [next(sides[is_narrow]) for is_narrow in narrow]
    column = text_column(folded)
    _, ends, data = column.buffers()
    spaced = pa.py_buffer(bytes(memoryview(data or b"")).translate(_TABLE))
    plain: Arrow = pa.Array.from_buffers(column.type, len(column), [None, ends, spaced])
    return pc.split_pattern(plain, " ")


def places(pieces: Arrow, coded: Arrow) -> tuple[npt.NDArray[np.int32], Ids]:
    """The number of every piece that is not empty, and its sentence."""
    offsets = np.frombuffer(pieces.offsets.buffers()[1], np.int32)[: len(pieces) + 1]
    index = np.frombuffer(coded.indices.buffers()[1], np.int32)[: len(coded.indices)]
    owner = np.repeat(np.arange(len(pieces)), np.diff(offsets))
    # not to_numpy: it imports pandas, which takes longer than all the rest
    ends = np.frombuffer(coded.dictionary.buffers()[1], np.int64)[: len(coded.dictionary) + 1]
    written = (np.diff(ends) > 0)[index]
    return index[written], owner[written]

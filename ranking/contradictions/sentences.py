import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from ranking.contradictions.opposition import Oppositions
from ranking.contradictions.vocabulary import USED, WORD, Bits, Flags, Ids, Vocabulary, vocabulary_of
from ranking.simhash import fnv1a64
from ranking.tokens import Arrow, Texts, text_column

# where the reader of claims always begins a new one; a dot inside a number or a path does not end a sentence
_END = re.compile(r"(?<=[.!?;])\s+|;")
_TEXT_END = "\0"
# a comma parts clauses unless it stands in a number; signs of paths, quotes and compounds become pieces of their own
_PARTING = ((" - ", " , "), (", ", " , "), ("(", " , "), (")", " , "), *((sign, " / ") for sign in '/_"`'))
_INSIDE = re.compile(r"(?<=\d)[.,:](?=\d)")
_NUMBERED = re.compile(r"-(?=\d)")
_WIDE = (
    *((mark, "'") for mark in "\u2018\u2019"),
    *((mark, " , ") for mark in "\u2013\u2014"),
    *((mark, " ") for mark in "\u2026\u00a0"),
    *((mark, '"') for mark in "\u201c\u201d"),
)
_KEPT = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',/"))
# bytes from here on belong to longer sequences
_ASCII = 128
_TABLE = bytes(point if point in _KEPT or point >= _ASCII else ord(" ") for point in range(256))


class Sentences(NamedTuple):
    """The distinct sentences of some texts, cut into stretches at commas and joining words.

    ``text`` and ``sentence`` say which text holds which sentence; ``owner`` is the sentence of each stretch, ``home``
    its text (a number of its own if several hold it), and the rest is what the search needs to know of a stretch.
    """

    written: list[str]
    text: Ids
    sentence: Ids
    home: Ids
    owner: Ids
    alone: Flags
    words: csr_array
    weak: Bits
    values: Bits
    numbers: Bits
    marked: Flags
    names: Bits
    frames: Bits
    opposed: Bits
    against: Bits
    negators: Ids
    cued: Flags


def _split(texts: Texts) -> tuple[list[str], Ids, Ids]:
    """The distinct sentences of texts; for every sentence of every text, the text and the sentence."""
    whole = _TEXT_END.join(text.replace(_TEXT_END, " ") for text in texts)
    parts = [text.split("\n") for text in _END.sub("\n", whole).split(_TEXT_END)]
    known: dict[str, int] = {}
    text, sentence = [], []
    for at, sentences in enumerate(parts):
        for part in sentences:
            if part and not part.isspace():
                text.append(at)
                sentence.append(known.setdefault(part, len(known)))
    return list(known) or [" "], np.array(text, np.int64), np.array(sentence, np.int64)


def _pieces(written: list[str]) -> Arrow:
    folded = "\n".join(written)
    folded = _NUMBERED.sub(" / ", _INSIDE.sub("", folded))
    for mark, parting in _PARTING if folded.isascii() else (*_WIDE, *_PARTING):
        folded = folded.replace(mark, parting)
    column = text_column(folded.split("\n"))
    _, ends, data = column.buffers()
    spaced = pa.py_buffer(bytes(memoryview(data or b"")).translate(_TABLE))
    plain: Arrow = pa.Array.from_buffers(column.type, len(column), [None, ends, spaced])
    return pc.split_pattern(plain, " ")


def read_sentences(texts: Texts, oppositions: Oppositions) -> Sentences:
    """Cut texts into sentences and note what each could conflict by; equal sentences are read once."""
    written, text, sentence = _split(texts)
    pieces = _pieces(written)
    coded = pieces.values.dictionary_encode()
    offsets = np.frombuffer(pieces.offsets.buffers()[1], np.int32)[: len(written) + 1].astype(np.int64)
    index = np.frombuffer(coded.indices.buffers()[1], np.int32)[: len(coded.indices)]
    distinct = [piece.decode("utf-8", "surrogatepass") for piece in coded.dictionary.to_pylist()]
    vocabulary = vocabulary_of(distinct, oppositions)
    owner = np.repeat(np.arange(len(written)), np.diff(offsets))
    first = np.diff(owner, prepend=-1) > 0
    starts = np.flatnonzero(vocabulary.joins[index] | first)
    stretch = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(index))))
    asks = np.fromiter((part[-1] == "?" for part in written), np.bool_, len(written))
    claims = np.bincount(stretch, weights=vocabulary.unreal[index]) == 0
    # the last stretch of a question claims nothing, and neither does one that supposes
    claims[stretch[offsets[1:][asks] - 1]] = False
    hashes, _ = fnv1a64(coded.dictionary)
    bit = np.uint64(1) << (hashes % np.uint64(WORD))
    named = np.where(vocabulary.name, bit, np.uint64(0))[index]
    # a sentence's first word is written large whatever it is
    named[first & (vocabulary.frame[index] == 0)] = 0
    words, kept = _words(np.where(claims[stretch], vocabulary.stems[index], -1), stretch)
    owners = owner[starts[kept]]

    def union(bits: Bits) -> Bits:
        joined: Bits = np.bitwise_or.reduceat(bits, starts, axis=0)[kept]
        return joined

    def count(flags: Flags) -> Ids:
        counts: Ids = np.add.reduceat(flags[index], starts, dtype=np.int64)[kept]
        return counts

    return Sentences(
        written=written,
        text=text,
        sentence=sentence,
        home=_homes(text, sentence, len(written))[owners],
        owner=owners,
        alone=np.bincount(owners, minlength=len(written))[owners] == 1,
        words=words,
        weak=union(vocabulary.weak[index]),
        values=union(np.where(vocabulary.value, bit, np.uint64(0))[index]),
        numbers=union(np.where([piece[:1].isdigit() for piece in distinct], bit, np.uint64(0))[index]),
        marked=count(np.array([piece == "/" for piece in distinct], np.bool_)) > 0,
        names=union(named),
        frames=union(vocabulary.frame[index]),
        opposed=union(vocabulary.opposed[index]),
        against=union(vocabulary.against[index]),
        negators=count(vocabulary.negator),
        cued=np.add.reduceat(_cues(vocabulary, index), starts)[kept] > 0,
    )


def _cues(vocabulary: Vocabulary, index: npt.NDArray[np.int32]) -> Ids:
    """Which pieces are a cue, alone or with the piece after them."""
    opens, closes = vocabulary.opens[index], np.append(vocabulary.closes[index[1:]], -1)
    # "is used to" tells what for, not what was
    opens[1:][(opens[1:] == USED) & vocabulary.be[index[:-1]]] = 0
    return np.asarray(vocabulary.cue[index] | (opens == closes), np.int64)


def _homes(text: Ids, sentence: Ids, count: int) -> Ids:
    """The one text that holds each sentence, or a negative number where several do."""
    lowest, highest = np.full(count, len(text)), np.full(count, -1)
    np.minimum.at(lowest, sentence, text)
    np.maximum.at(highest, sentence, text)
    return np.where(lowest == highest, lowest, -1 - np.arange(count))


def _words(said: Ids, stretch: Ids) -> tuple[csr_array, Ids]:
    """The words of every stretch that says any, as rows of ones, and which stretches those are."""
    width = np.int64(int(said.max(initial=0)) + 1)
    keys = np.sort((stretch * width + said)[said >= 0])
    # np.unique hashes, which takes ten times as long as sorting here
    keys = keys[np.diff(keys, prepend=-1) > 0]
    rows = keys // width
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    kept, bounds = rows[starts], np.append(starts, len(keys))
    return csr_array((np.ones(len(keys), np.int32), keys % width, bounds), shape=(len(kept), int(width))), kept

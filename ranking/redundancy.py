from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import scipy.sparse as sp

from ranking.candidates import Scores
from ranking.columns import tag_lists
from ranking.memory_score import number

TAG_SHARE = 0.35
# what JavaScript trims: Python's strip() would also take U+0085 and U+001C to U+001F
_SPACES = "\t\n\v\f\r \xa0\ufeff\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))

RedundancyOf = Callable[[int], Scores]


def embedding_matrix(vectors: Sequence[Sequence[object] | str | None]) -> npt.NDArray[np.float64]:
    """Vectors as one matrix: a text such as ``[1,0]`` is read, a missing one is all 0.

    Vectors of different lengths stand in different columns, so that their cosine is 0, as Memsense counts it.
    """
    rows = [_numbers(vector) for vector in vectors]
    starts: dict[int, int] = {}
    width = 0
    for row in rows:
        if len(row) not in starts:
            starts[len(row)] = width
            width += len(row)
    matrix = np.zeros((len(rows), max(width, 1)))
    for target, row in zip(matrix, rows, strict=True):
        target[starts[len(row)] : starts[len(row)] + len(row)] = row
    return matrix


def _numbers(vector: Sequence[object] | str | None) -> list[float]:
    if vector is None:
        return []
    if isinstance(vector, str):
        text = vector.strip()
        bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        vector = bare.split(",") if text else []
    return [value for value in map(number, vector) if np.isfinite(value)]


def tag_matrix(tags: Any) -> sp.csr_array:  # noqa: ANN401 - lists of texts, or an Arrow array of such
    """Rows by distinct tags, 1 where a row has the tag; tags are trimmed, lower-cased, and blank ones dropped."""
    lists = tag_lists("tags", tags)
    counts = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), dtype=np.intp)
    encoded = pc.fill_null(lists.flatten(), "").dictionary_encode()
    # only distinct spellings are normalised, in Python, whose lower-casing is the full one
    spellings = [tag.strip(_SPACES).lower() for tag in encoded.dictionary.to_pylist()]
    names = {name: code for code, name in enumerate(dict.fromkeys(filter(None, spellings)))}
    codes = np.array([names.get(name, -1) for name in spellings], dtype=np.intp)
    columns = codes[np.asarray(encoded.indices, dtype=np.intp)]
    rows = np.repeat(np.arange(counts.size), counts)
    kept = columns >= 0
    matrix = sp.coo_array(
        (np.ones(kept.sum()), (rows[kept], columns[kept])), shape=(counts.size, max(len(names), 1))
    ).tocsr()
    matrix.data[:] = 1.0  # a tag given twice is one tag
    return matrix


def redundancy_with(embeddings: npt.NDArray[np.floating] | None, tags: Any = None) -> RedundancyOf:  # noqa: ANN401 - as tag_matrix
    """A function that gives ``max(cosine clamped to 0–1, 0.35·Jaccard of tags)`` of every row with one row (002).

    0.35: rows that share every tag count as alike as vectors at cosine 0.35, so tags speak only where vectors do not.
    """
    parts = [part for part in (_cosines(embeddings), _tag_overlap(tags)) if part is not None]
    if not parts:
        raise ValueError("redundancy: expected embeddings or tags, found neither")
    if len(parts) == 1:
        return parts[0]
    first, second = parts
    return lambda row: np.maximum(first(row), second(row))


def _cosines(embeddings: npt.NDArray[np.floating] | None) -> RedundancyOf | None:
    if embeddings is None:
        return None
    lengths = np.sqrt(np.einsum("ij,ij->i", embeddings, embeddings, dtype=np.float64))
    safe = np.where(lengths > 0, lengths, np.inf)  # a missing vector is like no other

    def cosines(row: int) -> Scores:
        near: Scores = ((embeddings @ embeddings[row]) / (safe * safe[row])).clip(0.0, 1.0)
        return near

    return cosines


def _tag_overlap(tags: Any) -> RedundancyOf | None:  # noqa: ANN401 - as tag_matrix
    if tags is None:
        return None
    matrix = tag_matrix(tags)
    sizes = np.asarray(matrix.sum(axis=1)).ravel()

    def overlap(row: int) -> Scores:
        mine = np.zeros(matrix.shape[1])
        mine[matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]] = 1.0
        shared: Scores = matrix @ mine
        near: Scores = TAG_SHARE * shared / np.maximum(sizes + sizes[row] - shared, 1.0)
        return near

    return overlap

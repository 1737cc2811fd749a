from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ranking.tokens import refuse_lone_text

Scores = npt.NDArray[np.float64]
Column = npt.NDArray[Any]


def _scores(name: str, values: object) -> Scores:
    numbers = _plain(name, values, "numbers").astype(np.float64, copy=False)
    bad = ~np.isfinite(numbers)
    if bad.any():
        raise ValueError(
            f"column {name!r}: expected finite numbers, found {numbers[bad][0]} at row {int(bad.argmax())}"
        )
    return numbers


def _scores_or_nan(name: str, values: object) -> Scores:
    numbers = _plain(name, values, "numbers").astype(np.float64, copy=False)
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r}: expected numbers or nan, found {numbers[np.isinf(numbers)][0]}")
    return numbers


def _counts(name: str, values: object) -> Column:
    numbers = _scores(name, values)
    if (numbers < 0).any():
        raise ValueError(f"column {name!r}: expected counts of 0 or more, found {numbers.min():g}")
    return numbers


def _whole(name: str, values: object) -> Column:
    numbers = _scores(name, values)
    if (numbers != np.rint(numbers)).any():
        raise ValueError(f"column {name!r}: expected whole numbers, found {numbers[numbers != np.rint(numbers)][0]:g}")
    return numbers.astype(np.int64)


def _flags(name: str, values: object) -> Column:
    flags = np.asarray(values)
    if flags.dtype != np.bool_ and flags.size:
        raise TypeError(f"column {name!r}: expected true or false, found {flags.dtype}")
    return flags.astype(np.bool_, copy=False)


def _times(name: str, values: object) -> Column:
    times = np.asarray(values)
    if times.dtype == np.object_ or not times.size:
        times = np.array([instant(name, value) for value in times.tolist()], dtype="datetime64[us]")
    if times.dtype.kind != "M":
        raise TypeError(f"column {name!r}: expected datetime64, found {times.dtype}")
    return times.astype("datetime64[us]", copy=False)


def instant(name: str, value: object) -> np.datetime64:
    """A time in utc to the microsecond, None as no date; a zone would be dropped in silence, so it is refused."""
    if getattr(value, "tzinfo", None) is not None:
        raise TypeError(f"column {name!r}: expected utc times without a zone, found {value!r}")
    return np.datetime64("NaT" if value is None else value, "us")  # type: ignore[call-overload,no-any-return]


def labels(_name: str, values: object) -> Column:
    """Any hashable per row (ids, sessions, tags), kept as they are: numpy must not read a list of tuples as a table."""
    if isinstance(values, np.ndarray) and values.dtype == np.object_ and values.ndim == 1:
        return values
    items = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[call-overload]
    labels = np.empty(len(items), dtype=np.object_)
    labels[:] = items
    return labels


def numbered(given: Sequence[Any]) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """A number per label, equal labels alike, and the distinct labels in the order first seen.

    Dictionaries, not Arrow: an id may be any hashable, and these loops run in C.
    """
    distinct = list(dict.fromkeys(given))
    place = {label: number for number, label in enumerate(distinct)}
    return np.fromiter(map(place.__getitem__, given), np.intp, len(given)), distinct


def _matrix(name: str, values: object) -> Column:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":  # noqa: PLR2004 - rows and columns
        raise TypeError(f"column {name!r}: expected a matrix of numbers, found {matrix.dtype} of shape {matrix.shape}")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError(f"column {name!r}: expected finite numbers, found nan or infinity")
    return matrix


def _leg_ranks(name: str, values: object) -> Column:
    ranks = np.asarray(values)
    if ranks.ndim != 2 or ranks.dtype.kind not in "iu":  # noqa: PLR2004 - rows and legs
        raise TypeError(f"column {name!r}: expected whole ranks, rows by legs, found {ranks.dtype} {ranks.shape}")
    return ranks.astype(np.int64, copy=False)


def _leg_scores(name: str, values: object) -> Column:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 2 or np.isinf(scores).any():  # noqa: PLR2004 - rows and legs
        raise ValueError(f"column {name!r}: expected finite scores or nan, rows by legs, found shape {scores.shape}")
    return scores


def _plain(name: str, values: object, expected: str) -> Column:
    numbers = np.asarray(values)
    if numbers.size and (numbers.ndim != 1 or numbers.dtype.kind not in "fiu"):
        raise TypeError(f"column {name!r}: expected {expected}, found {numbers.dtype} of shape {numbers.shape}")
    return numbers


def _texts(name: str, values: Any) -> Any:  # noqa: ANN401 - the stubs know no text column of unknown origin
    refuse_lone_text(f"column {name!r}", values)
    texts = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    try:
        texts = texts if isinstance(texts, pa.Array) else pa.array(texts, type=pa.large_string(), from_pandas=False)
        texts = texts if texts.type == pa.large_string() else texts.cast(pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise TypeError(f"column {name!r}: expected texts, found {error}") from error
    if texts.null_count:
        raise ValueError(f"column {name!r}: expected a text in every row, found {texts.null_count} without")
    return texts


def _names(name: str, values: Any) -> Any:  # noqa: ANN401 - as _texts
    """Names or nothing; an empty name is nothing, so that rows without a session do not share one."""
    refuse_lone_text(f"column {name!r}", values)
    if not isinstance(values, pa.Array):
        # a handful of rows is read sooner here than Arrow's functions are called
        return pa.array([None if value == "" else value for value in values], pa.large_string(), from_pandas=True)
    texts = _texts(name, pc.fill_null(values, ""))  # type: ignore[type-var]
    return pc.if_else(pc.equal(texts, pa.scalar("", pa.large_string())), pa.scalar(None, pa.large_string()), texts)


def tag_lists(name: str, values: Any) -> Any:  # noqa: ANN401 - as _texts
    """Lists of texts, none for a row without; flattened and encoded in C++ later."""
    kind = pa.large_list(pa.large_string())
    if isinstance(values, pa.Array):
        return values.cast(kind)
    rows = list(values)
    # Arrow would read a lone text as the list of its letters
    if any(isinstance(row, str) for row in rows):
        raise TypeError(f"column {name!r}: expected lists of texts, found a text")
    try:
        return pa.array(rows, kind)
    except pa.ArrowException as error:
        raise TypeError(f"column {name!r}: expected lists of texts, found {error}") from error


# every column a technique may ask for; docs/ranking.md says what each means, beside the technique that reads it
COLUMNS: Mapping[str, Callable[[str, object], Any]] = {
    "relevance": _scores,
    "weight": _scores,
    "importance": _scores,
    "corroborating": _counts,
    "memory_score": _scores_or_nan,  # Memsense's own rule: nan is "not given", 0.5
    "pair_score": _scores_or_nan,  # nan: outside the pool, never scored
    "is_reflection": _flags,
    "reflection_depth": _whole,
    "shown_before": _flags,
    "created_at": _times,
    "last_accessed_at": _times,
    "session": _names,
    "granularity": _names,
    "agent": _names,
    "source": _names,
    "cluster": _whole,
    "tags": tag_lists,
    "title": _texts,
    "content": _texts,
    "embeddings": _matrix,
    "leg_ranks": _leg_ranks,  # 0-based, -1 where the leg did not return the row
    "leg_scores": _leg_scores,  # nan where the leg did not return the row
}

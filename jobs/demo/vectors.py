"""Texts into vectors: static word vectors whose weights come inside their package."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

Vectors = npt.NDArray[np.float32]

DIMENSIONS = 256
CHUNK = 20_000  # texts at a time: what is between texts and vectors takes more memory than both


def embed(texts: Sequence[str]) -> Vectors:
    """A row of unit length per text, zeros for a text without words, which is not worth storing."""
    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for start in range(0, len(texts), CHUNK):
        found = np.asarray(_model().embed(texts[start : start + CHUNK]), dtype=np.float64)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        rows[start : start + CHUNK] = found / np.where(lengths > 0, lengths, 1.0)
    return rows


@cache
def _model() -> Any:  # noqa: ANN401 - the package publishes no types
    import wordllama  # noqa: PLC0415 - takes a second that a filled store need not wait for

    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, dim=DIMENSIONS, disable_download=True)

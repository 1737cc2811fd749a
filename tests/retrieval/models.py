"""What a test of models needs: the optional ones, or why it is left out without them, and a count of passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from retrieval.onnx_models import OnnxModel, packaged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def installed(name: str) -> Path:
    """The folder of a model; skips the test that asked if `make models` was not run."""
    folder = packaged(name)
    if folder is None:
        pytest.skip(f"{name} is not installed: `make models` installs it")
    return folder


def counted_passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts or pairs went into each forward pass from now on."""
    passes: list[int] = []
    run = OnnxModel.run

    def counting(model: OnnxModel, texts: Sequence[str] | Sequence[tuple[str, str]]) -> object:
        passes.append(len(texts))
        return run(model, texts)

    monkeypatch.setattr(OnnxModel, "run", counting)
    return passes

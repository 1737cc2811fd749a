"""The optional models: what a test needs to run them, and why it is left out where they are not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from retrieval.onnx_models import packaged

if TYPE_CHECKING:
    from pathlib import Path


def installed(name: str) -> Path:
    """The folder of a model; skips the test that asked if `make models` was not run."""
    folder = packaged(name)
    if folder is None:
        pytest.skip(f"{name} is not installed: `make models` installs it")
    return folder

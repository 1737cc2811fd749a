"""Arrays of numbers as they travel between the worker and a page: bytes as text, a tenth of what digits would take."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

KINDS = ("i4", "i8", "u8", "f4", "f8", "b1")  # what may be read back


def pack(array: npt.NDArray[Any]) -> dict[str, str]:
    """One row of numbers; ``unpack`` reads it back."""
    plain = np.ascontiguousarray(array)
    return {
        "kind": plain.dtype.str[1:],
        "bytes": base64.b64encode(plain.astype(plain.dtype.newbyteorder("<")).tobytes()).decode(),
    }


def unpack(said: dict[str, str]) -> npt.NDArray[Any]:
    """The numbers that were packed."""
    if said["kind"] not in KINDS:
        raise ValueError(f"array: expected one of {', '.join(KINDS)}, found {said['kind']!r}")
    return np.frombuffer(base64.b64decode(said["bytes"]), np.dtype(f"<{said['kind']}")).copy()

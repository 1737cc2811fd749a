"""Words that sentences of several rooms share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: commas between them, and "and" before the last."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))

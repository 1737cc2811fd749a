"""Answers to several questions of which some may be beyond a store: what is lacking costs its own answer alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controls.loading import load
from queries.errors import LACKING, OUR_SCHEMA, StoreError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    import pandas as pd

    from queries.engine import Question


PATIENCE = 8.0  # seconds for one question after the other; what is not asked by then counts as slow


@dataclass(frozen=True, eq=False)
class Partly:
    """Frames by name, and why others are missing."""

    frames: dict[str, pd.DataFrame]
    failed: dict[str, StoreError]
    as_of: datetime


def each(asked: Mapping[str, Question]) -> Partly:
    """The answers to all questions; where the store lacks something or is slow, to those that it has in time."""
    try:
        answers = load(*asked.values())
        return Partly(dict(zip(asked, answers.frames, strict=True)), {}, answers.as_of)
    except StoreError as error:
        if error.kind not in LACKING or len(asked) == 1:
            raise
        last = error
    frames: dict[str, pd.DataFrame] = {}
    failed: dict[str, StoreError] = {}
    times: list[datetime] = []
    started = time.monotonic()
    for name, question in asked.items():
        if last.kind == "slow" and time.monotonic() - started > PATIENCE:
            failed[name] = last
            continue
        try:
            answers = load(question)
        except StoreError as error:
            if error.kind not in LACKING:
                raise
            failed[name], last = error, error
            continue
        frames[name] = answers.frames[0]
        times.append(answers.as_of)
    if not times:
        raise last
    return Partly(frames, failed, min(times))


def ours(question: Question) -> pd.DataFrame | None:
    """The answer, or nothing in a store where our schema is missing or may not be read."""
    return _unless(OUR_SCHEMA, question)


def unless_lacking(question: Question) -> pd.DataFrame | None:
    """The answer, or nothing where the store lacks what it asks for or is too slow."""
    return _unless(LACKING, question)


def _unless(kinds: Collection[str], question: Question) -> pd.DataFrame | None:
    try:
        return load(question).frames[0]
    except StoreError as error:
        if error.kind not in kinds:
            raise
        return None

"""How sessions and the log changed on Overview; what is better only against a dip is known by its days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import overview
from controls.loading import load
from queries.errors import LACKING, StoreError
from queries.health.by_day import EndedOfSome

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from analysis.overview import Changes
    from queries.scope import Scope


def changes(now: pd.DataFrame, before: pd.DataFrame, listed: Iterable[str], share: float, scope: Scope) -> Changes:
    """Days are asked for in one question, and only of who is called better; without an answer there is no dip."""
    found = overview.changes(now, before, share)
    orgs, every = found.in_question(listed, scope)
    if not orgs and not every:
        return found
    try:
        days = load(EndedOfSome(scope.before(), orgs, every)).frames[0]
    except StoreError as error:
        if error.kind not in LACKING:
            raise
        return found
    return found.with_dips(days, scope, every=every)

"""How sessions and the log changed on Overview; what is better only against a dip is known by its days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import overview
from controls.partly import unless_lacking
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
    days = unless_lacking(EndedOfSome(scope.before(), orgs, every))
    return found if days is None else found.with_dips(days, scope, every=every)

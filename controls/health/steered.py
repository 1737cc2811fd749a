"""The flags that were turned in either window, and since when: often one is the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from queries.flags.registry import FLAGS

if TYPE_CHECKING:
    from datetime import datetime

    from controls.health.answers import HealthAnswers
    from queries.scope import Scope


@dataclass(frozen=True)
class Turned:
    """A change of a flag: its entry, what it made of what the flag steers, and from when until when it held."""

    id: int
    effect: str
    at: datetime
    until: datetime | None

    @property
    def while_(self) -> str:
        """The days it held."""
        return f"Since {self.at:%-d %b}" if self.until is None else f"{self.at:%-d %b} to {self.until:%-d %b}"


@dataclass(frozen=True)
class Steered:
    """The changes that held longest, and how many there were; of several organizations' changes none is named."""

    named: tuple[Turned, ...]
    count: int
    shared: dict[str, str]  # what the address of the history can say of all of them


def steered(memory: HealthAnswers, scope: Scope) -> Steered | None:
    """The changes of flags of both windows, but for those that were soon taken back."""
    found = memory.earlier.frames.get("steered")
    if found is None:
        return None
    if found.empty:
        return Steered((), 0, {})
    count, flag, org = found.iloc[0][["changes", "every_flag", "every_org"]]
    known = {flag.name: flag for flag in FLAGS}
    shared = {"changed": flag} if flag in known else {}
    if scope.org is None and count > 1:
        return Steered((), int(count), shared if pd.isna(org) else shared | {"org": org})
    where = "" if scope.org is not None else " in one organization"
    named = tuple(
        Turned(
            int(each["id"]), f"{known[name].effect(each['new'])}{where}", each["changed_at"], _moment(each["next_at"])
        )
        for each in found.to_dict("records")
        if (name := each["flag"]) in known
    )
    return Steered(named, int(count), shared)


def _moment(value: pd.Timestamp) -> datetime | None:
    return None if pd.isna(value) else value.to_pydatetime()

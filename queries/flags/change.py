"""A change of one flag as a value, what became of it, and the audit's entry for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from queries.flags.registry import STATES, State, known_flag
from queries.scope import is_storable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

LONGEST_REASON = 2_000
Kind = Literal["applied", "already", "conflict", "refused", "failed", "unknown"]


@dataclass(frozen=True)
class SetFlag:
    """Set one flag of one organization to a state, given that another state was seen: never "flip it".

    The request id is made when the question is put to the operator, so that a second click is the same request.
    """

    org_id: str
    flag: str
    seen: State
    new: State
    reason: str
    request_id: UUID
    actor: str
    source: str
    preview: Mapping[str, object] | None = field(default=None, compare=False)
    reverts_id: int | None = None

    def __post_init__(self) -> None:
        known_flag(self.flag)
        if self.seen not in STATES or self.new not in STATES:
            raise ValueError(f"a state is {', '.join(STATES)}; found {self.seen!r} and {self.new!r}")
        if self.seen == self.new:
            raise ValueError(f"a change leads to another state; found {self.new!r} twice")
        if not self.reason.strip() or len(self.reason) > LONGEST_REASON:
            raise ValueError(f"a reason has 1 to {LONGEST_REASON} characters; found {len(self.reason.strip())}")
        if not all(map(is_storable, (self.org_id, self.reason, self.actor, self.source))):
            raise ValueError("expected text that can be stored; found a NUL or half a character")


@dataclass(frozen=True)
class FlagEntry:
    """One row of the audit."""

    id: int
    org_id: str
    flag: str
    old: State
    new: State
    reason: str
    actor: str
    at: datetime
    reverts_id: int | None
    request_id: UUID


@dataclass(frozen=True)
class Outcome:
    """What became of a change. The sentence holds no tenant's text; ``entry`` and ``last`` may.

    ``entry`` is the change's own row; ``last`` the newest row of its flag when the change was not made.
    """

    change: SetFlag
    kind: Kind
    sentence: str
    entry: FlagEntry | None = None
    found: State | None = None
    last: FlagEntry | None = None

    @property
    def outside(self) -> bool:
        """Whether the live state is not the audit's last: then something else than this dashboard set it."""
        return self.found is not None and (self.last is None or self.last.new != self.found)

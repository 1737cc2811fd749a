"""Where the reason of a flag that is on stands: the change that holds it so, or else the flag's history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controls.partly import unless_lacking
from queries.flags.held import HeldOn
from queries.flags.standing import StandingChanges

if TYPE_CHECKING:
    from queries.scope import Scope


def why_on(scope: Scope, org: str, flag: str, *, now: bool) -> dict[str, str]:
    """The address on Feature flags of what held a flag of an organization on in a window; ``now``: of what holds it on.

    What was set outside has no change of its own: there the flag's state and its history are shown.
    """
    history = {"target": org, "flag": flag, "changed": flag}
    found = unless_lacking(StandingChanges(scope) if now else HeldOn(scope, flag))
    if found is None:
        return history
    if now:
        found = found[(found["org_id"] == org) & (found["flag"] == flag) & (found["new"] == "on")]
    return history if found.empty else {"change": str(found["id"].iloc[0])}

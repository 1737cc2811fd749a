"""Where the reason of a flag that is on stands: the change that holds it so, or else the flag's history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from controls.loading import load
from queries.errors import LACKING, StoreError
from queries.flags.held import HeldOn

if TYPE_CHECKING:
    from queries.scope import Scope


def why_on(scope: Scope, org: str, flag: str, *, now: bool) -> dict[str, str]:
    """The address on Feature flags of what held a flag of an organization on in a window; ``now``: and holds it still.

    What was set outside has no change of its own: there the flag's state and its history are shown.
    """
    history = {"target": org, "flag": flag, "changed": flag}
    try:
        found = load(HeldOn(scope, flag)).frames[0]
    except StoreError as error:
        if error.kind not in LACKING:
            raise
        return history
    if found.empty or (now and not pd.isna(found["next_at"].iloc[0])):
        return history
    return {"change": str(found["id"].iloc[0])}

"""What each organization's last aggregation found, and the way from all of them into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controls import one_organization
from controls.drift import messages
from controls.drift.filters import opened
from controls.messages import MISSING, number
from controls.partly import ours
from queries.drift.triage import NewAlerts
from queries.found_alerts import AlertsOf

if TYPE_CHECKING:
    from queries.scope import Scope

ITS = "has this alert"
REASON = "Statements contradict each other inside one organization."
EXPLAINED = (
    "New: alerts of the last aggregation that nobody has looked at, most first. All: without those dismissed, which "
    f"are false positives or hold on both sides. {MISSING}: no aggregation has finished."
)


def new_alerts(scope: Scope) -> dict[str, tuple[int, int]] | None:
    """New alerts and all but those dismissed, by organization with a pass; nothing where our schema is missing."""
    found = ours(NewAlerts(scope))
    if found is None:
        return None
    return {org: (int(new), int(every)) for org, new, every in found[["org_id", "new", "alerts"]].to_numpy().tolist()}


def _whose(scope: Scope, fingerprint: str) -> list[str] | None:
    """The organizations whose last aggregation found an alert, which can only be one; nothing where none can tell."""
    found = ours(AlertsOf(scope, fingerprint))
    return None if found is None else found["org_id"].tolist()


def offer(scope: Scope) -> None:
    """The organizations by how much waits in each; by name alone where nothing can be known of it.

    Where an alert is to be opened, whose it is comes first.
    """
    fingerprint, found = opened(), new_alerts(scope)
    whose = [] if fingerprint is None else _whose(scope, fingerprint)
    if fingerprint is not None:
        messages.alert_of_one_organization(found=None if found is None or whose is None else bool(whose))
    if found is None:
        one_organization.offer(scope, REASON)
        return
    first = whose or []
    told = {org: f"{number(new)} new · {number(every)} in all" for org, (new, every) in found.items()}
    told |= dict.fromkeys(first, ITS)
    order = sorted(found, key=lambda org: (org in first, found[org]), reverse=True)
    one_organization.offer(scope, REASON, one_organization.Beside(told, order, EXPLAINED))

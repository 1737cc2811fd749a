"""The organizations and projects someone may choose from, and what each organization's flags say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import func, select
from sqlalchemy.types import Text

from queries import schema
from queries.engine import LIST

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope

SHOWN = 2_000  # entries of a list to choose from; beyond that an operator types an address
LONGEST_NAME = 200
LONGEST_FEATURES = 100_000

FLAGS = ("feedback_weighting_disabled", "corroboration_boost_enabled")


@dataclass(frozen=True)
class OrganizationRow:
    """One organization as the scope list needs it."""

    id: str
    name: str


@dataclass(frozen=True)
class Organizations:
    """The organizations in reach, by name."""

    scope: Scope
    row: ClassVar[type] = OrganizationRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[tuple[str, str]]:
        """Names cut to a length that a list can show."""
        orgs = schema.organizations
        return (
            select(orgs.c.id, func.left(orgs.c.name, LONGEST_NAME))
            .where(self.scope.reach.where(orgs.c.id))
            .order_by(orgs.c.name, orgs.c.id)
            .limit(SHOWN)
        )


@dataclass(frozen=True)
class ProjectRow:
    """One project as the scope list needs it."""

    id: str
    name: str


@dataclass(frozen=True)
class Projects:
    """The projects of the scope's organization, by name."""

    scope: Scope
    row: ClassVar[type] = ProjectRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[tuple[str, str]]:
        """All projects of the organization, whatever project the scope names."""
        projects = schema.projects
        return (
            select(projects.c.id, func.left(projects.c.name, LONGEST_NAME))
            .where(projects.c.org_id == self.scope.org)
            .order_by(projects.c.name, projects.c.id)
            .limit(SHOWN)
        )


@dataclass(frozen=True)
class FeaturesRow:
    """An organization's ``features`` as stored, unparsed."""

    org_id: str
    features: str | None


@dataclass(frozen=True)
class Features:
    """The feature flags of the organizations in scope.

    They travel as text: one malformed value must not fail the query for every other organization.
    """

    scope: Scope
    row: ClassVar[type] = FeaturesRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[tuple[str, str]]:
        """Cut at 100 kB, where a value is no longer a set of flags."""
        orgs = schema.organizations
        mine = self.scope.reach.where(orgs.c.id) if self.scope.org is None else orgs.c.id == self.scope.org
        return select(orgs.c.id, func.left(orgs.c.features.cast(Text), LONGEST_FEATURES)).where(mine)


@dataclass(frozen=True)
class FlagStates:
    """Each known flag as "on", "off" or "absent", or why the whole object cannot be read."""

    states: tuple[tuple[str, str], ...] = ()
    malformed: str | None = None

    def state(self, flag: str) -> str | None:
        """The state of one flag; ``None`` where the object cannot be read."""
        return dict(self.states).get(flag)


def flag_states(features: str | None) -> FlagStates:
    """What ``organizations.features`` says of the known flags; only JSON true and false count as set."""
    if features is None:
        return FlagStates(tuple((flag, "absent") for flag in FLAGS))
    try:
        found = json.loads(features)
    except (ValueError, RecursionError):
        return FlagStates(malformed="not readable as JSON")
    if not isinstance(found, dict):
        kind = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}.get(type(found), "a number")
        return FlagStates(malformed=f"not an object but {kind}")
    states = []
    for flag in FLAGS:
        value = found.get(flag)
        if flag in found and not isinstance(value, bool):
            return FlagStates(malformed=f"{flag} is neither true nor false")
        states.append((flag, "absent" if value is None else "on" if value else "off"))
    return FlagStates(tuple(states))

"""The organizations and projects someone may choose from, and what each organization's flags say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import func, or_, select
from sqlalchemy.types import Text

from queries import schema
from queries.engine import LIST
from queries.flags.registry import NAMES

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Select

    from queries.scope import Scope

SHOWN = 2_000  # entries of a list to choose from; beyond that an operator types an address
LONGEST_NAME = 200
LONGEST_FEATURES = 20_000  # characters; flags of a larger object are shown as unreadable


def shown_name(table: FromClause) -> ColumnElement[str]:
    """A name cut to a length that a list can show; the id where a store has none."""
    return func.left(func.coalesce(table.c.name, table.c.id), LONGEST_NAME)


def in_scope(scope: Scope) -> ColumnElement[bool]:
    """The scope's organization, or all in reach."""
    column = schema.organizations.c.id
    return scope.reach.where(column) if scope.org is None else column == scope.org


@dataclass(frozen=True)
class OrganizationRow:
    """One organization as the scope list needs it."""

    id: str
    name: str


@dataclass(frozen=True)
class Organizations:
    """The organizations in reach, by name."""

    scope: Scope
    chosen: str | None = None
    row: ClassVar[type] = OrganizationRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[tuple[str, str]]:
        """As many as a list can show, and the chosen one, which may lie beyond them."""
        orgs = schema.organizations
        mine = self.scope.reach.where(orgs.c.id)
        listed = select(orgs.c.id).where(mine).order_by(orgs.c.name, orgs.c.id).limit(SHOWN)
        return (
            select(orgs.c.id, shown_name(orgs))
            .where(mine, or_(orgs.c.id.in_(listed), orgs.c.id == self.chosen))
            .order_by(orgs.c.name, orgs.c.id)
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
            select(projects.c.id, shown_name(projects))
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
        """Cut where a value is no longer a set of flags."""
        orgs = schema.organizations
        features = func.left(orgs.c.features.cast(Text), LONGEST_FEATURES)
        return select(orgs.c.id, features).where(in_scope(self.scope)).limit(SHOWN)


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
        return FlagStates(tuple((flag, "absent") for flag in NAMES))
    try:
        found = json.loads(features, object_pairs_hook=_without_repeats)
    except _RepeatedKeyError:
        return FlagStates(malformed="an object with the same key twice")
    except (ValueError, RecursionError):
        return FlagStates(malformed="not readable as JSON")
    if not isinstance(found, dict):
        kind = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}.get(type(found), "a number")
        return FlagStates(malformed=f"not an object but {kind}")
    states = []
    for flag in NAMES:
        value = found.get(flag)
        if flag in found and not isinstance(value, bool):
            return FlagStates(malformed=f"{flag} is neither true nor false")
        states.append((flag, "absent" if value is None else "on" if value else "off"))
    return FlagStates(tuple(states))


class _RepeatedKeyError(ValueError):
    """An object in which one of two values would be lost by storing it anew."""


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedKeyError
    return found


def other_keys(features: str | None) -> dict[str, object]:
    """What an organization's features hold besides the known flags: shown, never changed."""
    if features is None or flag_states(features).malformed is not None:
        return {}
    return {key: value for key, value in json.loads(features).items() if key not in NAMES}

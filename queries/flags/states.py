"""What each organization's feature flags say: on, off or absent, or why they cannot be read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import func, select
from sqlalchemy.types import Text

from queries import schema
from queries.engine import LIST
from queries.flags.registry import NAMES
from queries.organizations import SHOWN, by_name, in_scope
from queries.scope import Reach

if TYPE_CHECKING:
    from sqlalchemy import Select

    from queries.scope import Scope

LONGEST_FEATURES = 20_000  # characters; flags of a larger object are shown as unreadable


@dataclass(frozen=True)
class FeaturesRow:
    """An organization's ``features`` as stored, unparsed."""

    org_id: str
    features: str | None


@dataclass(frozen=True)
class Features:
    """The feature flags of the organizations in scope, or of those of them that are ``listed``.

    They travel as text: one malformed value must not fail the query for every other organization.
    """

    scope: Scope
    listed: tuple[str, ...] | None = None
    row: ClassVar[type] = FeaturesRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[tuple[str, str]]:
        """By name, as many as a page can show; cut where a value is no longer a set of flags."""
        orgs = schema.organizations
        features = func.left(orgs.c.features.cast(Text), LONGEST_FEATURES)
        limits = [in_scope(self.scope)]
        if self.listed is not None:
            limits.append(Reach.of(frozenset(self.listed)).where(orgs.c.id))
        return select(orgs.c.id, features).where(*limits).order_by(*by_name(orgs)).limit(SHOWN)


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

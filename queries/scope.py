"""Which organizations someone may see, and which part of that they are looking at."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import and_, any_, bindparam, true
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause


# Characters that turn the letters around them and have no shape of their own, and what would pass for their mark.
TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|⟦(?=U\\+)")
PLAIN_DIRECTIONS = frozenset({"L", "EN", "ES", "ET", "CS", "NSM", "B", "S", "WS", "ON", ""})


class OutOfReachError(Exception):
    """Someone asked for an organization that they may not see, or that does not exist: the two look the same."""


@dataclass(frozen=True)
class Reach:
    """The organizations a principal may see; ``None`` means every one there is."""

    orgs: tuple[str, ...] | None

    @classmethod
    def of(cls, orgs: frozenset[str] | None) -> Reach:
        """The same set of organizations always gives the same value, whatever its order was."""
        return cls(None if orgs is None else tuple(sorted(filter(is_storable, orgs))))

    def settings(self) -> dict[str, str]:
        """The transaction-local settings that row-level security reads."""
        return {"dash.all_orgs": "on" if self.orgs is None else "", "dash.orgs": json.dumps(self.orgs or ())}

    def allows(self, org: str) -> bool:
        """Whether an organization lies in reach."""
        return self.orgs is None or org in self.orgs

    def within(self, other: Reach) -> bool:
        """Whether everything in this reach also lies in another."""
        return other.orgs is None or (self.orgs is not None and set(self.orgs) <= set(other.orgs))

    def where(self, column: ColumnElement[str]) -> ColumnElement[bool]:
        """The same limit once more as a predicate: a second lock where row security cannot be switched on."""
        if self.orgs is None:
            return true()
        return column == any_(bindparam(None, list(self.orgs), type_=ARRAY(Text)))


EVERYTHING = Reach(None)
NOTHING = Reach(())


def is_storable(name: str) -> bool:
    """Postgres stores neither NUL nor half a surrogate pair; asking with one is an error instead of no rows."""
    return "\0" not in name and name.encode(errors="ignore").decode() == name


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID as the store writes one: small letters, with dashes."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


@dataclass(frozen=True)
class Scope:
    """What an operator is looking at: an organization or all in reach, a project or all, and a window in UTC."""

    # Not in the repr, which is the question's part of a cache key: the reach is a part of its own, in one place.
    reach: Reach = field(repr=False)
    since: datetime
    until: datetime
    org: str | None = None
    project: str | None = None
    # Shown to the reader; the ids alone decide what is asked for.
    org_name: str | None = field(default=None, compare=False, repr=False)
    project_name: str | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.since >= self.until:
            raise ValueError(f"a window ends after it starts; found {self.since} to {self.until}")
        if self.org is not None and not self.reach.allows(self.org):
            raise OutOfReachError
        if self.project is not None and self.org is None:
            raise ValueError("a project needs its organization; found none")

    @classmethod
    def of_days(
        cls, reach: Reach, first: date, last: date, org: str | None = None, project: str | None = None
    ) -> Scope:
        """Whole days in UTC, both included, so that a link and a cache entry stay good for the day."""
        since = datetime(first.year, first.month, first.day, tzinfo=UTC)
        until = datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)
        return cls(reach, since, until, org, project)

    def where(self, table: FromClause, at: ColumnElement[datetime] | None = None) -> ColumnElement[bool]:
        """Organization, project and window as one predicate on ``table``; ``at`` names another time than created_at."""
        moment = table.c.created_at if at is None else at
        return and_(self.tenant(table), moment >= self.since, moment < self.until)

    def tenant(self, table: FromClause) -> ColumnElement[bool]:
        """Organization and project without the window."""
        limits = [self.organizations(table.c.org_id)]
        if self.project is not None:
            limits.append(table.c.project_id == self.project)
        return and_(*limits)

    def organizations(self, column: ColumnElement[str]) -> ColumnElement[bool]:
        """The organization, or all in reach, for what knows no projects."""
        return self.reach.where(column) if self.org is None else column == self.org

    def named(self, org_name: str | None, project_name: str | None = None) -> Scope:
        """The same scope with the organization's name, and the project's, for the reader."""
        return replace(self, org_name=org_name, project_name=project_name)

    @property
    def days(self) -> int:
        """The length of the window."""
        return (self.until - self.since).days

    def before(self) -> Scope:
        """The window of equal length that ended where this one starts."""
        return replace(self, since=self.since - (self.until - self.since), until=self.since)

    def in_words(self) -> str:
        """The scope as the reader would say it, for titles, reports and empty pages."""
        if self.org is None:
            who = "all organizations" if self.reach.orgs is None else f"{len(self.reach.orgs)} organizations"
        else:
            who = isolated(self.org_name or self.org)
        what = f", project {with_id(self.project_name, self.project)}" if self.project else ""
        return f"{who}{what}, {self.days_in_words()}"

    def days_in_words(self) -> str:
        """Its window alone: the first day, unless it is the only one, and the last."""
        last = self.until - timedelta(days=1)
        first = f"{self.since.day} {self.since:%b}" + (f" {self.since.year}" if self.since.year != last.year else "")
        days = "" if self.days == 1 else f"{first} to "
        return f"{days}{last.day} {last:%b %Y} (UTC)"


def marked(text: str) -> str:
    """Tenant text to be shown: what would turn its letters unseen stands there by its number, as in ⟦U+202E⟧."""
    return TURNING.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)


def isolated(text: str) -> str:
    """The same inside a sentence: left open, its writing direction would turn round the words that follow."""
    shown = marked(text)
    turns = any(unicodedata.bidirectional(character) not in PLAIN_DIRECTIONS for character in shown)
    return f"\u2068{shown}\u2069" if turns else shown


def with_id(name: str | None, id_: str) -> str:
    """Both inside a sentence, the id alone where there is no other name: by the id, tables and files name it."""
    return isolated(id_) if name is None or name == id_ else f"{isolated(name)} · {isolated(id_)}"

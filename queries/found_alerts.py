"""Alerts by their fingerprint or by words of what contradicts each other, as the last pass of each project has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import (
    Numeric,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONPATH, distinct_on

from queries import own_schema, schema
from queries.aggregation_input import ACTIVE
from queries.aggregation_runs import StandingRuns, newest_runs
from queries.engine import LIST
from queries.found import FOUND, LONGEST_TEXT, FoundRow, share
from queries.moments import datable
from queries.organizations import in_scope, shown_name

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, ScalarSelect, Select

    from queries.scope import Scope

ALERTS_LOOKED_THROUGH = 2_000  # the most severe: twice as many texts are read for one search
CHARACTERS_READ = 1_000  # of each text
LONGEST_WORDS = 60  # characters of what one side says otherwise
SEEN, AHEAD = 120, 40  # characters of a text that are seen at once, and that stand before words further on


def _side(scope: Scope, found: FromClause, side: str) -> tuple[FromClause, ColumnElement[bool]]:
    """The observation of one side, and what makes it that: one whose text changed since says something else."""
    table, read = schema.observations.alias(side), own_schema.simhashes.alias(f"{side}_read")
    mine = and_(read.c.org_id == table.c.org_id, read.c.observation_id == table.c.id)
    changed = exists().where(mine, read.c.content_hash != func.md5(table.c.content)).correlate(table)
    is_side = and_(table.c.org_id == found.c.org_id, table.c.id == found.c[side], scope.reach.where(table.c.org_id))
    return table, and_(is_side, ~changed)


def _read(table: FromClause) -> ColumnElement[str]:
    return func.left(table.c.content, CHARACTERS_READ)


def _conflict(found: FromClause, side: str) -> ScalarSelect[str]:
    """The words of one side that the finding rests on."""
    path = literal(f'$[*] ? (@.side == "{side}").text', JSONPATH)
    word = func.jsonb_path_query(found.c.evidence, path).column_valued(f"{side}_word")
    words = func.string_agg(word.op("#>>")(literal_column("'{}'")), literal(", "))
    return select(func.coalesce(func.left(words, LONGEST_WORDS), "—")).scalar_subquery()


def _told(found: FromClause, text: ColumnElement[str], words: str = "") -> ColumnElement[str]:
    """The text, from its first character on unless the words stand further on, and what contradicts what."""
    at = func.strpos(func.lower(text), words.lower())
    further = func.regexp_replace(func.substr(text, at - AHEAD), rf"^\S{{0,{AHEAD - 1}}}\s+", "")  # half a word
    part = case((at <= SEEN, text), else_=func.concat("…", further))
    shown = func.regexp_replace(func.left(part, LONGEST_TEXT), r"\s+", " ", "g")
    return func.concat(shown, " · ", _conflict(found, "older"), " ↔ ", _conflict(found, "newer"))


def _kind(found: FromClause) -> ColumnElement[str]:
    """Kind and severity, three digits of it, as a worklist has them."""
    shown = func.round(cast(found.c.severity, Numeric), case((found.c.severity < 10, 2), else_=1))  # noqa: PLR2004
    return func.concat(found.c.kind, literal(" contradiction, severity "), func.trim_scale(shown))


@dataclass(frozen=True)
class AlertsOf:
    """The contradiction of a fingerprint, if the last pass of its project found it."""

    scope: Scope
    fingerprint: str
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Its kind stands for a name where a text is gone or another by now."""
        found, orgs, reach = own_schema.contradictions, schema.organizations, self.scope.reach
        standing = StandingRuns(reach).statement().subquery("standing")
        (older, is_older), (newer, is_newer) = (_side(self.scope, found, side) for side in ("older", "newer"))
        gone = or_(older.c.id.is_(None), newer.c.id.is_(None))
        name = case((gone, _kind(found)), else_=_told(found, _read(older)))
        alerts = (
            orgs.join(found, and_(found.c.org_id == orgs.c.id, reach.where(found.c.org_id)))
            .join(standing, and_(standing.c.org_id == found.c.org_id, standing.c.id == found.c.run_id))
            .outerjoin(older, is_older)
            .outerjoin(newer, is_newer)
        )
        return (
            _listed(found, name, newer, standing.c.project_id)
            .select_from(alerts)
            .where(reach.where(orgs.c.id), found.c.fingerprint == self.fingerprint)
            .ext(distinct_on(found.c.org_id))
            .order_by(found.c.org_id, found.c.run_id.desc())
        )


@dataclass(frozen=True)
class ToldAlerts:
    """Alerts with the words in one of their two texts as stored, the most severe first; read in a bound, as titles are.

    One with a side that is no longer active, or says something else since, is none that Drift Alerts would open.
    """

    scope: Scope
    words: str
    row: ClassVar[type] = FoundRow
    limit: ClassVar[float] = LIST

    def statement(self) -> Select[Any]:
        """Whether a text is still the one that was read is asked of what holds the words alone: it reads all of it."""
        orgs, found = schema.organizations, self._matched()
        (older, is_older), (newer, is_newer) = (_side(self.scope, found, side) for side in ("older", "newer"))
        text = case((self._holds(older), _read(older)), else_=_read(newer))
        return (
            _listed(found, _told(found, text, self.words), newer, found.c.project_id)
            .select_from(found.join(orgs, orgs.c.id == found.c.org_id).join(older, is_older).join(newer, is_newer))
            .where(in_scope(self.scope))
            .order_by(found.c.severity.desc(), found.c.fingerprint)
        )

    def _matched(self) -> FromClause:
        """The alerts of which a text holds the words; each side by primary key."""
        orgs, worst, table = schema.organizations, self._worst(), schema.observations
        one, other = table.alias("one"), table.alias("other")
        sides = [
            and_(side.c.org_id == worst.c.org_id, side.c.id == worst.c[name], self.scope.reach.where(side.c.org_id))
            for side, name in ((one, "older"), (other, "newer"))
        ]
        return (
            select(worst)
            .select_from(orgs.join(worst, true()).join(one, sides[0]).join(other, sides[1]))
            .where(in_scope(self.scope), one.c.status == ACTIVE, other.c.status == ACTIVE)
            .where(or_(self._holds(one), self._holds(other)))
            .order_by(worst.c.severity.desc(), worst.c.fingerprint)
            .cte("matched")
            .prefix_with("materialized")
        )

    def _holds(self, table: FromClause) -> ColumnElement[bool]:
        return _read(table).icontains(self.words, autoescape=True)

    def _worst(self) -> FromClause:
        """The most severe alerts of each organization, by one short walk down the results of each of its projects."""
        orgs, found = schema.organizations, own_schema.contradictions
        most = share(self.scope, ALERTS_LOOKED_THROUGH, self._alerts)
        standing = self._standing(orgs.c.id).subquery("standing")
        of_run = self._of_run(orgs.c.id, standing)
        # a pass keeps its own in this order: no other need be sorted
        first = (
            select(found).where(of_run).order_by(found.c.place).limit(most).correlate(orgs, standing).lateral("first")
        )
        return (
            select(first, standing.c.project_id)
            .select_from(standing.join(first, true()))
            .order_by(first.c.severity.desc(), first.c.fingerprint)
            .limit(most)
            .lateral("worst")
        )

    def _alerts(self, org: ColumnElement[str]) -> Select[Any]:
        """All alerts of an organization, to be counted."""
        standing, found = self._standing(org).subquery("counted"), own_schema.contradictions
        return select(found.c.org_id).select_from(standing.join(found, self._of_run(org, standing)))

    def _standing(self, org: ColumnElement[str]) -> Select[Any]:
        """The last pass of each project of an organization."""
        runs = own_schema.aggregation_runs
        theirs = and_(runs.c.org_id == org, self.scope.reach.where(runs.c.org_id))
        return newest_runs(theirs, runs.c.id, runs.c.project_id).correlate(org.table)

    def _of_run(self, org: ColumnElement[str], standing: FromClause) -> ColumnElement[bool]:
        found = own_schema.contradictions
        return and_(found.c.org_id == org, self.scope.reach.where(found.c.org_id), found.c.run_id == standing.c.id)


def _listed(
    found: FromClause, name: ColumnElement[str], newer: FromClause, project: ColumnElement[str | None]
) -> Select[Any]:
    """An alert arose when its newer text was written."""
    orgs = schema.organizations
    return select(
        found.c.fingerprint.cast(Text), orgs.c.id, shown_name(orgs), name, datable(newer.c.created_at), project
    ).limit(FOUND + 1)

"""Where feedback moved candidates: by their two ranks, by weight, and which observations moved most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import ARRAY, BigInteger, Double, Integer, and_, case, cast, column, func, or_, select, true

from queries import schema
from queries.drawn import counted
from queries.impact.selection import OfEach
from queries.retrievals import comparable

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, FromClause, Select, Subquery
    from sqlalchemy.types import TypeEngine


RANKS = ("unweighted_rank", "weighted_rank")
WEIGHT_BINS = 20
MOST_CELLS = 30_000  # a pool of 20 has at most 20 · 20 ranks, 21 weights and 3 answers to who was injected
MOVERS = 8  # each way
TEXT_SHOWN = 300
WEIGHTS_SHOWN = 40


def arrays(log: Subquery, *names: str) -> list[ColumnElement[Any]]:
    """Both ranks and the named columns of all rows of a retrieval."""
    return [func.array_agg(log.c[name], type_=ARRAY(_type(name))).label(f"all_{name}") for name in (*RANKS, *names)]


def candidates(each: FromClause, *names: str) -> Subquery:
    """Both ranks and the named columns of the log rows of comparable retrievals alone.

    Folded into arrays and unfolded again: to join the log with its own fold, whose size Postgres cannot guess, it once
    chose nested loops that took ten times as long.
    """
    names = (*RANKS, *names)
    typed = [column(name, _type(name)) for name in names]
    row = func.unnest(*(each.c[f"all_{name}"] for name in names)).table_valued(*typed, name="row").render_derived()
    drawn = [each.c.stands_for] if "stands_for" in each.c else []
    return (
        select(each.c.org_id, *drawn, *(row.c[name] for name in names))
        .select_from(each.join(row, true()))
        .where(comparable(each))
        .subquery("candidate")
    )


@dataclass(frozen=True)
class MovesRow:
    """Candidates that share both ranks, a twentieth of the weights and whether they were injected.

    ``weight_bin`` is 0 to 19, 20 for a weight of exactly 1, null for one outside 0 to 1.
    """

    unweighted_rank: int
    weighted_rank: int
    weight_bin: int | None
    injected: bool | None
    candidates: int


@dataclass(frozen=True)
class Moves(OfEach):
    """Every candidate of the comparable retrievals, counted by ranks, weight and injection."""

    row: ClassVar[type] = MovesRow

    def measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        """Its rows."""
        return arrays(log, "feedback_weight", "injected")

    def of(self, each: FromClause) -> Select[Any]:
        """One pass, grouped by all that the heat map and the two histograms need."""
        row = candidates(each, "feedback_weight", "injected")
        weight = row.c.feedback_weight
        inside = cast(func.floor(weight * WEIGHT_BINS), Integer)
        weight_bin = case((and_(weight >= 0, weight <= 1), inside))
        keys = (row.c.unweighted_rank, row.c.weighted_rank, weight_bin, row.c.injected)
        number = counted(row, self.selection.share)
        return select(*keys, number).group_by(*keys).order_by(number.desc(), *keys).limit(MOST_CELLS)


@dataclass(frozen=True)
class MoverRow:
    """One observation: how far feedback moved it in all its retrievals together, and the weights it had."""

    org_id: str
    observation_id: str
    places: int
    retrievals: int
    up: int
    down: int
    text: str | None
    weight: float | None
    weights: object


@dataclass(frozen=True)
class Movers(OfEach):
    """The observations that feedback moved up most, and those it moved down most, by places summed over retrievals.

    Of a log too long to be folded whole, over the retrievals drawn: what one observation did elsewhere they cannot say.
    """

    row: ClassVar[type] = MoverRow

    def measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        """Its rows."""
        return arrays(log, "observation_id")

    def of(self, each: FromClause) -> Select[Any]:
        """The eight most moved each way, with the start of their text; a deleted one has none."""
        moved = self._moved(each)
        texts, steps = schema.observations, schema.observation_weight_history
        its_text = and_(texts.c.org_id == moved.c.org_id, texts.c.id == moved.c.observation_id)
        latest = (
            select(steps.c.new_weight, steps.c.recorded_at, steps.c.id)
            .where(steps.c.org_id == moved.c.org_id, steps.c.observation_id == moved.c.observation_id)
            .order_by(steps.c.recorded_at.desc(), steps.c.id.desc())
            .limit(WEIGHTS_SHOWN)
            .correlate(moved)
            .subquery("latest")
        )
        history = select(latest.c.new_weight).order_by(latest.c.recorded_at, latest.c.id).scalar_subquery()
        return (
            select(
                moved.c.org_id,
                moved.c.observation_id,
                moved.c.places,
                moved.c.retrievals,
                moved.c.up,
                moved.c.down,
                func.left(texts.c.content, TEXT_SHOWN),
                texts.c.weight,
                func.array(history, type_=ARRAY(Double)),
            )
            .select_from(moved.outerjoin(texts, its_text))
            .where(
                or_(and_(moved.c.rise <= MOVERS, moved.c.places > 0), and_(moved.c.fall <= MOVERS, moved.c.places < 0))
            )
            .order_by(moved.c.places.desc(), moved.c.observation_id)
        )

    def _moved(self, each: FromClause) -> Subquery:
        row = candidates(each, "observation_id")
        delta = cast(row.c.unweighted_rank, BigInteger) - row.c.weighted_rank
        places = func.sum(delta)
        ties = (row.c.org_id, row.c.observation_id)
        return (
            select(
                *ties,
                cast(places, BigInteger).label("places"),
                func.count().label("retrievals"),
                func.count().filter(delta > 0).label("up"),
                func.count().filter(delta < 0).label("down"),
                func.row_number().over(order_by=(places.desc(), *ties)).label("rise"),
                func.row_number().over(order_by=(places, *ties)).label("fall"),
            )
            .group_by(*ties)
            .subquery("moved")
        )


def _type(name: str) -> TypeEngine[Any]:
    return schema.retrieval_ab_logs.c[name].type

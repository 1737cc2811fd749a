"""Questions about the same retrievals go in one statement and are answered as if each were asked by itself."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd
import pytest
from sqlalchemy import func, select, text

from queries.drawn import retrievals_drawn
from queries.engine import AGGREGATE
from queries.impact.left_out import LeftOut
from queries.impact.listed import ListedRetrievals
from queries.impact.measures import Measures
from queries.impact.moves import Movers, Moves
from queries.impact.outcomes import SessionOutcomes
from queries.impact.selection import Filters, OfEach, Selection
from queries.overview import DailyRetrievals, DailyRow, Overview
from queries.scope import EVERYTHING, Scope
from queries.shape import COMPLETE_SHAPE, LogShape
from queries.together import Together, rounds
from tests import sample
from tests.long_log import LONG, plant

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from sqlalchemy import ColumnElement, FromClause, Select, Subquery

    from queries.engine import Question, Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY)
SHAPES = pytest.mark.parametrize("shape", [COMPLETE_SHAPE, LONG], ids=["whole", "drawn"])


@pytest.fixture
def logged(owner: Owner) -> None:
    plant(owner)


def of_impact(chosen: Selection) -> list[Question]:
    """All that the page can ask of the window's retrievals at once."""
    cell = (1, 0)
    return [Moves(chosen), ListedRetrievals(chosen, cell), Movers(chosen), SessionOutcomes(chosen), LeftOut(chosen)]


@pytest.mark.usefixtures("logged")
class TestAnswers:
    @SHAPES
    def test_of_overview_are_those_of_each_by_itself(self, store: Store, shape: LogShape) -> None:
        asked: list[Question] = [
            Overview(WINDOW, shape),
            Overview(WINDOW.before(), shape),
            DailyRetrievals(WINDOW, shape),
        ]
        assert_same(store, asked)

    @SHAPES
    @pytest.mark.parametrize(
        "filters", [Filters(), Filters(weighting="on", text="q1"), Filters(outcome="none"), Filters(weighting="off")]
    )
    def test_of_impact_are_those_of_each_by_itself(self, store: Store, shape: LogShape, filters: Filters) -> None:
        assert_same(store, of_impact(Selection(WINDOW, filters, shape=shape)))

    def test_of_nothing_are_empty_frames_of_their_types(self, store: Store) -> None:
        empty = replace(WINDOW, since=WINDOW.since + timedelta(days=900), until=WINDOW.until + timedelta(days=900))
        asked = of_impact(Selection(empty))
        assert_same(store, asked)
        assert all(frame.empty for frame in store.ask_all(*asked)[0])

    def test_drawn_are_what_their_rows_say(self, store: Store) -> None:
        """Each retrieval drawn stands for the part of it that was seen over the share, by sums of our own."""
        share = LONG.share(WINDOW)
        counted = text("select org_id, retrieval_id, count(*) from retrieval_ab_logs group by 1, 2")
        with store.reading(EVERYTHING, AGGREGATE) as connection:
            drawn = connection.execute(select(retrievals_drawn(WINDOW, share))).all()
            sizes = {(org, one): rows for org, one, rows in connection.execute(counted)}
        weights: dict[str, float] = {}
        for one in drawn:
            weight = one.seen / sizes[one.org_id, one.retrieval_id] / share / one.kept
            weights[one.org_id] = weights.get(one.org_id, 0.0) + weight
        found = store.ask_all(Overview(WINDOW, LONG), DailyRetrievals(WINDOW, LONG))[0][0]
        said = dict(zip(found["org_id"], found["retrievals"], strict=True))
        assert said == {org: round(weight) for org, weight in weights.items()}


def assert_same(store: Store, asked: Sequence[Question]) -> None:
    for question, found in zip(asked, store.ask_all(*asked)[0], strict=True):
        # sums of floats may end otherwise in their last digit
        pd.testing.assert_frame_equal(found, store.ask(question), rtol=1e-12)


@pytest.mark.usefixtures("logged")
def test_a_page_folds_its_retrievals_once(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    chosen = Selection(WINDOW)
    with caplog.at_level(logging.INFO, "rankscope.store"):
        store.ask_all(Overview(WINDOW), Measures(chosen), Moves(chosen), DailyRetrievals(WINDOW), Movers(chosen))
    names = [record.args[0] for record in caplog.records if isinstance(record.args, tuple)]
    assert names == ["Overview + DailyRetrievals", "Measures", "Moves + Movers"]
    statement = str(Together([Moves(chosen), Movers(chosen)]).statement())
    assert statement.count("FROM retrieval_ab_logs") == 1


def test_only_the_same_retrievals_are_asked_about_together() -> None:
    asked: list[Question] = [
        Moves(Selection(WINDOW)),
        Moves(Selection(WINDOW, top=3)),
        Moves(Selection(WINDOW, Filters(agent="a"))),
        Movers(Selection(WINDOW.before())),
        Movers(Selection(WINDOW, shape=LONG)),
        DailyRetrievals(WINDOW),
        Overview(WINDOW.before()),
        Movers(Selection(WINDOW)),
    ]
    assert rounds(asked) == [[0, 7], [1], [2], [3], [4], [5], [6]]


@dataclass(frozen=True)
class Contrary(OfEach):
    """What calls another thing by a name that is taken."""

    row: ClassVar[type] = DailyRow

    def measures(self, log: Subquery) -> list[ColumnElement[Any]]:
        return [func.max(log.c.session_id).label("session_id")]

    def of(self, each: FromClause) -> Select[Any]:
        return select(each.c.session_id)


def test_one_name_for_two_measures_is_refused() -> None:
    with pytest.raises(ValueError, match="one meaning of 'session_id'"):
        Together([ListedRetrievals(Selection(WINDOW)), Contrary(Selection(WINDOW))])

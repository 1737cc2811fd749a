"""A cached answer is its own reach's answer, however large and however alike: ISO-7 of the bar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import case, column, func, literal, select

from controls import loading
from controls.loading import kept, load
from queries.engine import AGGREGATE
from queries.scope import Reach, Scope
from tests.pages.application import application

if TYPE_CHECKING:
    import pytest
    from sqlalchemy import Select

    from tests.conftest import Cluster

ROWS, ODD = 60_000, 777  # Streamlit hashes a sample of a frame this large


@dataclass(frozen=True)
class ManyRow:
    number: int
    whose: str


@dataclass(frozen=True)
class Many:
    """Sixty thousand rows that differ between two reaches in one."""

    scope: Scope
    row: ClassVar[type] = ManyRow
    limit: ClassVar[float] = AGGREGATE

    def statement(self) -> Select[Any]:
        numbers = func.generate_series(1, ROWS).table_valued(column("number"), name="numbers").render_derived()
        mine = literal((self.scope.reach.orgs or ("",))[0])
        return select(numbers.c.number, case((numbers.c.number == ODD, mine), else_=literal("alike")))


def asked_by(org: str) -> Many:
    return Many(Scope.of_days(Reach((org,)), date(2026, 1, 1), date(2026, 1, 2)))


def test_two_reaches_never_share_an_answer(cluster: Cluster, store_database: str) -> None:
    assert repr(asked_by("org_a")) == repr(asked_by("org_b"))  # so that the reach alone tells them apart
    with application(cluster.plain_url("dash_read", store_database)):
        for org in ("org_a", "org_b", "org_a", "org_b"):
            answer = load(asked_by(org)).frames[0]
            assert len(answer) == ROWS
            assert set(answer["whose"]) == {"alike", org}
            assert answer.loc[answer["number"] == ODD, "whose"].item() == org


def test_what_a_page_does_to_its_frame_is_not_seen_by_the_next(cluster: Cluster, store_database: str) -> None:
    with application(cluster.plain_url("dash_read", store_database)):
        answer = load(asked_by("org_a")).frames[0]
        answer["whose"] = "changed"
        assert set(load(asked_by("org_a")).frames[0]["whose"]) == {"alike", "org_a"}


def test_what_is_made_of_answers_is_never_kept_for_newer_ones(
    cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are stored between answers and what is made of them: the next run makes it anew."""
    question, made = asked_by("org_a"), count()
    with application(cluster.plain_url("dash_read", store_database)):
        monkeypatch.setattr(loading, "version", lambda _: "first")
        older = load(question)
        monkeypatch.setattr(loading, "version", lambda _: "second")
        assert kept("number", lambda: next(made), older, question) == 0
        assert kept("number", lambda: next(made), older, question) == 0
        newer = load(question)
        assert newer.as_of > older.as_of
        assert kept("number", lambda: next(made), newer, question) == 1

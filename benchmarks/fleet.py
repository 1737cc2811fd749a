"""LOAD-7 and 8: what the pages ask of a log of ten million rows, each against a bare statement over the same rows."""

import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import streamlit as st

from analysis.overview import totals
from benchmarks import _fleet
from benchmarks._asked import Asked, listening
from benchmarks._bars import held, over
from benchmarks._served import served
from benchmarks._timing import best_of
from controls.trust import in_part
from queries.drawn import FOLDED, WHOLE
from queries.engine import AGGREGATE, Question, Store, ask
from queries.flags.history import FlagHistory
from queries.logged_retrieval import LatestRetrievals
from queries.observation.retrieved import Retrievals
from queries.overview import Overview
from queries.scope import EVERYTHING, NOTHING, Reach, Scope
from queries.shape import LogShape, log_shape
from tests.pages.application import application

Row = dict[str, object]
ROWS, QUICK = 10_000_000, 200_000
TIMES = 7
PAGES = {"Overview": "overview.py", "Feedback Impact": "feedback_impact.py", "Health": "health.py"}
LARGEST = "org_00"
WINDOWS = (30, 90)  # days: what the pages open with, and the whole log
PAGE_AT_MOST, FIRST_AT_MOST, DEEPER_AT_MOST = 100.0, 50.0, 3.0  # ms, ms, times the first page
EXACT_AT_MOST, DRAWN_AT_MOST = 5_000.0, 500.0  # ms
FROM_THE_END = 1_000  # rows of a list behind its deep page
PATIENCE = 120.0  # seconds for what no page waits for

COUNT = """select count(*) from retrieval_ab_logs
            where (%(org)s::text is null or org_id = %(org)s) and created_at >= %(since)s and created_at < %(until)s"""
CHANGES = """select changed_at, id from rankscope.flag_changes where org_id = %(org)s
              order by changed_at desc, id desc limit 50 offset %(depth)s"""
FOUND = """select created_at, retrieval_id::text from retrieval_ab_logs
            where org_id = %(org)s and observation_id = %(memory)s
            order by created_at desc, retrieval_id::text desc limit 50 offset %(depth)s"""
NEWEST = """select created_at, retrieval_id::text from retrieval_ab_logs where org_id = %(org)s
             order by created_at desc limit 50 offset %(depth)s"""
AVERAGE = """select org_id from (select org_id, count(*) own, avg(count(*)) over () mean from sessions group by 1) each
              order by abs(own - mean), org_id limit 1"""
HOT = """select observation_id, count(*) from retrieval_ab_logs where org_id = %(org)s
          group by 1 order by 2 desc limit 1"""


@dataclass(frozen=True)
class Fleet:
    """The store as the pages read it, its owner for what is bare, and the day that its log ends."""

    address: str
    store: Store
    owner: psycopg.Connection[Any]
    asked: Asked
    shape: LogShape
    now: datetime

    def scope(self, days: int, org: str | None = None) -> Scope:
        """The last so many days, as the pages count them."""
        today = self.now.date()
        return Scope.of_days(EVERYTHING, today - timedelta(days - 1), today, org)

    def average(self) -> str:
        """The organization whose part of the log is nearest to one of as many equal ones."""
        return str(self.bare(AVERAGE)[0][0])

    def bare(self, statement: str, **given: object) -> list[tuple[Any, ...]]:
        """As the owner, whom row security does not bind."""
        return self.owner.execute(statement, given).fetchall()


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Every time is that of the statements alone, from sending one to its last row, with nothing kept from before."""
    rows = QUICK if quick else ROWS
    with a_fleet(rows) as fleet:
        pages = [*_pages(fleet, 7, fleet.average()), *_pages(fleet, 7, LARGEST)]
        pages += [row for days in WINDOWS for row in _pages(fleet, days, None)]
        drawing = of_drawing(fleet)
        lists = list(of_lists(fleet, _fleet.turn_flags(fleet.owner, LARGEST, rows, fleet.now)))
        length = fleet.shape.length
    if not quick:
        with a_fleet(FOLDED) as counted_whole:  # the longest log of which nothing is drawn
            pages += [row for days in WINDOWS for row in _pages(counted_whole, days, None)]
    return {"log rows": length, "rows": [*pages, *lists], "drawn and exact": drawing}


@contextmanager
def a_fleet(rows: int) -> Iterator[Fleet]:
    """A store with a log of so many rows until now."""
    now = datetime.now(UTC)
    with served(partial(_fleet.fill, rows=rows, now=now), durable=False) as (address, store), listening() as asked:
        with store.reading(NOTHING, AGGREGATE) as snapshot:
            shape = log_shape(snapshot)
        plain = address.replace("+psycopg", "")
        with psycopg.connect(plain.replace("dash_read@", "postgres@"), autocommit=True) as owner:
            yield Fleet(plain, store, owner, asked, shape, now)


def _pages(fleet: Fleet, days: int, org: str | None) -> Iterator[Row]:
    scope = fleet.scope(days, org)
    window = {"org": org, "since": scope.since, "until": scope.until}
    count = partial(fleet.bare, COUNT, **window)
    bare, rows = best_of(TIMES, count) * 1e3, int(count()[0][0])
    drawn = fleet.shape.share(scope) < WHOLE
    limit = PAGE_AT_MOST if org else DRAWN_AT_MOST if drawn else EXACT_AT_MOST
    for name, script in PAGES.items():
        found = opened(fleet, script, scope, days)
        row = _row(f"{name}, {org or 'all'}, {days} days of {fleet.shape.length:,} rows", rows, found.spent, bare)
        told = {"slowest question": found.slowest[0], "its ms": found.slowest[1], "drawn": drawn, "limit ms": limit}
        yield row | told | judged_page(found, limit, org, drawn=drawn)


def judged_page(found: "Opened", limit: float, org: str | None, *, drawn: bool) -> Row:
    """The bars of a page; of the largest organization they are not asked, and said apart."""
    slow = over({"ms": min(found.spent)}, {"ms": limit})
    wrong = [*found.faults, *(["not labelled"] if drawn and not found.labelled else [])]
    if org == LARGEST:
        return held(wrong) | {"over bars not asked for": "; ".join(slow)}
    return held([*slow, *wrong])


@dataclass(frozen=True)
class Opened:
    """Milliseconds of all that a page asked each time, the dearest of it, what went wrong, and whether it says ±."""

    spent: list[float]
    slowest: tuple[str, float]
    faults: list[str]
    labelled: bool


def opened(fleet: Fleet, script: str, scope: Scope, days: int) -> Opened:
    """A page as it is opened several times with nothing kept; a page without its figures is a fault."""
    address = {"window": f"{days}d"} | ({"org": scope.org} if scope.org else {})
    spent: list[float] = []
    slowest: list[tuple[str, float]] = []
    faults: set[str] = set()
    with application(fleet.address, **address) as page:
        page.run()
        page.switch_page(script)
        page.run()  # connected, and its modules read
        for _ in range(TIMES):
            st.cache_data.clear()
            fleet.asked.forget()
            page.run()
            wrong = {*fleet.asked.failed, *(panel.value for panel in (*page.exception, *page.error))}
            wrong |= set() if page.metric else {"no figures"}
            faults |= wrong
            spent += [] if wrong else [fleet.asked.ms]  # what was stopped would pass for fast
            slowest.append(fleet.asked.slowest)
        strip = next((line.value for line in page.markdown if "as of" in line.value), "")
    middle = sorted(slowest, key=lambda one: one[1])[len(slowest) // 2]
    return Opened(spent or [math.nan], middle, sorted(faults), "≈" in strip and "±" in strip)


def of_lists(fleet: Fleet, changes: int) -> Iterator[Row]:
    """The first page of each list that is read by its keys, and one near its end."""
    of_org = replace(fleet.scope(_fleet.DAYS + 1, LARGEST), reach=Reach((LARGEST,)))
    ((memory, found),) = fleet.bare(HOT, org=LARGEST)

    def history(last: tuple[datetime, int] | None) -> Question:
        return FlagHistory(of_org, before=None if last is None else last[1])

    def retrieved(last: tuple[datetime, str] | None) -> Question:
        return Retrievals(of_org, UUID(str(memory)), fleet.shape, last)

    yield from _listed(fleet, "flag history", changes, partial(fleet.bare, CHANGES, org=LARGEST), history)
    found_in = partial(fleet.bare, FOUND, org=LARGEST, memory=memory)
    yield from _listed(fleet, "retrievals of one memory", int(found), found_in, retrieved)
    newest = partial(fleet.bare, NEWEST, org=LARGEST)
    yield from _listed(fleet, "newest retrievals", 0, newest, lambda _: LatestRetrievals(of_org, fleet.shape))


def _listed(
    fleet: Fleet, name: str, length: int, bare: Callable[..., list[Any]], page: Callable[[Any], Question]
) -> Iterator[Row]:
    first = _times(fleet, page(None))
    row = _row(f"{name}, first page", length or None, first, best_of(TIMES, lambda: bare(depth=0)) * 1e3)
    limits = {"ms": FIRST_AT_MOST}
    yield row | {"limit ms": FIRST_AT_MOST} | held(over({"ms": min(first)}, limits))
    depth = length - FROM_THE_END
    if depth <= 0:
        return
    last = bare(depth=depth - 1)[0]
    deep = _times(fleet, page(last))
    row = _row(f"{name}, below {depth:,}", length, deep, best_of(TIMES, lambda: bare(depth=depth)) * 1e3)
    ratio = {"of the first page": min(deep) / min(first)}
    yield row | ratio | {"limit": DEEPER_AT_MOST} | held(over(ratio, dict.fromkeys(ratio, DEEPER_AT_MOST)))


def _times(fleet: Fleet, question: Question) -> list[float]:
    spent = []
    for _ in range(TIMES + 1):
        fleet.asked.forget()
        if fleet.store.ask(question).empty:
            raise RuntimeError(f"expected rows for {type(question).__name__}, found none")
        spent.append(fleet.asked.ms)
    return spent[1:]


def _row(what: str, rows: int | None, spent: list[float], bare: float) -> Row:
    fastest = min(spent)
    return {
        "what": what,
        "of rows": rows,
        "ms": fastest,
        "median ms": statistics.median(spent),
        "slowest ms": max(spent),
        "bare ms": bare,
        "ratio": fastest / bare,
    }


def of_drawing(fleet: Fleet) -> Row:
    """Overview's figures of all organizations as drawn and as counted whole: how far apart, and how far they may be."""
    scope = fleet.scope(30)
    shape = fleet.shape if fleet.shape.share(scope) < WHOLE else replace(fleet.shape, length=FOLDED + 1)
    with fleet.store.reading(EVERYTHING, PATIENCE) as snapshot:
        fleet.asked.forget()
        exact, drawn = (totals(ask(snapshot, question)) for question in (Overview(scope), Overview(scope, shape)))
        times = [ms for name, ms in fleet.asked.spent if name]
    points, percent = (float(told) for told in re.findall(r"±([\d.]+)", in_part(shape.share(scope), drawn["drawn"])))
    shares = [100 * each["moved"] / each["measured"] for each in (drawn, exact)]
    found = {
        "points apart": abs(shares[0] - shares[1]),
        "percent apart": 100 * abs(drawn["retrievals"] / exact["retrievals"] - 1),
    }
    return {
        "changed the top 5, drawn": shares[0],
        "exact": shares[1],
        "retrievals, drawn": drawn["retrievals"],
        "exactly": exact["retrievals"],
        **found,
        "said to be within points": points,
        "said to be within percent": percent,
        "ms exact": times[0],
        "ms drawn": times[1],
        **held(over(found, {"points apart": points, "percent apart": percent})),
    }

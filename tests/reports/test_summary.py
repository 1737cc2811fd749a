"""The figures of a report against the same counted by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from analysis.drift.alerts import AlertFilter, State, Triage
from analysis.drift.figures import trend
from ranking.contradictions import Kind
from reports.pictures import pictures
from reports.summary import Summary, findings
from tests.reports.alerts import NOW, about, alert, alerts

DAY = datetime(2026, 3, 29, tzinfo=UTC)


def counted(*some: object) -> Summary:
    summary = Summary(DAY)
    for one in some:
        summary.add(one)  # type: ignore[arg-type]
    return summary


def dated(days: float, number: int = 1) -> object:
    one = alert(number, triage=Triage("new"))
    return replace(one, newer=replace(one.newer, created_at=DAY - timedelta(days=days)))


def test_every_alert_is_counted_once_in_each_picture() -> None:
    summary = counted(*alerts(120))
    assert summary.number == 120
    assert [bar.value for bar in summary.by_kind()] == [30, 30, 30, 30]
    assert [bar.value for bar in summary.by_state()] == [20] * 6
    assert sum(bar.value for bar in summary.by_severity()) == 120
    assert sum(bar.value for bar in summary.by_day()[0]) == 120
    assert sum(bar.value for bar in summary.by_age()) == summary.open == 60
    assert summary.both_injected == 80


def test_severity_falls_into_bands_of_ten() -> None:
    summary = counted(*(alert(severity=value) for value in (0.0, 9.99, 10.0, 69.9, 70.0, 100.0, float("nan"))))
    assert [bar.value for bar in summary.by_severity()] == [3, 1, 0, 0, 0, 0, 1, 1, 0, 1]
    assert [bar.label for bar in summary.by_severity() if bar.shade == "severe"] == ["70", "80", "90"]
    assert summary.severe == 2


def test_ages_have_their_edges_and_what_has_no_date_is_named() -> None:
    """At the end of the day, as the page counts them: a day more than at its beginning."""
    summary = counted(*(dated(days) for days in (-1, 0.5, 5.9, 6, 7, 28.9, 29, 88.9, 89, 9_999)))
    assert {bar.label: bar.value for bar in summary.by_age()} == {
        "under 7 days": 3, "7 to 30 days": 3, "30 to 90 days": 2, "over 90 days": 2,
    }  # fmt: skip
    undated = alert(6)
    summary = counted(replace(undated, newer=replace(undated.newer, created_at=None)))
    assert {bar.label: bar.value for bar in summary.by_age()}["no date"] == 1
    assert summary.by_day() == ([], 1)


@given(st.lists(st.integers(-23, 24 * 100), max_size=30))
def test_a_report_and_the_page_of_the_same_day_count_the_same_ages(hours: list[int]) -> None:
    some = [dated(each / 24) for each in hours]
    ((today,), undated) = trend(some, {}, DAY, DAY + timedelta(days=1))  # type: ignore[arg-type]
    assert undated == 0
    assert [bar.value for bar in counted(*some).by_age()] == list(today.open_by_age)


def test_a_long_time_is_drawn_in_wider_columns_and_loses_nobody() -> None:
    days, step = counted(*(dated(days) for days in (0, 44))).by_day()
    assert (len(days), step, [bar.value for bar in days if bar.value]) == (45, 1, [1, 1])
    days, step = counted(*(dated(days) for days in (0, 1, 45))).by_day()
    assert (len(days), step, days[-1].value, sum(bar.value for bar in days)) == (7, 7, 2, 3)
    early, late = (replace(alert(6).newer, created_at=datetime(year, 1, 1, tzinfo=UTC)) for year in (1, 9999))
    days, _ = counted(replace(alert(6), newer=early), replace(alert(6), newer=late)).by_day()
    assert (days[0].value, days[-1].value, len(days)) == (1, 1, 45)


def test_the_most_harmful_come_first_and_equals_in_their_order() -> None:
    summary = counted(*(alert(number, harm=harm) for number, harm in enumerate([1.0, 5.0, 5.0, 0.0, float("nan")], 1)))
    assert [found.number for found in summary.by_harm()] == [2, 3, 1]


def test_what_is_not_logged_is_not_zero() -> None:
    figures = {label: value for label, value, _ in findings(counted(alert(both_injected=None)))}
    assert figures["Both sides given"] == "—"
    assert counted(alert(both_injected=None)).to_json()["both_injected"] is None
    assert {value for _, value, _ in findings(counted())} == {"0"}
    assert NOW.date() == DAY.date()


def listing(*states: State, besides: dict[State, int]) -> Summary:
    """An alert in the first of the states that were asked for, and so many besides."""
    found = replace(about().found, unlisted=tuple(besides.items()))
    summary = Summary.of(about(filter=AlertFilter(0.5, states=frozenset(states)), found=found))
    summary.add(alert(triage=Triage(states[0])))
    return summary


def test_a_state_that_was_not_asked_for_is_not_listed_and_never_none() -> None:
    summary = listing("new", "acknowledged", besides={"resolved": 2, "false positive": 1, "new": 4})
    told = {bar.label: bar.instead or bar.value for bar in summary.by_state()}
    assert told == {
        "new": 1, "acknowledged": 0, "investigating": "not listed: none", "snoozed": "not listed: none",
        "resolved": "not listed: 2", "false positive": "not listed: 1",
    }  # fmt: skip
    figures = {label: (value, words) for label, value, words in findings(summary)}
    assert figures["Decided, not listed"] == ("3", "resolved or no contradiction; left out by the chosen states")
    assert figures["Open"] == ("1", "100 % wait for a decision; 4 more not listed")


def test_a_report_of_decided_alerts_does_not_say_that_nothing_is_open() -> None:
    summary = listing("resolved", besides={"new": 3, "false positive": 1})
    figures = {label: (value, words) for label, value, words in findings(summary)}
    assert figures["Open, not listed"] == ("3", "wait for a decision; left out by the chosen states")
    assert figures["Decided"] == ("1", "100 % resolved or no contradiction; 1 more not listed")
    titles = [picture.title for picture in pictures(summary)]
    assert titles[1] == "What waits for a decision is not listed: 3"
    assert titles[3] == "What is open is not listed"
    assert summary.by_age() == []


def test_what_is_equally_high_is_named_too() -> None:
    def titles(*days: float) -> list[str]:
        kinds = (Kind.VALUE, Kind.NEGATION)
        some = [replace(dated(day), kind=kinds[at % 2]) for at, day in enumerate(days)]  # type: ignore[type-var]
        return [picture.title for picture in pictures(counted(*some))]

    two = titles(0, 0, 3, 3, 8)
    assert two[4] == "Most newer statements were written on 2026-03-26 and on one other day: 2 each"
    assert two[0] == "Most are value: 3 of 5"
    four = titles(0, 1, 2, 40)
    assert four[4] == "Most newer statements were written on 2026-02-17 and on 3 other days: 1 each"
    assert four[0] == "Most are negation and value: 2 each of 4"
    assert titles(0, 8)[3] == "Age of what is open: most under 7 days and 7 to 30 days"
    assert titles(0, 0, 3)[4] == "Most newer statements were written on 2026-03-29: 2"

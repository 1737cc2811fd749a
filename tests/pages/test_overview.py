"""Overview's figures, as they stand on the page, against planted facts."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import sample
from tests.pages.application import application
from tests.pages.overview_page import matrix

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    """Acme: five retrievals, of which four complete and one moved; Birch: weighting off; Cedar: nothing."""
    sample.add_organization(owner, "org_a", "Acme", features='{"corroboration_boost_enabled": true}')
    sample.add_organization(owner, "org_b", "Birch", features='{"feedback_weighting_disabled": true}')
    sample.add_organization(owner, "org_c", "Cedar", features="[1]")
    sample.add_observations(owner, "org_a", 3)
    sample.add_observations(owner, "org_a", 2, days_ago=50)
    sample.add_retrieval(owner, "org_a", sample.swapped(8, 4, 5), name="moved")
    for name in ("one", "two", "three"):
        sample.add_retrieval(owner, "org_a", sample.unchanged(8), name=name)
    sample.add_retrieval(owner, "org_a", sample.unchanged(8)[1:], name="a row is missing")
    sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="the window before", days_ago=40)
    sample.add_retrieval(owner, "org_b", sample.swapped(8, 4, 5), name="off", weighted=False, days_ago=2)
    for session, outcome in (("s1", "accepted"), ("s2", "accepted"), ("s3", "rework"), ("s4", None)):
        sample.add_session(owner, "org_a", session, outcome)
    return cluster.plain_url("dash_read", store_database)


def values(sent: Any) -> list[int]:  # noqa: ANN401 - plotly sends numbers as a list or packed
    if isinstance(sent, list):
        return sent
    return [int(number) for number in np.frombuffer(base64.b64decode(sent["bdata"]), dtype=sent["dtype"])]


def test_the_figures_on_top(address: str) -> None:
    with application(address) as test:
        test.run()
    assert not test.exception
    figures = {metric.label: (metric.value, metric.delta) for metric in test.metric}
    assert figures == {
        "Observations": ("5", "+3 new"),
        "Retrievals": ("6", "+500 % so far"),
        "Top 5 changed": ("25 %", "≈ +25 pt, unclear"),
        "Accepted": ("66.7 %", ""),
        "Log coverage": ("83.3 %", "≈ -17 pt, unclear"),
    }


def test_a_count_of_a_day_that_is_not_over_says_until_when_it_counts(address: str, owner: Owner) -> None:
    """And one of a window that is over does not: it is held against as long a time."""
    with application(address) as test:
        test.run()
    strip = next(line.value for line in test.markdown if "as of" in line.value)
    until = strip.partition("as of ")[2][:5]
    assert any(
        f"So far: today's retrievals count until {until} UTC, those before are of whole days." in caption.value
        for caption in test.caption
    )
    sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="five days ago", days_ago=5)
    last = datetime.now(UTC).date() - timedelta(days=2)
    days = {"from": f"{last - timedelta(days=29)}", "to": f"{last}"}
    with application(address, window="custom", **days) as test:
        test.run()
    retrievals = next(metric for metric in test.metric if metric.label == "Retrievals")
    assert retrievals.delta
    assert "so far" not in retrievals.delta
    assert not any("So far" in caption.value for caption in test.caption)


def test_what_so_far_means_is_told_only_where_a_figure_says_it(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_new")
    sample.add_retrieval(owner, "org_new", sample.unchanged(8), name="today")
    with application(address, org="org_new") as test:
        test.run()
    assert not any("so far" in (metric.delta or "") for metric in test.metric)
    assert not any("So far" in caption.value for caption in test.caption)


def test_the_trust_strip_names_what_is_missing(address: str) -> None:
    with application(address) as test:
        test.run()
    strip = next(line.value for line in test.markdown if "as of" in line.value)
    assert "1 retrieval logged incompletely" in strip
    assert "flags of 1 organization unreadable" in strip
    assert "47 log rows in 6 retrievals" in strip
    assert "log coverage 83.3 %" in strip


def test_the_table_has_a_row_per_organization(address: str) -> None:
    with application(address) as test:
        test.run()
    table = matrix(test)
    assert list(table["organization"]) == ["Acme", "Birch", "Cedar"]
    assert list(table["retrievals"]) == [5, 1, 0]
    assert table["changed"].to_dict()["org_a"] == 25
    assert table["changed"].isna().to_dict() == {"org_a": False, "org_b": True, "org_c": True}
    assert table["coverage"].to_dict() == {"org_a": "80 % ›", "org_b": "100 % ›", "org_c": "— ›"}
    # nobody logged a block; of the four comparable retrievals of Acme one has other places, the rest are as they were
    assert list(table["flips"]) == ["— ›", "— ›", "— ›"]
    assert 0.9 < float(table["overlap"]["org_a"].removesuffix(" ›")) < 1.0
    assert list(table["overlap"][["org_b", "org_c"]]) == ["— ›", "— ›"]
    assert list(table["override"]) == ["set outside ›", "set outside ›", "— ›"]
    assert list(table["alerts"]) == ["— ›", "— ›", "— ›"]
    assert list(table["outcomes"]) == ["67 / 33 / 0", "—", "—"]
    assert list(table["weighting"]) == ["on (default) ›", "off ›", "unreadable: not an object but an array ›"]
    assert list(table["boost"]) == ["on ›", "off (default) ›", "unreadable: not an object but an array ›"]
    days = table["by day"]["org_a"]
    assert (len(days), sum(days), days[-2]) == (30, 5, 5)


def test_the_chart_says_its_finding_and_adds_up(address: str) -> None:
    with application(address) as test:
        test.run()
    spec = json.loads(test.get("plotly_chart")[0].proto.spec)
    assert spec["layout"]["title"]["text"] == "Feedback changed the top 5 in 25 % of retrievals: 1 of 4 comparable"
    bars = {trace["name"]: sum(values(trace["y"])) for trace in spec["data"]}
    assert bars == {"changed": 1, "kept": 3, "weighting off or incomplete": 2}


@pytest.mark.parametrize(("organization", "expected"), [("org_a", "5"), ("org_b", "1")])
def test_a_scope_limits_every_figure(address: str, organization: str, expected: str) -> None:
    with application(address, org=organization) as test:
        test.run()
    assert {metric.label: metric.value for metric in test.metric}["Retrievals"] == expected
    assert len(test.dataframe[0].value) == 1


def test_a_store_without_retrieval_ids_and_times_says_what_that_means(address: str, owner: Owner) -> None:
    owner.execute("alter table retrieval_ab_logs drop column retrieval_id, drop column created_at")
    with application(address) as test:
        test.run()
    assert not test.exception
    strip = next(line.value for line in test.markdown if "as of" in line.value)
    assert "logs no retrieval id" in strip
    assert "logs no time" in strip


def test_a_log_too_long_to_fold_is_drawn_from_and_says_so(address: str, owner: Owner) -> None:
    owner.execute("update pg_class set reltuples = 1200000 where oid = 'retrieval_ab_logs'::regclass")
    with application(address) as test:
        test.run()
        strip = next(line.value for line in test.markdown if "as of" in line.value)
        assert "drawn from 25 % of the log" in strip
        assert "choose one to count it whole" in strip
        shown = {metric.label: metric.value for metric in test.metric}
        assert shown["Retrievals"].startswith("≈ ")
        assert not shown["Observations"].startswith("≈")
    # of so long a log hardly a page is drawn, and none of these few rows: not known is not none
    owner.execute("update pg_class set reltuples = 3e9 where oid = 'retrieval_ab_logs'::regclass")
    with application(address) as test:
        table = matrix(test.run())
        assert table["retrievals"].isna()[["org_a", "org_b"]].tolist() == [True, True]
        assert any("newest" in line.value for line in test.markdown)
    with application(address, org="org_a") as test:
        test.run()
        assert {metric.label: metric.value for metric in test.metric}["Retrievals"] == "5"
        assert not any("drawn from" in line.value for line in test.markdown)


def test_the_cells_of_the_matrix_by_hand(address: str, owner: Owner) -> None:
    """Every cell of Acme against its arithmetic, and Birch's beside it.

    Two retrievals of Acme log their block of two: in one the third by relevance came second, so that one entered and
    one left; the other is as it was. That is 100 · 2 / 2 = 100 flips per 100.
    Its pass found four contradictions in 5 observations, 1 000 · 4 / 5 = 800 ‰; one is resolved, one snoozed until
    tomorrow and one until yesterday, which is new again beside the one nobody looked at: 2 new.
    """
    for name, ranks in (("block moved", sample.swapped(4, 1, 2)), ("block kept", sample.unchanged(4))):
        retrieval = sample.add_retrieval(owner, "org_a", ranks, name=name)
        owner.execute("update retrieval_ab_logs set injected = weighted_rank < 2 where retrieval_id = %s", (retrieval,))
    plant_pass(owner, "org_a", 4)
    for number, (state, days) in enumerate((("resolved", None), ("snoozed", 1), ("snoozed", -1))):
        owner.execute(
            """insert into rankscope.drift_triage (org_id, fingerprint, state, verdict, note, snoozed_until, version,
                 changed_by) values ('org_a', %s, %s, %s, '', %s, 1, 'ann')""",
            (
                f"f{number}", state, "newer" if state == "resolved" else None,
                days and datetime.now(UTC) + timedelta(days=days),
            ),
        )  # fmt: skip
    plant_pass(owner, "org_b", 0)
    for org, flag, days in (("org_a", "corroboration_boost_enabled", 120), ("org_b", "feedback_weighting_disabled", 3)):
        owner.execute(
            """insert into rankscope.flag_changes (org_id, request_id, flag, old_state, new_state, reason, actor,
                 source, changed_at) values (%s, gen_random_uuid(), %s, 'absent', 'true', 'a trial', 'ann', 'page',
                 %s)""",
            (org, flag, datetime.now(UTC) - timedelta(days=days, hours=1)),
        )
    with application(address) as test:
        table = matrix(test.run())
    assert not test.exception
    assert list(table["flips"]) == ["100 ›", "— ›", "— ›"]
    assert list(table["alerts"]) == ["2 new · 800 ‰ ›", "0 new ›", "— ›"]
    assert list(table["override"]) == ["stale, 120 d ›", "3 d ›", "— ›"]
    # seven retrievals of which one has a hole
    assert list(table["coverage"]) == ["85.7 % ›", "100 % ›", "— ›"]


def plant_pass(owner: Owner, org: str, contradictions: int) -> None:
    """A finished pass that found so many contradictions, after an older one that found nine."""
    for found in (9, contradictions):
        (run,) = owner.execute(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, contradictions,
                 finished_at) values (%s, 'api', 'done', 'v', %s, now()) returning id""",
            (org, found),
        ).fetchone()  # type: ignore[misc]
        for place in range(found):
            owner.execute(
                """insert into rankscope.contradictions (org_id, run_id, place, fingerprint, older, newer, kind, rule,
                     overlap, severity, parts, evidence)
                   values (%s, %s, %s, %s, gen_random_uuid(), gen_random_uuid(), 'value', 'r', 0.5, 1, '{}', '{}')""",
                (org, run, place, f"f{place}"),
            )

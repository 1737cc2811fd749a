"""Who is in trouble, as Overview says it: accepted sessions of each organization against the window before."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from streamlit.proto.Metric_pb2 import Metric

from tests import sample
from tests.health_store import NOW
from tests.pages.application import application
from tests.pages.health_page import health, table
from tests.pages.overview_page import matrix
from tests.pages.test_health_fleet import add_sessions

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

GREY, RED, GREEN = Metric.MetricColor.GRAY, Metric.MetricColor.RED, Metric.MetricColor.GREEN


def figure(test: AppTest, label: str) -> tuple[str, str, int]:
    """Value, change without its arrow, and colour of what stands beside it."""
    found = next(metric for metric in test.metric if metric.label == label)
    return found.value, found.delta.lstrip("▲▼ "), found.proto.color


def plant(owner: Owner, org: str, before: tuple[int, int], now: tuple[int, int]) -> None:
    """An organization with so many sessions accepted of so many in both windows."""
    sample.add_organization(owner, org, org.upper())
    add_sessions(owner, org, 40, *before)
    add_sessions(owner, org, 5, *now)


def test_worse_better_and_chance_look_as_they_do_on_health(address: str, owner: Owner) -> None:
    """Of 100 sessions 90 and then 50 were accepted, 50 and then 90, 60 and then 58."""
    plant(owner, "org_a", (90, 100), (50, 100))
    plant(owner, "org_b", (50, 100), (90, 100))
    plant(owner, "org_c", (60, 100), (58, 100))
    expected = {
        "org_a": ("50 %", "-40 pt worse", RED),
        "org_b": ("90 %", "+40 pt better", GREEN),
        "org_c": ("58 %", "≈ -2 pt, unclear", GREY),
    }
    for org, told in expected.items():
        with application(address, org=org) as test:
            assert figure(test.run(), "Accepted") == told
        with health(address, org=org) as test:
            assert figure(test, "Accepted") == told


def test_less_than_a_point_is_grey_and_has_no_word(address: str, owner: Owner) -> None:
    """Of 100 000 sessions 50.9 % and then 50 %: no chance, and not worth a sentence."""
    plant(owner, "org_a", (50_900, 100_000), (50_000, 100_000))
    with application(address, org="org_a") as test:
        assert figure(test.run(), "Accepted") == ("50 %", "-0.9 pt", GREY)


def test_what_has_no_direction_stays_grey(address: str, owner: Owner) -> None:
    """Feedback changed the top 5 in none of forty retrievals before, in all of forty since: neither is better."""
    sample.add_organization(owner, "org_a", "Acme")
    for number in range(40):
        sample.add_retrieval(owner, "org_a", sample.unchanged(8), name=f"before {number}", days_ago=40)
        sample.add_retrieval(owner, "org_a", sample.swapped(8, 4, 5), name=f"now {number}")
    with application(address) as test:
        assert figure(test.run(), "Top 5 changed") == ("100 %", "+100 pt", GREY)


def test_the_matrix_names_who_got_worse(address: str, owner: Owner) -> None:
    """Ten stayed as they were; of one 45 of 60 sessions became 33, which among so many may be chance; of one 15."""
    for number in range(12):
        plant(owner, f"org_{number:02}", (45, 60), ({3: 33, 8: 15}.get(number, 45), 60))
    sample.add_organization(owner, "org_new", "New")
    add_sessions(owner, "org_new", 5, 3, 4)
    sample.add_organization(owner, "org_none", "None")
    with application(address) as test:
        shown = matrix(test.run())
    assert not test.exception
    assert list(shown.columns[:10]) == [
        "organization", "accepted", "alerts", "weighting", "boost", "coverage", "override", "flips", "overlap", "open",
    ]  # fmt: skip
    assert shown["accepted"].to_dict() == {
        **{f"org_{number:02}": "75 % = ›" for number in range(12)},
        "org_03": "55 % ≈ -20 pt ›",
        "org_08": "25 % ▼ -50 pt worse ›",
        "org_new": "75 % ›",
        "org_none": "— ›",
    }
    with application(address, org="org_03") as test:
        alone = matrix(test.run())
    assert alone["accepted"].to_dict() == {"org_03": "55 % ▼ -20 pt worse ›"}


def below(test: AppTest) -> str:
    """What stands below the matrix."""
    return next(each.value for each in test.caption if each.value.startswith("A click on a cell"))


def test_unclear_is_explained_where_it_is_shown_and_by_many_where_there_are_many(address: str, owner: Owner) -> None:
    """Of 100 sessions 60 and then 58 were accepted in one organization, none ever in the other."""
    plant(owner, "org_a", (60, 100), (58, 100))
    sample.add_organization(owner, "org_b")
    with application(address) as test:
        assert "≈ where it is unclear: among so many organizations it may be chance" in below(test.run())
    with application(address, org="org_a") as test:
        assert "≈ where it is unclear: too few sessions to tell it from chance. Drift" in below(test.run())
    with application(address, org="org_b") as test:
        assert "Accepted: against the window before. Drift" in below(test.run())


def serve(owner: Owner, org: str) -> None:
    """A block and a diagnosis of every session: measures of Health that Overview does not ask for."""
    for days_ago in (40, 5):
        owner.execute(
            """insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, token_budget,
                 tokens_used, candidates, observation_ids, created_at)
               select org_id, gen_random_uuid(), id, project_id, 500, 100, 4, '{}', %(at)s
                 from sessions where org_id = %(org)s and created_at = %(at)s""",
            {"org": org, "at": NOW - timedelta(days=days_ago)},
        )
    owner.execute(
        """insert into session_diagnostics (org_id, session_id, outcome, helpful_observation_ids,
             misleading_observation_ids, created_at)
           select org_id, id, outcome, '{}', '{}', created_at from sessions where org_id = %s""",
        (org,),
    )


def test_health_marks_whom_overview_marks_whatever_else_it_asks(address: str, owner: Owner) -> None:
    """Of one 45 of 60 sessions became 32, which holds among three organizations, not among their measures."""
    for org, accepted in (("org_a", 32), ("org_b", 45), ("org_c", 44)):
        plant(owner, org, (45, 60), (accepted, 60))
        serve(owner, org)
    with application(address) as test:
        cells = matrix(test.run())["accepted"]
    assert dict(cells[cells.str.contains("worse")]) == {"org_a": "53.3 % ▼ -22 pt worse ›"}
    with health(address) as test:
        worse = table(test, "organizations").set_index("id")["worse"]
        lines = [line.value for line in test.text if "▼" in line.value]
    assert dict(worse[worse.str.contains("accepted")]) == {"org_a": "Sessions accepted 75 % → 53.3 %"}
    assert [line.partition(" ·")[0] for line in lines] == ["ORG_A ▼ worse: sessions accepted 75 % → 53.3 %"]

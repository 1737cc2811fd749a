"""What the first sentence of Health says of sessions beside checks, and what picture and title say of the same."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from charts.look import DOWN, NEUTRAL
from queries.engine import Store
from queries.errors import StoreError
from queries.health.logged import LogIntegrity
from queries.health.served import AnySessions
from queries.scope import EVERYTHING, Scope
from tests import sample
from tests.health_store import NOW
from tests.pages.health_page import health, spec
from tests.pages.test_health_fleet import add_sessions

if TYPE_CHECKING:
    import psycopg
    import pytest
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]


def told(test: AppTest) -> str:
    return next(each.value for each in test.markdown if "30 days before" in each.value)


def collapse(owner: Owner, fallen: int, of: int) -> None:
    """So many of so many memories that lost their weight three days ago."""
    sample.add_organization(owner, "org_a")
    ids = sample.add_observations(owner, "org_a", of, days_ago=40)
    for id_ in ids[:fallen]:
        owner.execute("update observations set weight = 0.1 where id = %s", (id_,))
        owner.execute(
            """insert into observation_weight_history (org_id, observation_id, session_id, outcome, previous_weight,
                 new_weight, alpha, recorded_at) values ('org_a', %s, 's', 'rework', 1.0, 0.1, 0.15, %s)""",
            (id_, NOW - timedelta(days=3)),
        )


def test_sessions_come_first_also_where_they_are_too_few_to_tell(address: str, owner: Owner) -> None:
    """Collapsed weights rose to 2 %, in order up to 5 %; of twenty sessions twelve and then ten were accepted."""
    collapse(owner, 2, 100)
    add_sessions(owner, "org_a", 40, 12, 20)
    add_sessions(owner, "org_a", 5, 10, 20)
    with health(address, org="org_a") as test:
        assert told(test) == (
            ":orange[≈] Against the 30 days before: **sessions accepted** 60 % of 20 → 50 % of 20, too few to tell "
            "this from chance. :red[▼] Worse: **collapsed weights** 0 % → 2 % (still in order)."
        )


def test_what_left_its_band_is_not_called_in_order(address: str, owner: Owner) -> None:
    """From none to 8 %, which is to watch."""
    collapse(owner, 8, 100)
    with health(address, org="org_a") as test:
        assert told(test) == ":red[▼] Worse than in the 30 days before: **collapsed weights** 0 % → 8 %."


def test_sessions_that_are_worse_need_no_other_order(address: str, owner: Owner) -> None:
    collapse(owner, 2, 100)
    add_sessions(owner, "org_a", 40, 90, 100)
    add_sessions(owner, "org_a", 5, 50, 100)
    with health(address, org="org_a") as test:
        assert told(test) == (
            ":red[▼] Worse than in the 30 days before: **sessions accepted** 90 % → 50 %, "
            "**collapsed weights** 0 % → 2 % (still in order)."
        )


def test_a_tail_has_the_colour_that_the_figure_has(address: str, owner: Owner) -> None:
    """Half a point inside its band is grey on both."""
    collapse(owner, 1, 200)
    with health(address, org="org_a") as test:
        assert tails(test) == [NEUTRAL]


def test_a_tail_to_the_worse_is_vermilion(address: str, owner: Owner) -> None:
    collapse(owner, 4, 200)
    with health(address, org="org_a") as test:
        assert tails(test) == [DOWN]


def tails(test: AppTest) -> list[str]:
    return [each["line"]["color"] for each in spec(test)["data"] if each["mode"] == "lines+markers" and each["x"]]


def test_a_past_that_could_not_be_read_is_not_called_empty(address: str, owner: Owner) -> None:
    """Without sessions and memories nothing is known before, and of the log not even that."""
    sample.add_organization(owner, "org_a")
    owner.execute("alter table retrieval_ab_logs rename column weighted_rank to weighted_place")
    with health(address, org="org_a") as test:
        assert not test.exception
        said = [each.value for each in (*test.caption, *test.warning)]
        assert "Nothing else was stored or logged in the 30 days before, so no change can be told." in said
        assert len([each for each in said if each.startswith("Some of the 30 days before could not be read. ")]) == 1


def test_no_good_news_where_sessions_have_no_window_before(address: str, owner: Owner) -> None:
    """Memories are compared and stayed as they were; sessions are all of this window."""
    collapse(owner, 0, 100)
    add_sessions(owner, "org_a", 5, 10, 20)
    with health(address, org="org_a") as test:
        said = told(test)
    assert said.startswith(":gray[○] What can be compared with the 30 days before did not get noticeably worse.")
    assert "Not compared, because it is known of one of the two windows alone: how sessions ended" in said
    assert ":green" not in said


def test_what_got_worse_is_told_beside_what_has_no_window_before(address: str, owner: Owner) -> None:
    collapse(owner, 8, 100)
    add_sessions(owner, "org_a", 5, 10, 20)
    with health(address, org="org_a") as test:
        said = told(test)
    assert said.startswith(":red[▼] Worse than in the 30 days before: **collapsed weights** 0 % → 8 %.")
    assert "how sessions ended" in said


def test_a_longer_window_is_offered_where_the_one_before_it_has_sessions(address: str, owner: Owner) -> None:
    """90 days end today, and the 90 before them 90 days ago."""
    sample.add_organization(owner, "org_a")
    add_sessions(owner, "org_a", 5, 10, 20)
    add_sessions(owner, "org_a", 89, 10, 20)
    add_sessions(owner, "org_a", 40, 10, 20)
    offered = "Compare the last 90 days"
    with health(address, org="org_a") as test:
        assert offered not in [button.label for button in test.button]
    add_sessions(owner, "org_a", 90, 1, 1)
    with health(address, org="org_a") as test:
        assert offered in [button.label for button in test.button]


def test_a_longer_window_is_offered_by_what_it_leads_to_also_from_days_long_past(address: str, owner: Owner) -> None:
    """A month more than a year ago had sessions in the 90 days before its own; the last 90 days have nothing."""
    sample.add_organization(owner, "org_a")
    for ago in (410, 440, 520):
        add_sessions(owner, "org_a", ago, 10, 20)
    days = {name: f"{sample.TODAY - timedelta(days=ago):%Y-%m-%d}" for name, ago in (("from", 429), ("to", 400))}
    offered = "Compare the last 90 days"
    with health(address, org="org_a", window="custom", **days) as test:
        assert not test.exception
        assert offered not in [button.label for button in test.button]
    add_sessions(owner, "org_a", 100, 1, 1)
    with health(address, org="org_a", window="custom", **days) as test:
        assert offered in [button.label for button in test.button]


def test_what_a_log_without_times_cannot_say_is_not_called_too_little(address: str, owner: Owner) -> None:
    """Memories of forty days, retrieved in both windows: when they were is not known, however many there are."""
    collapse(owner, 0, 100)
    for ago in (5, 40):
        add_sessions(owner, "org_a", ago, 10, 20)
        sample.add_retrieval(owner, "org_a", sample.unchanged(4), name=f"r{ago}", days_ago=ago)
    owner.execute("alter table retrieval_ab_logs drop column created_at cascade")
    with health(address, org="org_a") as test:
        assert not test.exception
        said = told(test)
    assert "Not compared, because it is known of one of the two windows alone: never retrieved, stale." in said


def fail(monkeypatch: pytest.MonkeyPatch, kind: type[AnySessions | LogIntegrity], scope: Scope | None = None) -> None:
    """Let one kind of question be slow, of one window alone where it is named."""
    ask_all = Store.ask_all

    def asked(store: Store, *questions: Any) -> Any:  # noqa: ANN401 - as it is
        if any(isinstance(each, kind) and scope in (None, each.scope) for each in questions):
            raise StoreError("slow", "It took too long.")
        return ask_all(store, *questions)

    monkeypatch.setattr(Store, "ask_all", asked)


def test_a_part_of_the_past_that_could_not_be_read_is_told_beside_what_is_compared(
    address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.add_organization(owner, "org_a")
    for ago in (5, 40):
        add_sessions(owner, "org_a", ago, 10, 20)
        sample.add_retrieval(owner, "org_a", sample.unchanged(4), name=f"r{ago}", days_ago=ago)
    today = sample.TODAY.date()
    fail(monkeypatch, LogIntegrity, Scope.of_days(EVERYTHING, today - timedelta(days=29), today, "org_a").before())
    with health(address, org="org_a") as test:
        assert not test.exception
        said = told(test)
        warned = [each.value for each in (*test.caption, *test.warning)]
    assert "the log" in said
    assert len([each for each in warned if each.startswith("Some of the 30 days before could not be read. ")]) == 1


def test_what_a_longer_window_holds_is_no_part_of_the_one_before(
    address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.add_organization(owner, "org_a")
    fail(monkeypatch, AnySessions)
    with health(address, org="org_a") as test:
        assert not test.exception
        said = [each.value for each in (*test.caption, *test.warning)]
    assert "Nothing was stored or logged in the 30 days before, so no change can be told." in said

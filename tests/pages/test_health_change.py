"""What got worse since the window before, as Health says it, against an answer formed with pandas from whole tables."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from analysis.health.change import PRESENT_ONLY
from queries.health.served import Misled
from tests import sample
from tests.health_store import NOW, frames, inside, plant, plant_history
from tests.pages.health_page import SCOPE, alerts, health, spec, table

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

DAY = timedelta(days=1)


def said(test: AppTest) -> str:
    return " ".join(each.value for each in (*test.markdown, *test.caption))


def add_sessions(owner: Owner, days_ago: int, accepted: int, others: int) -> None:
    """So many sessions of one day by how they ended, each with a block of 100 tokens."""
    for number in range(accepted + others):
        sample.add_session(
            owner,
            "org_a",
            f"{days_ago}/{number}",
            "accepted" if number < accepted else "rework",
            days_ago=days_ago,
        )
        owner.execute(
            """insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, token_budget,
                 tokens_used, candidates, observation_ids, created_at)
               values ('org_a', gen_random_uuid(), %s, 'api', 500, 100, 5, array[gen_random_uuid()], %s)""",
            (f"{days_ago}/{number}", NOW - days_ago * DAY),
        )


class TestAgainstPandas:
    def test_what_happened_before_equals_the_slow_answer(self, address: str, owner: Owner) -> None:
        plant(owner, 7)
        plant_history(owner, 7)
        before = SCOPE.before()
        tables = frames(owner, SCOPE)
        ended = inside(tables["sessions"], before).dropna(subset="outcome")["outcome"]
        given = inside(tables["context_injection_logs"], before)
        diagnosed = inside(tables["session_diagnostics"], before)["misleading_observation_ids"]
        log = inside(tables["retrieval_ab_logs"], before)
        whole = log.groupby("retrieval_id").agg(
            size=("id", "size"), best=("unweighted_rank", "max"), least=("weighted_rank", "max")
        )
        stored = tables["observations"]
        stored = stored[(stored["status"] == "active") & (stored["created_at"] < SCOPE.since)]
        texts = stored[["project_id", "agent_id", "content_hash"]].astype(str).drop_duplicates()
        lost = ~given[given["candidates"] > 0]["retrieval_id"].isin(tables["retrieval_ab_logs"]["retrieval_id"])
        expected = {
            "Sessions accepted": float((ended == "accepted").mean()),
            "Sessions misled": float(diagnosed.map(bool).mean()),
            "Empty blocks": float((given["observation_ids"].map(len) == 0).mean()),
            "Tokens per block": float(given["tokens_used"].mean()),
            "Exact duplicates": (len(stored) - len(texts)) / len(stored),
            "Log coverage": float(
                ((whole["best"] == whole["size"] - 1) & (whole["least"] == whole["size"] - 1)).mean()
            ),
            "Lost retrievals": float(lost.mean()),
        }
        with health(address, org="org_a", digits="all") as test:
            assert not test.exception
            found = table(test, "checks").set_index("check")
        for label, value in expected.items():
            assert float(found.loc[label, "exact_before"]) == pytest.approx(value), label

    def test_what_has_no_past_says_so_and_is_no_zero(self, address: str, owner: Owner) -> None:
        plant(owner, 7, size=30)
        with health(address, org="org_a") as test:
            found = table(test, "checks").set_index("check")
        present = found[found["change"] == "present state only"]
        assert len(present) == len(PRESENT_ONLY)
        assert set(present["before"]) == {"—"}


class TestSentence:
    def test_what_got_worse_is_named_with_both_values_and_a_way_to_it(self, address: str, owner: Owner) -> None:
        """Nine of ten sessions were accepted in the thirty days before, five of ten since."""
        sample.add_organization(owner, "org_a")
        add_sessions(owner, 40, 90, 10)
        add_sessions(owner, 5, 50, 50)
        with health(address, org="org_a") as test:
            assert not test.exception
            assert "Worse than in the 30 days before: **sessions accepted** 90 % → 50 %." in said(test)
            row = table(test, "checks").set_index("check").loc["Sessions accepted"]
            figure = next(metric for metric in test.metric if metric.label == "Accepted")
            links = [button.label for button in test.button]
        assert row[["value", "before", "change", "counts"]].tolist() == ["50 %", "90 %", "▼ -40 pt worse", "50 of 100"]
        assert (figure.value, figure.delta) == ("50 %", "▼ -40 pt worse")
        assert "How sessions ended" in links

    def test_few_sessions_are_said_to_be_too_few_and_the_ways_stay(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        add_sessions(owner, 40, 12, 8)
        add_sessions(owner, 5, 10, 10)
        with health(address, org="org_a") as test:
            told = said(test)
            row = table(test, "checks").set_index("check").loc["Sessions accepted"]
            labels = [button.label for button in test.button]
        assert ":orange[≈] Nothing is certain to have got worse than in the 30 days before." in told
        assert "Sessions accepted 60 % of 20 → 50 % of 20: too few to tell this from chance." in told
        assert row["change"] == "≈ -10 pt, unclear"
        assert "How sessions ended" in labels

    def test_sessions_that_may_have_been_misled_stand_beside_those_accepted(self, address: str, owner: Owner) -> None:
        """Two of twenty sessions named a misleading observation before, five of twenty since."""
        sample.add_organization(owner, "org_a")
        for days_ago, accepted, misled in ((40, 12, 2), (5, 10, 5)):
            add_sessions(owner, days_ago, accepted, 20 - accepted)
            for number in range(20):
                owner.execute(
                    """insert into session_diagnostics (org_id, session_id, helpful_observation_ids,
                         misleading_observation_ids, created_at) values ('org_a', %s, '{}', %s, %s)""",
                    (f"{days_ago}/{number}", [uuid4()] if number < misled else [], NOW - days_ago * DAY),
                )
        with health(address, org="org_a") as test:
            told = said(test)
            labels = [button.label for button in test.button]
        passages = "Sessions accepted 60 % of 20 → 50 % of 20, sessions misled 10 % of 20 → 25 % of 20"
        assert f"{passages}: too few to tell this from chance." in told
        assert {"How sessions ended", "What misled them"} <= set(labels)

    def test_less_than_a_point_is_chance_and_nothing_to_look_at(self, address: str, owner: Owner) -> None:
        """50.25 % of 398 are 200; 49.75 % of 402 are 200."""
        sample.add_organization(owner, "org_a")
        add_sessions(owner, 40, 200, 198)
        add_sessions(owner, 5, 200, 202)
        with health(address, org="org_a") as test:
            told = said(test)
        assert ":green[●] Nothing got noticeably worse than in the 30 days before." in told
        assert "Sessions accepted 50.3 % → 49.8 %, which may be chance." in told

    def test_what_the_sentence_would_not_call_worse_no_figure_does(self, address: str, owner: Owner) -> None:
        """One of 200 memories lost its weight since: half a point, inside its band."""
        sample.add_organization(owner, "org_a")
        (first, *_) = sample.add_observations(owner, "org_a", 200, days_ago=40)
        owner.execute("update observations set weight = 0.1 where id = %s", (first,))
        owner.execute(
            """insert into observation_weight_history (org_id, observation_id, session_id, outcome, previous_weight,
                 new_weight, alpha, recorded_at) values ('org_a', %s, 's', 'rework', 0.9, 0.1, 0.15, %s)""",
            (first, NOW - 3 * DAY),
        )
        with health(address, org="org_a") as test:
            assert "Nothing got noticeably worse" in said(test)
            figure = next(metric for metric in test.metric if metric.label == "Collapsed weights")
            row = table(test, "checks").set_index("check").loc["Collapsed weights"]
        assert (figure.value, figure.delta, row["change"]) == ("0.5 %", "▲ +0.5 pt", "▲ +0.5 pt")

    def test_better_is_said_too(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        add_sessions(owner, 40, 20, 80)
        add_sessions(owner, 5, 80, 20)
        with health(address, org="org_a") as test:
            assert "Better: sessions accepted 20 % → 80 %." in said(test)
            assert table(test, "checks").set_index("check").loc["Sessions accepted", "change"] == "▲ +60 pt better"

    def test_without_a_past_nothing_is_compared(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        add_sessions(owner, 5, 10, 10)
        with health(address, org="org_a") as test:
            assert "Nothing was stored or logged in the 30 days before, so no change can be told." in said(test)
            changes = set(table(test, "checks")["change"])
        assert changes == {"nothing to compare", "—"}

    def test_a_past_that_was_not_asked_for_is_no_empty_one(
        self, address: str, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A question about now that takes too long leaves no time for those about then."""
        sample.add_organization(owner, "org_a")
        add_sessions(owner, 40, 20, 80)
        owner.execute(
            """create policy slow on session_diagnostics as restrictive for select to dash_read
               using (pg_sleep(0.2) is not null)"""
        )
        owner.execute("insert into session_diagnostics (org_id, session_id) select org_id, id from sessions limit 20")
        monkeypatch.setattr(Misled, "limit", 0.3)
        with health(address, org="org_a") as test:
            assert not test.exception
            assert "Nothing was stored or logged" not in said(test)
            assert any(told.startswith("The 30 days before could not be read. ") for told in alerts(test))


def test_an_organization_that_got_worse_is_named_in_the_fleet(address: str, owner: Owner) -> None:
    sample.add_organization(owner, "org_a", "Alder")
    add_sessions(owner, 40, 90, 10)
    add_sessions(owner, 5, 50, 50)
    sample.add_organization(owner, "org_b", "Birch")
    sample.add_observations(owner, "org_b", 3)
    with health(address) as test:
        rows = table(test, "organizations").set_index("id")
    assert rows.loc["org_a", "worse"] == "Sessions accepted 90 % → 50 %"
    assert rows.loc["org_b", "worse"] == "—"


def test_the_picture_has_a_tail_where_a_check_moved(address: str, owner: Owner) -> None:
    """Two of ten memories stood at 0.1 when the window began, six do now."""
    sample.add_organization(owner, "org_a")
    ids = sample.add_observations(owner, "org_a", 10, days_ago=40)
    for number, id_ in enumerate(ids[:6]):
        owner.execute("update observations set weight = 0.1 where id = %s", (id_,))
        then = 0.1 if number < 2 else 0.9
        for days, previous, new in ((35, 1.0, then), (3, then, 0.1)):
            owner.execute(
                """insert into observation_weight_history (org_id, observation_id, session_id, outcome, previous_weight,
                     new_weight, alpha, recorded_at) values ('org_a', %s, 's', 'rework', %s, %s, 0.15, %s)""",
                (id_, previous, new, NOW - days * DAY),
            )
    with health(address, org="org_a") as test:
        tails = [trace for trace in spec(test)["data"] if trace["mode"] == "lines+markers" and trace["x"]]
        row = table(test, "checks").set_index("check").loc["Collapsed weights"]
    assert row[["value", "before", "change"]].tolist() == ["60 %", "20 %", "▲ +40 pt worse"]
    (tail,) = tails
    assert tail["y"][:2] == ["Collapsed weights"] * 2
    # both lie in the red band, which runs from 15 to 100 %
    assert tail["x"][:2] == pytest.approx([2 + (0.2 - 0.15) / 0.85, 2 + (0.6 - 0.15) / 0.85])


class TestNotKept:
    """What nobody kept of the past makes no change: neither to the worse nor to the better."""

    def row(self, address: str, check: str) -> list[str]:
        with health(address, org="org_a") as test:
            assert not test.exception
            assert "Worse than" not in said(test)
            return list(table(test, "checks").set_index("check").loc[check, ["value", "before", "change"]])

    @pytest.mark.parametrize("pruned", [False, True], ids=["empty", "pruned"])
    def test_weights_without_a_history_do_not_fall_from_nothing(
        self, address: str, owner: Owner, *, pruned: bool
    ) -> None:
        """Twelve of a hundred fell to 0.1 long ago; of one of them a later change is kept."""
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 100, days_ago=80)
        owner.execute("update observations set weight = 0.1 where id = any(%s)", (ids[:12],))
        if pruned:
            owner.execute(
                """insert into observation_weight_history (org_id, observation_id, session_id, outcome, previous_weight,
                     new_weight, alpha, recorded_at) values ('org_a', %s, 's', 'rework', 0.12, 0.1, 0.15, %s)""",
                (ids[0], NOW - 3 * DAY),
            )
        assert self.row(address, "Collapsed weights") == ["12 %", "—", "nothing to compare"]

    def test_a_few_count_as_they_stand_now(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 100, days_ago=80)
        owner.execute("update observations set weight = 0.1 where id = any(%s)", (ids[:4],))
        assert self.row(address, "Collapsed weights") == ["4 %", "4 %", "= no change"]

    @pytest.mark.parametrize(
        ("read", "expected"), [(40, ["60 %", "—", "nothing to compare"]), (4, ["96 %", "96 %", "= no change"])]
    )
    def test_what_was_read_since_by_a_shorter_log(
        self, address: str, owner: Owner, read: int, expected: list[str]
    ) -> None:
        """A hundred memories of which some were read two days ago; the log begins ten days ago."""
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 100, days_ago=80)
        owner.execute("update observations set last_accessed_at = %s where id = any(%s)", (NOW - 2 * DAY, ids[:read]))
        sample.add_retrieval(owner, "org_a", sample.unchanged(1), name="first", days_ago=10, observations=ids[:1])
        assert self.row(address, "Never retrieved") == expected


@pytest.mark.parametrize("table_name", ["observation_weight_history", "session_diagnostics", "context_injection_logs"])
def test_a_table_that_is_lacking_costs_its_own_comparison(address: str, owner: Owner, table_name: str) -> None:
    sample.add_organization(owner, "org_a")
    add_sessions(owner, 40, 90, 10)
    add_sessions(owner, 5, 50, 50)
    owner.execute(f"drop table {table_name}")
    with health(address, org="org_a") as test:
        assert not test.exception
        assert "**sessions accepted** 90 % → 50 %" in said(test)

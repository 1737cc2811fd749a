"""Health's coverage: the share of what was stored that reached an agent, by whom and when."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from queries.health.coverage import steps
from tests import sample
from tests.health_store import NOW, plant
from tests.pages.health_page import SCOPE, alerts, health, numbers, spec

if TYPE_CHECKING:
    from uuid import UUID

    import psycopg

    Owner = psycopg.Connection[Any]


def inject(owner: Owner, ids: list[UUID], *, days_ago: int) -> None:
    """One retrieval that gave an agent all of these."""
    sample.add_retrieval(owner, "org_a", sample.unchanged(len(ids)), name="one", observations=ids, days_ago=days_ago)
    owner.execute("update retrieval_ab_logs set injected = true")


class TestParts:
    def test_coverage_is_injected_over_stored(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 8, days_ago=40)
        retrieval = sample.add_retrieval(owner, "org_a", sample.unchanged(4), name="one", observations=ids[:4])
        owner.execute("update retrieval_ab_logs set injected = weighted_rank < 2 where retrieval_id = %s", (retrieval,))
        with health(address, org="org_a", part="coverage") as test:
            assert not test.exception
            drawn = spec(test)
        begins = (SCOPE.since, SCOPE.since + timedelta(days=28))
        # four weeks and two days: yesterday lies in the last column, which is not over
        assert [f"{begins[1]:%-d %b} to {NOW:%-d %b} so far"] == drawn["layout"]["xaxis"]["ticktext"][-1:]
        assert drawn["layout"]["title"]["text"].endswith(": 0 % of what was stored reached an agent")
        assert drawn["data"][1]["text"] == ["0"] * 4 + ["25"]  # one row: nothing, then two of eight
        assert len(drawn["layout"]["xaxis"]["ticktext"]) == len(steps(SCOPE))
        assert drawn["layout"]["yaxis"]["ticktext"] == ["api"]

    def test_coverage_by_agent_names_who_wrote_it(self, address: str, owner: Owner) -> None:
        """Ann wrote six of which three were injected, Bob two of which none, and nobody one that was."""
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 9, days_ago=40)
        for number, id_ in enumerate(ids):
            agent = "ann" if number < 6 else "bob" if number < 8 else None
            owner.execute("update observations set agent_id = %s where id = %s", (agent, id_))
        inject(owner, [*ids[:3], ids[8]], days_ago=3)
        with health(address, org="org_a", part="coverage", by="agent") as test:
            assert not test.exception
            drawn = spec(test)
            said = " ".join(caption.value for caption in test.caption)
        assert drawn["layout"]["yaxis"]["ticktext"] == ["ann", "bob", "(no agent)"]
        told = len(steps(SCOPE)) - 2  # the last that is over: three days ago lies in it
        figures = {
            y: text
            for trace in drawn["data"][1:]
            for x, y, text in zip(numbers(trace["x"]), numbers(trace["y"]), trace["text"], strict=True)
            if x == told
        }
        assert figures == {0: "50", 1: "0", 2: "100"}
        begin, end = steps(SCOPE)[told]
        assert f"1 row of 3 without any in {begin:%-d %b} to {end - timedelta(days=1):%-d %b}." in said
        assert "largest of" not in said

    def test_coverage_of_more_than_thirty_projects_says_so_and_counts_all(self, address: str, owner: Owner) -> None:
        """Two observations in each of 30 projects, none injected; five more with one each, all injected: 5 of 65."""
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 65)
        for number, id_ in enumerate(ids):
            project = f"p{number // 2:02}" if number < 60 else f"q{number}"
            owner.execute("update observations set project_id = %s where id = %s", (project, id_))
        inject(owner, ids[-5:], days_ago=1)
        with health(address, org="org_a", part="coverage", window="7d") as test:
            assert not test.exception
            drawn = spec(test)
            said = [caption.value for caption in test.caption]
        assert len(drawn["layout"]["yaxis"]["ticktext"]) == 30
        heat = next(trace for trace in drawn["data"] if trace["type"] == "heatmap")
        assert [row[-2][2:] for row in heat["customdata"]] == [[0, 2]] * 30
        assert drawn["layout"]["title"]["text"].endswith(": 7.69 % of what was stored reached an agent")
        assert "The 30 largest of 35 rows; the title counts all of them." in said

    def test_coverage_tells_the_last_day_that_is_over(self, address: str, owner: Owner) -> None:
        """Two of four reached an agent yesterday and none yet today: today is no zero to speak of."""
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 4, days_ago=40)
        inject(owner, ids[:2], days_ago=1)
        with health(address, org="org_a", part="coverage", window="7d") as test:
            drawn = spec(test)["layout"]
            said = " ".join(caption.value for caption in test.caption)
        yesterday, today = f"{NOW - timedelta(days=1):%-d %b}", f"{NOW:%-d %b}"
        assert drawn["title"]["text"] == f"{yesterday}: 50 % of what was stored reached an agent"
        assert drawn["xaxis"]["ticktext"][-2:] == [yesterday, f"{today} so far"]
        assert "without any" not in said
        with health(address, org="org_a", part="coverage", window="custom", **{"from": f"{NOW:%F}"}) as test:
            assert spec(test)["layout"]["title"]["text"].startswith(f"{today} so far: 0 % of")

    def test_a_window_that_is_over_has_no_column_so_far(self, address: str, owner: Owner) -> None:
        """Sixteen days that ended a week ago: two weeks and two days, of which the last two are as over as the rest."""
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 4, days_ago=40)
        inject(owner, ids[:1], days_ago=7)
        first, last = NOW - timedelta(days=22), NOW - timedelta(days=7)
        span = {"from": f"{first:%F}", "to": f"{last:%F}"}
        with health(address, org="org_a", part="coverage", window="custom", **span) as test:
            drawn = spec(test)["layout"]
        label = f"{last - timedelta(days=1):%-d %b} to {last:%-d %b}"
        assert drawn["xaxis"]["ticktext"][-1] == label
        assert drawn["title"]["text"] == f"{label}: 25 % of what was stored reached an agent"

    def test_coverage_needs_a_log_of_injections(self, address: str, owner: Owner) -> None:
        plant(owner, 9, size=12)
        owner.execute("alter table retrieval_ab_logs drop column injected")
        with health(address, org="org_a", part="coverage") as test:
            assert any("does not log which observations were injected" in alert for alert in alerts(test))

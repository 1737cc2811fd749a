"""Health's figures, as they stand on the page, against planted facts and an answer formed with pandas."""

from __future__ import annotations

import base64
import json
import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from analysis.health.checks import CHECKS
from controls.access import Principal
from controls.health import system
from queries.health.coverage import steps
from queries.scope import EVERYTHING, Scope
from ranking.feedback import update_weight
from settings import VERSION
from tests import sample
from tests.health_store import NOW, frames, inside, obs, plant
from tests.hostile import TEXTS
from tests.pages.application import application
from tests.queries.health.test_passes import add_passes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

# the column that no other table of the page has
OWN_COLUMN = {
    "checks": "limits", "organizations": "act", "top": "content", "budget": "work", "passes": "finished",
    "writers": "written", "findings": "sentence", "server_checks": "bands",
}  # fmt: skip
SCOPE = Scope.of_days(EVERYTHING, NOW.date() - timedelta(days=29), NOW.date(), "org_a")


@pytest.fixture
def address(cluster: Cluster, store_database: str) -> str:
    return cluster.plain_url("dash_read", store_database)


@contextmanager
def health(address: str, **said: str) -> Iterator[AppTest]:
    with application(address, **said) as test:
        test.run()
        test.switch_page("health.py")
        for name, value in said.items():
            test.query_params[name] = value
        yield test.run()


def alerts(test: AppTest) -> list[str]:
    return [alert.value for kind in (test.error, test.warning, test.info) for alert in kind]


def table(test: AppTest, key: str) -> Any:  # noqa: ANN401 - a frame
    return next(each.value for each in test.dataframe if OWN_COLUMN[key] in each.value.columns)


def spec(test: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(test.get("plotly_chart")[0].proto.spec)
    return found


def numbers(sent: Any) -> list[float]:  # noqa: ANN401 - plotly sends numbers as a list or packed
    return sent if isinstance(sent, list) else np.frombuffer(base64.b64decode(sent["bdata"]), sent["dtype"]).tolist()


class TestDrawn:
    """Of very many observations and injections, all organizations' checks are estimates; of one they are counted."""

    MANY = """update pg_class set reltuples = 201000
               where oid in ('observations'::regclass, 'context_injection_logs'::regclass)"""

    def test_they_carry_a_sign_and_the_strip_says_how_good_they_are(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        owner.execute(
            """insert into observations (org_id, content, content_hash, weight, created_at)
               select 'org_a', repeat('x', 400), n % 7000, case when n % 5 = 0 then 0.1 else 1 end,
                      now() - interval '40 days'
                 from generate_series(1, 8000) as n"""
        )
        owner.execute("analyze observations")  # or the planner looks for equals among all of an organization
        owner.execute(self.MANY)
        with health(address) as test:
            assert not test.exception
            strip = next(line.value for line in test.markdown if "as of" in line.value)
            assert "≈ what is stored: drawn from 14.9 % of the observations, good to ±" in strip
            points = float(strip.partition("good to ±")[2].split()[0])
            checks = table(test, "checks").set_index("check")
            for label, exact in (("Collapsed weights", 20), ("Exact duplicates", 12.5), ("Never retrieved", 100)):
                value = checks.loc[label, "value"]
                assert value.startswith("≈ ")
                assert float(value.strip("≈ %")) == pytest.approx(exact, abs=points)
                assert checks.loc[label, "counts"].startswith("≈ ")
            assert {metric.label: metric.value for metric in test.metric}["Collapsed"].endswith("%")
        with health(address, org="org_a") as test:
            assert "drawn from" not in " ".join(line.value for line in test.markdown)
            assert table(test, "checks").set_index("check").loc["Collapsed weights", "value"] == "20 %"


class TestMemory:
    def test_every_check_equals_the_slow_answer(self, address: str, owner: Owner) -> None:
        plant(owner, 7)
        tables = frames(owner, SCOPE)
        stored = tables["observations"]
        stored = stored[stored["status"] == "active"]
        log = inside(tables["retrieval_ab_logs"], SCOPE)
        texts = stored[["project_id", "agent_id", "content_hash"]].astype(str).drop_duplicates()
        given = inside(tables["context_injection_logs"], SCOPE)
        given = given[given["candidates"] > 0]
        whole = log.groupby("retrieval_id").agg(
            size=("id", "size"), best=("unweighted_rank", "max"), least=("weighted_rank", "max")
        )
        expected = {
            "Exact duplicates": (len(stored) - len(texts)) / len(stored),
            # of two standing passes: 12 members in 3 clusters each, of 60 observations each
            "Near-duplicates": (24 - 6) / 120,
            "Log coverage": float(
                ((whole["best"] == whole["size"] - 1) & (whole["least"] == whole["size"] - 1)).mean()
            ),
            "Lost retrievals": float((~given["retrieval_id"].isin(tables["retrieval_ab_logs"]["retrieval_id"])).mean()),
            "Log-queue drops": 10 / 100,
            "Collapsed weights": float((stored["weight"] < 0.2).sum() / stored["weight"].between(-9, 9).sum()),
        }
        with health(address, org="org_a", digits="all") as test:
            assert not test.exception
            found = table(test, "checks").set_index("check")
            said = " ".join(line.value for line in test.markdown)
            test.toggle("health_digits").set_value(False).run()
            assert "exact" not in table(test, "checks").columns
        for label, value in expected.items():
            assert float(found.loc[label, "exact"]) == pytest.approx(value), label
        assert len(found) == 16
        # HOS-5: what a share leaves out, and what is wrong with a log, say how many
        unusable = int((~stored["weight"].between(-9, 9)).sum())
        moved = log.assign(by=log["unweighted_rank"] - log["weighted_rank"]).groupby("retrieval_id")["by"].sum()
        assert found.loc["Collapsed weights", "counts"].endswith(f", {unusable} no number")
        assert found.loc["Permutation integrity", "counts"].endswith(f", {int((moved != 0).sum())} unbalanced")
        assert unusable > 1
        assert (moved != 0).sum() > 1
        assert found.loc["Log-queue drops", ["value", "band", "counts"]].tolist() == ["10 %", "✕ act", "10 of 100"]
        # what belongs to no project had a pass that failed: its oldest observation waits
        waits = datetime.now(UTC) - stored[stored["project_id"].isna()]["created_at"].min()
        assert float(found.loc["Aggregation age", "exact"]) == pytest.approx(waits.total_seconds() / 3600, abs=0.1)
        assert all(f"**{check.label}**: {check.formula}. {check.todo}" in said for check in CHECKS)

    def test_the_picture_says_what_needs_a_hand_and_holds_every_check(self, address: str, owner: Owner) -> None:
        plant(owner, 7)
        with health(address, org="org_a") as test:
            drawn = spec(test)
            acts = [label for label, band in table(test, "checks")[["check", "band"]].to_numpy() if band == "✕ act"]
        title = drawn["layout"]["title"]["text"]
        assert all(label.lower() in title for label in acts)
        marks = [label for trace in drawn["data"] if "text" in trace["mode"] for label in trace["y"]]
        assert sorted(marks) == sorted(check.label for check in CHECKS)

    def test_each_organization_has_a_row_and_the_worst_comes_first(self, address: str, owner: Owner) -> None:
        plant(owner, 7, size=30)
        sample.add_organization(owner, "org_c", "Cedar")
        sample.add_observations(owner, "org_c", 3)
        with health(address) as test:
            rows = table(test, "organizations")
        assert set(rows["id"]) == {"org_a", "org_b", "org_c"}
        counts = [0 if text == "—" else text.count(",") + 1 for text in rows["act"]]
        assert counts == sorted(counts, reverse=True)

    def test_the_head_names_five(self, address: str, owner: Owner) -> None:
        plant(owner, 7, size=30)
        with health(address, org="org_a") as test:
            figures = {metric.label: (metric.value, metric.delta) for metric in test.metric}
        assert list(figures) == ["Accepted", "Never retrieved", "Collapsed", "Log coverage", "Aggregation age"]
        stored = frames(owner, SCOPE)["observations"]
        waits = stored[(stored["status"] == "active") & stored["project_id"].isna()]["created_at"].min()
        days = (datetime.now(UTC) - waits).total_seconds() / 86400
        assert figures["Aggregation age"] == (f"✕ {days:.0f} days", "present state only")

    def test_an_empty_organization_is_unknown_and_never_good(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        with health(address, org="org_a") as test:
            assert not test.exception
            assert {metric.value for metric in test.metric} == {"—"}
            assert set(table(test, "checks")["band"]) == {"cannot be known", "no band"}
            assert not [caption for caption in test.caption if "Unbalanced" in caption.value]
            assert spec(test)["layout"]["title"]["text"] == "Nothing can be said about this memory yet"


class TestLacking:
    """REC-12: what a store lacks costs its own figure."""

    @pytest.mark.parametrize(
        ("damage", "unknown", "known"),
        [
            ("drop table observation_embeddings", "Without a vector", "Exact duplicates"),
            ("alter table observations drop column content_hash", "Exact duplicates", "Without a vector"),
            ("alter table observations drop column last_accessed_at", "Never retrieved", "Log coverage"),
            ("drop table context_injection_logs", "Lost retrievals", "Log coverage"),
            ("drop table rankscope.log_writers", "Log-queue drops", "Aggregation age"),
            ("drop schema rankscope cascade; create schema rankscope", "Near-duplicates", "Stale"),
            ("alter table retrieval_ab_logs drop column weighted_rank", "Log coverage", "Exact duplicates"),
        ],
        ids=["vectors", "hashes", "access", "injections", "writers", "schema", "ranks"],
    )
    def test_the_other_figures_stand(self, address: str, owner: Owner, damage: str, unknown: str, known: str) -> None:
        plant(owner, 8, size=30)
        owner.execute(damage)
        with health(address, org="org_a") as test:
            assert not test.exception
            bands = table(test, "checks").set_index("check")["band"]
            assert any("could not be read" in alert for alert in alerts(test))
            strip = next(line.value for line in test.markdown if "as of" in line.value)
        assert bands[unknown] == "cannot be known"
        assert bands[known] != "cannot be known"
        assert "could not be answered" in strip
        assert ("log rows and retrievals unknown" in strip) == (unknown == "Log coverage")
        assert "0 log rows" not in strip

    @pytest.mark.parametrize("part", ["top", "budget", "coverage", "runs", "system"])
    def test_a_part_says_what_is_missing(self, address: str, owner: Owner, part: str) -> None:
        plant(owner, 8, size=12)
        owner.execute("drop table context_injection_logs")
        owner.execute("drop schema rankscope cascade")
        owner.execute("drop table observation_embeddings")
        with health(address, org="org_a", part=part, kind="outdated") as test:
            assert not test.exception
            if part in ("top", "budget"):
                assert any("lacks" in alert or "missing" in alert for alert in alerts(test))
            if part == "coverage":  # which needs none of these
                assert spec(test)["layout"]["yaxis"]["ticktext"]
            if part == "system":
                missing = table(test, "findings").set_index("name")["state"]
                assert missing["table context_injection_logs"] != "● ok"
                assert len(table(test, "server_checks"))
            if part == "runs":
                assert sum("could not be read" in alert for alert in alerts(test)) == 2


class TestParts:
    def test_what_cannot_be_is_named_and_the_default_shown(self, address: str, owner: Owner) -> None:
        plant(owner, 9)
        with health(address, org="org_a", part="no", kind="none", by="nobody", ended="well") as test:
            assert [warning.value for warning in test.warning] == [
                "Not understood in this link, and ignored: Part, Kind, Rows, Share. The default is shown instead."
            ]
            assert len(table(test, "checks"))

    @pytest.mark.parametrize("kind", ["highest", "lowest", "misleading", "outdated", "alone"])
    def test_top_observations_link_by_id(self, address: str, owner: Owner, kind: str) -> None:
        plant(owner, 9)
        with health(address, org="org_a", part="top", kind=kind) as test:
            assert not test.exception
            rows = table(test, "top")
            offered = test.selectbox(key=f"pick_{kind}")
            assert len(offered.options) == len(rows)
            offered.select(rows["id"].iloc[-1]).run()
            assert test.query_params["observation"] == rows["id"].iloc[-1]
        assert len(rows)
        assert set(rows["id"]) <= {str(obs("org_a", number)) for number in range(60)}

    def test_what_is_said_of_weights_is_what_an_outcome_does_to_them(self, address: str, owner: Owner) -> None:
        """0.5 rises to 0.55 with an accepted session, and falls to 0.425, or 0.35 where that session was misled."""
        after = [update_weight(0.5, "accepted"), *(update_weight(0.5, "rework", misleading=m) for m in (False, True))]
        assert after == pytest.approx([0.55, 0.425, 0.35])
        assert update_weight(1.0, "accepted") == 1
        plant(owner, 9, size=12)
        said = {}
        for kind in ("highest", "misleading"):
            with health(address, org="org_a", part="top", kind=kind) as test:
                said[kind] = " ".join(caption.value for caption in test.caption)
        assert "lowered by failed sessions and raised again by accepted ones, never above 1" in said["highest"]
        assert (
            "falls twice as far only in a failed session that names it, or from its third failed one on"
            in (said["misleading"])
        )
        collapsed = next(check for check in CHECKS if check.name == "collapsed")
        assert "each accepted one raises them again" in collapsed.todo

    def test_misleading_counts_whatever_the_outcome_was(self, address: str, owner: Owner) -> None:
        """Named by one accepted session and by one without an outcome: two, and neither is called failed."""
        sample.add_organization(owner, "org_a")
        (id_,) = sample.add_observations(owner, "org_a", 1, days_ago=40)
        for session, outcome in (("one", "accepted"), ("two", None)):
            sample.add_session(owner, "org_a", session, outcome)
            owner.execute(
                """insert into session_diagnostics (org_id, session_id, outcome, helpful_observation_ids,
                     misleading_observation_ids, created_at) values ('org_a', %s, %s, '{}', %s, %s)""",
                (session, outcome, [id_], NOW - timedelta(days=1)),
            )
        with health(address, org="org_a", part="top", kind="misleading") as test:
            assert table(test, "top")["sessions"].tolist() == [2]
            said = " ".join(caption.value for caption in test.caption)
        assert said.startswith("Named as misleading by diagnostics of the window, however the session ended.")

    def test_a_budget_below_the_floor_is_collecting_data(self, address: str, owner: Owner) -> None:
        plant(owner, 9, size=30)
        with health(address, org="org_a", part="budget") as test:
            assert any("Collecting data" in alert for alert in alerts(test))
            assert set(table(test, "budget")["zone"]) == {"collecting"}
            assert not test.get("plotly_chart")

    def test_a_budget_map_with_enough_sessions(self, address: str, owner: Owner) -> None:
        """Forty chores at 100 tokens, three quarters without rework; forty fixes at 300, half of them.

        Four of the fixes without rework were rejected: 16 of 40 were accepted.
        """
        sample.add_organization(owner, "org_a")
        for number in range(80):
            work, tokens = ("chore", 100) if number < 40 else ("<b>fix</b>", 300)
            accepted = number % 4 != 0 if number < 40 else number % 2 == 0
            outcome = "accepted" if accepted else "rework"
            owner.execute(
                """insert into sessions (org_id, id, project_id, work_type, outcome, created_at)
                   values ('org_a', %s, 'api', %s, %s, %s)""",
                (f"s{number}", work, "rejected" if number >= 72 and accepted else outcome, NOW),
            )
            owner.execute(
                """insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, token_budget,
                     tokens_used, candidates, created_at)
                   values ('org_a', gen_random_uuid(), %s, 'api', 500, %s, 5, %s)""",
                (f"s{number}", tokens, NOW),
            )
        with health(address, org="org_a", part="budget") as test:
            assert not test.exception
            rows = table(test, "budget").set_index("work")
            drawn = spec(test)
            lines = " ".join(each.value for each in test.markdown)
        # Wilson's interval of 30 of 40 is 0.598 to 0.858 and of 20 of 40 0.352 to 0.648: both hold 50 of 80
        unsure = "not told apart"
        assert rows.loc["chore", ["tokens", "share", "judged"]].tolist() == ["100", "75 %", 40]
        assert rows.loc["<b>fix</b>", ["tokens", "share", "rejected"]].tolist() == ["300", "50 %", 4]
        assert rows["zone"].to_dict() == {"chore": f"efficient, {unsure}", "<b>fix</b>": f"wasteful, {unsure}"}
        assert drawn["layout"]["title"]["text"] == "1 of 2 work types are on the frontier"
        assert drawn["layout"]["yaxis"]["title"]["text"] == "percent of sessions without rework"
        assert "**wasteful**: tokens above the mean, share below it" in lines
        assert "**not told apart**: the 95 % interval" in lines
        assert "**starved**" not in lines
        with health(address, org="org_a", part="budget", ended="accepted") as test:
            rows = table(test, "budget").set_index("work")
            assert rows["share"].to_dict() == {"chore": "75 %", "<b>fix</b>": "40 %"}
            assert spec(test)["layout"]["yaxis"]["title"]["text"] == "percent of sessions accepted"
        assert "&lt;b>fix" in json.dumps(drawn)
        assert "<b>fix" not in json.dumps(drawn)

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
        assert drawn["data"][2]["text"] == ["25"]
        assert len(drawn["layout"]["xaxis"]["ticktext"]) == len(steps(SCOPE))
        assert drawn["layout"]["yaxis"]["ticktext"] == ["api"]

    def test_coverage_by_agent_names_who_wrote_it(self, address: str, owner: Owner) -> None:
        """Ann wrote six of which three were injected, Bob two of which none, and nobody one that was."""
        sample.add_organization(owner, "org_a")
        ids = sample.add_observations(owner, "org_a", 9, days_ago=40)
        for number, id_ in enumerate(ids):
            agent = "ann" if number < 6 else "bob" if number < 8 else None
            owner.execute("update observations set agent_id = %s where id = %s", (agent, id_))
        injected = [*ids[:3], ids[8]]
        sample.add_retrieval(owner, "org_a", sample.unchanged(4), name="one", observations=injected, days_ago=3)
        owner.execute("update retrieval_ab_logs set injected = true")
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
        sample.add_retrieval(owner, "org_a", sample.unchanged(5), name="one", observations=ids[-5:], days_ago=1)
        owner.execute("update retrieval_ab_logs set injected = true")
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
        sample.add_retrieval(owner, "org_a", sample.unchanged(2), name="one", observations=ids[:2], days_ago=1)
        owner.execute("update retrieval_ab_logs set injected = true")
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
        sample.add_retrieval(owner, "org_a", sample.unchanged(1), name="one", observations=ids[:1], days_ago=7)
        owner.execute("update retrieval_ab_logs set injected = true")
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

    def test_runs_name_what_failed_and_what_was_skipped(self, address: str, owner: Owner) -> None:
        plant(owner, 9, size=12)
        with health(address, org="org_a", part="runs") as test:
            assert not test.exception
            rows = table(test, "passes").set_index("project")
            writers = table(test, "writers")
            said = [caption.value for caption in test.caption]
        assert rows["state"].to_dict() == {
            "api": "● unchanged, skipped", "web": "● done", "(no project)": "✕ failed",
        }  # fmt: skip
        assert rows["error"].to_dict() == {"api": "", "web": "", "(no project)": "it broke"}
        assert "2 projects aggregated, 1 unchanged since, 1 failed; the longest took 0.25 s." in said
        assert writers[["written", "dropped", "failed", "last_failure"]].to_numpy().tolist() == [[90, 7, 3, "slow"]]

    def test_what_failed_was_lost_or_never_began_says_what_to_do_as_text(self, address: str, owner: Owner) -> None:
        """Of org_a's projects one failed; of 90 + 7 + 3 retrievals seven were dropped and three failed."""
        plant(owner, 9, size=12)
        sample.add_organization(owner, "org_c", "Cedar")
        sample.add_observations(owner, "org_c", 1)
        owner.execute("update rankscope.log_writers set started_at = '2026-02-03 04:05+00'")
        with health(address, org="org_a", part="runs") as test:
            lines = [line.value for line in test.markdown if line.value.startswith("- ")]
            writers = table(test, "writers")
            said = " ".join(caption.value for caption in test.caption)
        assert [line.partition(". ")[0] for line in lines] == [
            "- **Failed passes 1** (✕ act, of 3 projects)",
            "- **Dropped 7 of 100 retrievals** (✕ act, since 3 Feb 2026)",
            "- **Not written 3 of 100 retrievals** (✕ act, since 3 Feb 2026)",
        ]
        assert "*Why it failed*" in lines[0]
        assert all("*Last failure*" in line for line in lines[1:])
        assert writers[["state", "started_at"]].to_numpy().tolist() == [
            ["✕ act", pd.Timestamp("2026-02-03 04:05", tz="UTC")]
        ]
        assert "project" not in said.partition("Totals of each process")[2]
        with health(address, part="runs") as test:
            lines = [line.value for line in test.markdown if line.value.startswith("- ")]
        assert [line.partition(". ")[0] for line in lines][:2] == [
            "- **Failed passes 2** (✕ act, of 7 projects)", "- **Never aggregated 1** (✕ act, of 7 projects)",
        ]  # fmt: skip
        assert "`python -m jobs aggregate --every 60`" in lines[1]
        with health(address, org="org_a", project="api", part="runs") as test:
            said = " ".join(caption.value for caption in test.caption)
        assert "A writer counts by organization: these are of all its projects." in said

    def test_what_is_in_order_asks_for_nothing(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        add_passes(owner, "org_a", ["api"])
        owner.execute(
            """insert into rankscope.log_writers (org_id, writer, name, queued, written, rows, dropped, failed,
                 started_at, seen_at) values ('org_a', gen_random_uuid(), 'p', 0, 9, 90, 0, 0, %s, %s)""",
            (NOW, NOW),
        )
        with health(address, org="org_a", part="runs") as test:
            assert not [line.value for line in test.markdown if "What to do" in line.value]
            assert table(test, "writers")["state"].tolist() == ["● in order"]

    @pytest.mark.parametrize(
        ("said", "where"),
        [({}, "in any organization"), ({"org": "org_a"}, "in this organization"),
         ({"org": "org_a", "project": "api"}, "for this project")],
        ids=["all", "organization", "project"],
    )  # fmt: skip
    def test_that_nothing_was_aggregated_says_where(
        self, address: str, owner: Owner, said: dict[str, str], where: str
    ) -> None:
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
            sample.add_observations(owner, org, 1)
        with health(address, part="runs", **said) as test:
            assert any(f"No aggregation has finished {where} yet" in alert for alert in alerts(test))

    def test_drops_say_since_when_they_are_counted(self, address: str, owner: Owner) -> None:
        """A writer counts from its start: what it lost long before the window still stands in its total."""
        plant(owner, 9, size=12)
        owner.execute("update rankscope.log_writers set started_at = '2026-02-03 04:05+00'")
        with health(address, org="org_a", window="7d") as test:
            (line,) = [line.value for line in test.markdown if line.value.startswith("- **Log-queue drops 10 %**")]
        assert line.startswith("- **Log-queue drops 10 %** (present state only, ✕ act, since 3 Feb 2026). ")
        assert "restart" in line
        with health(address, org="org_a", project="api", window="7d") as test:
            (line,) = [line.value for line in test.markdown if line.value.startswith("- **Log-queue drops 10 %**")]
        assert "since 3 Feb 2026, all projects of the organization). " in line
        drops = next(check for check in CHECKS if check.name == "drops")
        assert drops.formula == (
            "(dropped + failed) ÷ (written + dropped + failed) since each writer started, of the organization's "
            "writers seen in the window, all projects together"
        )

    def test_more_passes_than_a_table_holds_are_cut_after_what_needs_a_hand(self, address: str, owner: Owner) -> None:
        """500 projects of Acme with a pass, and one of Birch without: Birch stands first, and the last is left out."""
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
        sample.add_observations(owner, "org_b", 1)
        add_passes(owner, "org_a", [f"p{number:03}" for number in range(500)])
        owner.execute("update rankscope.aggregation_runs set elapsed_ms = 1234567 where project_id = 'p001'")
        with health(address, part="runs") as test:
            assert not test.exception
            rows = table(test, "passes")
            said = [caption.value for caption in test.caption]
        assert rows[["project", "state"]].iloc[0].tolist() == ["api", "✕ never aggregated"]
        assert (len(rows), rows["project"].iloc[-1]) == (500, "p498")
        assert rows.set_index("project").loc["p001", "took"] == "1,235 s"
        assert "The first 500 projects, those that failed or were never aggregated before the others." in said
        assert (
            "499 projects aggregated, 0 unchanged since, 0 failed, 1 never looked at; the longest took 1,235 s." in said
        )
        with health(address, org="org_a", part="runs") as test:
            assert len(table(test, "passes")) == 500
            assert not [caption for caption in test.caption if "The first" in caption.value]

    def test_the_system_as_doctor_sees_it(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        owner.execute("drop index logs_recent")
        with health(address, part="system") as test:
            assert not test.exception
            findings = table(test, "findings")
            checks = table(test, "server_checks").set_index("check")
            facts = [frame.value for frame in test.dataframe if list(frame.value.columns) == ["fact", "value"]]
            said = " ".join(code.value for code in test.code)
            said_below = [caption.value for caption in test.caption]
            texts = [text.value for text in test.text]
        assert "todo" not in checks.columns
        wrong = findings[findings["state"] != "● ok"]
        told = [f"{state} · {name}: {text}" for state, name, text in wrong.itertuples(index=False)]
        assert [line for text in texts for line in text.splitlines() if line[0] in "◆✕"] == told
        assert any("logs_recent" in line and "serves" in line for line in told)
        assert findings.iloc[0]["state"] != "● ok"
        assert "index logs_recent" in set(findings["name"])
        assert "create index concurrently logs_recent" in said
        assert list(checks.index) == ["Connections", "Pool for reading", "Deadlocks"]
        # one page at a time asks with one connection, of eight and four more
        assert checks.loc["Pool for reading", ["state", "value"]].tolist() == ["● in order", f"{100 / 12:.3g} %"]
        assert any(caption.startswith("The server as of ") for caption in said_below)
        about = pd.concat(facts).set_index("fact")["value"]
        assert re.fullmatch(r"0 in use, at most 1 of 12 \(.* UTC\)", about["this process's pool for reading"])
        assert checks.loc["Connections", ["state", "bands"]].tolist() == [
            "● in order", "in order up to 70 %, act above 90 %",
        ]  # fmt: skip
        assert facts[0].iloc[0].tolist() == ["Rankscope", VERSION]

    def test_a_server_near_its_limits_says_what_to_do_as_text(self, address: str, owner: Owner) -> None:
        """Twelve connections of twelve is beyond 90 %, one deadlock more than none; what is in order asks nothing."""
        sample.add_organization(owner, "org_a")
        with health(address, part="system") as test:
            assert not test.exception
            quiet = [line.value for line in test.markdown if line.value.startswith("- ")]
        assert quiet == []
        server = pd.Series(
            {"connections": 12, "most_connections": 12, "lag_seconds": None, "deadlocks": 1, "standby": False}
        )
        assert [(each.what, each.beside) for each in system.advised(system.server_checks(server, {}))] == [
            ("Connections 100 %", "✕ act"), ("Deadlocks 1", "◆ watch"),
        ]  # fmt: skip


class TestReach:
    @pytest.fixture(autouse=True)
    def _viewer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        vera = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")
        monkeypatch.setattr("controls.access.local_principal", lambda _: vera)

    def test_the_system_is_for_admins(self, address: str, owner: Owner) -> None:
        plant(owner, 12, size=12)
        with health(address, part="system") as test:
            assert not test.exception
            assert any("takes the role admin" in alert for alert in alerts(test))
            assert not test.dataframe

    @pytest.mark.parametrize("part", ["memory", "top", "coverage", "runs"])
    def test_nothing_of_another_organization_is_shown(self, address: str, owner: Owner, part: str) -> None:
        plant(owner, 12, size=12)
        with health(address, part=part) as test:
            assert not test.exception
            frames_shown = " ".join(each.value.to_csv() for each in test.dataframe)
            drawn = " ".join(chart.proto.spec for chart in test.get("plotly_chart"))
        assert "org_b" not in (frames_shown + drawn).lower()


@pytest.mark.parametrize("part", ["memory", "top", "budget", "coverage", "runs"])
def test_hostile_texts_stay_out_of_markdown(address: str, owner: Owner, part: str) -> None:
    sample.add_organization(owner, "org_a", TEXTS[0])
    for number, text in enumerate(TEXTS):
        shown = text.replace("\0", "")[:150]
        owner.execute(
            """insert into observations (org_id, id, project_id, agent_id, content, content_hash, created_at)
               values ('org_a', %s, %s, %s, %s, %s, %s)""",
            (obs("org_a", number), shown, shown, text, text[:200], NOW - timedelta(days=9)),
        )
        owner.execute(
            "insert into sessions (org_id, id, work_type, outcome, created_at) values ('org_a', %s, %s, 'rework', %s)",
            (f"{number}", shown, NOW),
        )
        owner.execute(
            """insert into context_injection_logs (org_id, retrieval_id, session_id, token_budget, tokens_used,
                 candidates, created_at) values ('org_a', gen_random_uuid(), %s, 9, 9, 9, %s)""",
            (f"{number}", NOW),
        )
        owner.execute(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, error, finished_at)
               values ('org_a', %s, 'failed', '', %s, %s)""",
            (shown, text, NOW),
        )
    sample.add_retrieval(
        owner, "org_a", sample.unchanged(20), name="one", observations=[obs("org_a", number) for number in range(20)]
    )
    owner.execute("update retrieval_ab_logs set injected = true")
    with health(address, org="org_a", part=part) as test:
        assert not test.exception
        sinks = [*test.markdown, *test.caption, *test.info, *test.warning, *test.error, *test.metric]
        said = " ".join(f"{each.value} {getattr(each, 'help', '')}" for each in sinks)
        assert "beacon" not in said
        assert "window.__x" not in said
        if part == "coverage":
            assert "<img" not in json.dumps(spec(test)["layout"]["yaxis"]["ticktext"])

"""What Health says of a memory, against planted facts and pandas: every check, what a store lacks, who sees what."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from analysis.health.checks import CHECKS
from controls.access import Principal
from tests import sample
from tests.health_store import NOW, frames, inside, obs, plant
from tests.hostile import TEXTS
from tests.pages.health_page import SCOPE, alerts, health, spec, table

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


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
            assert {metric.label: metric.value for metric in test.metric}["Collapsed weights"].endswith("%")
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
        title = drawn["layout"]["title"]["text"].replace("<br>", " ")
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
        assert list(figures) == ["Accepted", "Never retrieved", "Collapsed weights", "Log coverage", "Aggregation age"]
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

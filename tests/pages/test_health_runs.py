"""Health's runs: aggregation passes and log writers, what failed and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from tests import sample
from tests.health_store import NOW, plant
from tests.pages.health_page import alerts, health, table
from tests.queries.health.test_passes import add_passes

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


class TestParts:
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

"""Health's observations that stand out: which, why, and what is said of their weights."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from analysis.health.checks import CHECKS
from ranking.feedback import update_weight
from tests import sample
from tests.health_store import NOW, obs, plant
from tests.pages.health_page import health, table

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


class TestParts:
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

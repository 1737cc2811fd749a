"""Health's map of what each kind of work spends in tokens, and how its sessions end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests import sample
from tests.health_store import NOW, plant
from tests.pages.health_page import alerts, health, spec, table

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


class TestParts:
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
            captions = [each.value for each in test.caption]
        told = "Rejected sessions count as good here, other than in *Accepted*."
        assert told in captions
        # Wilson's interval of 30 of 40 is 0.598 to 0.858 and of 20 of 40 0.352 to 0.648: both hold 50 of 80
        unsure = "not told apart"
        assert rows.loc["chore", ["tokens", "share", "judged"]].tolist() == ["100", "75 %", 40]
        assert rows.loc["<b>fix</b>", ["tokens", "share", "rejected"]].tolist() == ["300", "50 %", 4]
        assert rows["zone"].to_dict() == {"chore": f"efficient, {unsure}", "<b>fix</b>": f"wasteful, {unsure}"}
        assert drawn["layout"]["title"]["text"] == "None of 2 work types is told apart from the mean of all sessions"
        assert rows["frontier"].to_dict() == {"chore": "yes, not told apart", "<b>fix</b>": ""}
        assert drawn["layout"]["yaxis"]["title"]["text"] == "percent of sessions without rework"
        assert "**wasteful**: tokens above the mean, share below it" in lines
        assert "**not told apart**: the 95 % interval" in lines
        assert "**starved**" not in lines
        with health(address, org="org_a", part="budget", ended="accepted") as test:
            rows = table(test, "budget").set_index("work")
            assert rows["share"].to_dict() == {"chore": "75 %", "<b>fix</b>": "40 %"}
            assert spec(test)["layout"]["yaxis"]["title"]["text"] == "percent of sessions accepted"
            assert told not in [each.value for each in test.caption]
        assert "&lt;b>fix" in json.dumps(drawn)
        assert "<b>fix" not in json.dumps(drawn)

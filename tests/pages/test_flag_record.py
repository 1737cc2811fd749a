"""The record of a change: whether it was made against a no-go, and what was foretold where nothing could be ranked."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pytest

from tests.pages.application import application
from tests.pages.corroboration_page import said
from tests.pages.flags_page import opened
from tests.queries.flags.flag_store import BOOST, WEIGHTING

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_flagged", "_writing")
# as the audit kept them before it said how many were made under the present state
FORETOLD = {"logged": 100, "retrievals": 100, "top_changed": 5, "entered": 8, "left": 12, "rbo": 0.9, "reasons": []}
BAD = FORETOLD | {"top_changed": 27, "entered": 70, "left": 75}
UNTRIED = FORETOLD | {"present": 0, "top_changed": 0, "entered": 0, "left": 0, "rbo": 1.0}


def changed(owner: Owner, preview: dict[str, Any] | None, ago: str = "1 hour", **more: Any) -> str:  # noqa: ANN401 - columns
    """An entry of the audit, of Acme's boost switched on unless it says something else."""
    entry = {"flag": BOOST, "old_state": "absent", "new_state": "true", "reverts_id": None} | more
    row = owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, preview, reverts_id, changed_at)
           values ('org_a', gen_random_uuid(), %(flag)s, %(old_state)s, %(new_state)s, 'trial', 'olga', 'test',
             %(preview)s, %(reverts_id)s, now() - %(ago)s::interval) returning id""",
        entry | {"preview": None if preview is None else json.dumps(preview), "ago": ago},
    ).fetchone()
    assert row
    return str(row[0])


def record(test: AppTest) -> Any:  # noqa: ANN401 - a frame
    """Predicted and realised, as far as they have figures."""
    return next((frame.value.set_index("what") for frame in test.dataframe if "what" in frame.value.columns), None)


def listed(test: AppTest) -> dict[str, tuple[str, str]]:
    """What each change meant, which is in sight in a narrow window too, and the note at the end of its row."""
    shown = next(frame.value for frame in test.dataframe if "actor" in frame.value.columns)
    rows = zip(shown["id"], shown["means"], shown["note"], strict=True)
    return {str(id_): (means, note) for id_, means, note in rows}


class TestAgainstNoGo:
    def test_the_record_and_the_list_say_which_gates_failed(self, address: str, owner: Owner) -> None:
        """145 flips in 100 retrievals, and 27 of 100 first fives changed."""
        change = changed(owner, BAD)
        with application(address, change=change) as test:
            opened(test)
        (judged,) = (error.value for error in test.error)
        assert judged == (
            "Made against a no-go: 2 of the 3 gates that a preview can tell failed: flips per 100 retrievals (145, at "
            "most 20); top 5 kept (73 %, at least 95 %)."
        )
        assert listed(test)[change] == ("boost on, against no-go", "")

    def test_where_the_gates_held_that_is_said(self, address: str, owner: Owner) -> None:
        change = changed(owner, FORETOLD)
        with application(address, change=change) as test:
            opened(test)
        assert not test.error
        assert "The 3 gates that a preview can tell held when it was made." in said(test)
        assert listed(test)[change] == ("boost on", "")

    @pytest.mark.parametrize(
        ("preview", "more"),
        [
            (BAD, {"old_state": "true", "new_state": "absent"}),
            (BAD, {"flag": WEIGHTING}),
            (None, {}),
            (UNTRIED, {}),
            (FORETOLD | {"retrievals": 0}, {}),
            ({"note": "of other software"}, {}),
        ],
    )
    def test_of_other_changes_and_of_unknown_figures_nothing_is_judged(
        self, address: str, owner: Owner, preview: dict[str, Any] | None, more: dict[str, Any]
    ) -> None:
        change = changed(owner, preview, **more)
        with application(address, change=change) as test:
            opened(test)
        assert not test.error
        assert "gates" not in said(test)
        assert "no-go" not in "".join(listed(test)[change])

    def test_it_stands_beside_what_took_it_back(self, address: str, owner: Owner) -> None:
        change = changed(owner, BAD)
        back = changed(owner, None, "1 minute", old_state="true", new_state="absent", reverts_id=int(change))
        with application(address) as test:
            opened(test)
        assert listed(test) == {
            change: ("boost on, against no-go", f"reverted by {back}"),
            back: ("boost off (default)", f"reverts {change}"),
        }


class TestARevert:
    def test_it_says_what_the_dialog_said(self, address: str, owner: Owner) -> None:
        """The four retrievals of Acme are twelve hours old: none was made while the boost was on."""
        first = changed(owner, None, "1 hour")
        back = changed(owner, UNTRIED, "30 minutes", old_state="true", new_state="absent", reverts_id=int(first))
        with application(address, change=back) as test:
            opened(test)
        assert record(test) is None
        assert (
            "Predicted: nothing had been retrieved under the state that was left, so going back restored what was "
            "ranked until then." in said(test)
        )

    def test_retrievals_that_did_not_obey_leave_it_unknown(self, address: str, owner: Owner) -> None:
        first = changed(owner, None, "20 hours")
        back = changed(owner, UNTRIED, "30 minutes", old_state="true", new_state="absent", reverts_id=int(first))
        with application(address, change=back) as test:
            opened(test)
        assert record(test) is None
        assert "Predicted: unknown, for none of the 100 retrievals was made under the state that was left." in said(
            test
        )

    def test_what_came_of_it_stays_a_table(self, address: str, owner: Owner) -> None:
        back = changed(owner, UNTRIED, "20 hours", flag=WEIGHTING, old_state="true", new_state="absent")
        with application(address, change=back) as test:
            opened(test)
        assert list(record(test).index) == ["Realised"]
        assert "Predicted: unknown" in said(test)


class TestWhatSessionsDidSince:
    """A link to What-if's outcomes; What-if looks 90 days back from the window's end."""

    def ways(self, address: str, change: str, **window: str) -> list[dict[str, str]]:
        with application(address, change=change, **(window or {"window": "7d"})) as test:
            opened(test)
        links = [each.proto for each in test.get("page_link") if each.proto.label.startswith("What sessions did")]
        assert {each.page for each in links} <= {"what_if"}
        return [dict(parse_qsl(each.query_string)) for each in links]

    @pytest.mark.parametrize("ago", ["20 hours", "41 days", "74 days"])
    def test_the_operators_own_window_stays_where_what_if_reaches_the_switch(
        self, address: str, owner: Owner, ago: str
    ) -> None:
        """Whoever goes on to Health from there compares what was compared before."""
        change = changed(owner, None, ago)
        told = {"org": "org_a", "show": "outcomes"}
        assert self.ways(address, change) == [told | {"window": "7d"}]
        since = {"from": f"{datetime.now(UTC) - timedelta(days=44):%Y-%m-%d}"}
        own = {"window": "custom", **since, "to": f"{datetime.now(UTC):%Y-%m-%d}"}
        assert self.ways(address, change, **own) == [told | own]

    def test_of_a_window_that_ended_earlier_the_usual_one_says_what_came_since(
        self, address: str, owner: Owner
    ) -> None:
        past = {"from": f"{datetime.now(UTC) - timedelta(days=60):%Y-%m-%d}"}
        past["to"] = f"{datetime.now(UTC) - timedelta(days=30):%Y-%m-%d}"
        change = changed(owner, None, "41 days")
        assert self.ways(address, change, window="custom", **past) == [{"org": "org_a", "show": "outcomes"}]

    def test_a_change_with_too_few_days_before_it_has_a_window_of_its_own(self, address: str, owner: Owner) -> None:
        """Of the 90 days that What-if looks back 14 would lie before it."""
        change = changed(owner, None, "76 days")
        first, last = datetime.now(UTC) - timedelta(days=106), datetime.now(UTC)
        (way,) = self.ways(address, change)
        assert (way["window"], way["from"], way["to"]) == ("custom", f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}")

    def test_a_change_that_no_longer_holds_has_the_days_it_held(self, address: str, owner: Owner) -> None:
        """The next one would be a second switch, around which nothing can be compared."""
        change = changed(owner, None, "50 days")
        changed(owner, None, "4 hours", old_state="true", new_state="absent")
        today = datetime.now(UTC)
        first, last = today - timedelta(days=80), today - timedelta(hours=4, days=1)
        assert self.ways(address, change) == [
            {
                "org": "org_a",
                "show": "outcomes",
                "window": "custom",
                "from": f"{first:%Y-%m-%d}",
                "to": f"{last:%Y-%m-%d}",
            }
        ]

    @pytest.mark.parametrize(
        ("ago", "more"),
        [
            ("20 hours", {"new_state": "false"}),  # off as before
            ("1 hour", {}),  # the four retrievals of Acme are twelve hours old
            ("400 days", {}),  # no window goes back so far
        ],
    )
    def test_none_where_what_if_has_nothing_to_compare(
        self, address: str, owner: Owner, ago: str, more: dict[str, str]
    ) -> None:
        assert self.ways(address, changed(owner, None, ago, **more)) == []

    def test_none_where_no_day_holds_it_without_the_next_one(self, address: str, owner: Owner) -> None:
        """On and off again within a day: two switches, around which nothing can be compared."""
        noon = datetime.now(UTC).replace(hour=12) - timedelta(days=20)
        change = changed(owner, None, "20 days")
        back = changed(owner, None, "20 days", old_state="true", new_state="absent")
        owner.execute("alter table rankscope.flag_changes disable trigger all")
        for id_, at in ((change, noon), (back, noon + timedelta(hours=2))):
            owner.execute("update rankscope.flag_changes set changed_at = %s where id = %s", (at, id_))
        owner.execute(
            "update retrieval_ab_logs set created_at = %s where org_id = 'org_a'", (noon + timedelta(hours=1),)
        )
        assert self.ways(address, change) == []

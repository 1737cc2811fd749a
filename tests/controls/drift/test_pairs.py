"""Opposition pairs through the panel: typed, saved, reset and typed again, in one session and several organizations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates

from ranking import DEFAULT_PAIRS
from tests import sample
from tests.jobs.command import ROOT
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

PAGE = ROOT / "tests" / "controls" / "drift" / "pairs_page.py"


@pytest.fixture
def panel(cluster: Cluster, store_database: str, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))
    with application(cluster.plain_url("dash_read", store_database), PAGE, org="org_a") as test:
        yield test.run()


def typed(test: AppTest, one: str, other: str) -> AppTest:
    """A pair in a new row of the table, as the browser tells it: the harness types into no table."""
    states = WidgetStates()
    edit = {"edited_rows": {}, "added_rows": [{"one": one, "other": other}], "deleted_rows": []}
    state = states.widgets.add(id=test.data_editor[0].proto.id)
    state.string_value = json.dumps(edit)
    test._run(states)
    assert not test.exception
    return test


def press(test: AppTest, label: str) -> AppTest:
    button = next(button for button in test.button if button.label == label)
    assert not button.disabled
    button.click().run()
    assert not test.exception
    return test


def said(test: AppTest) -> list[str]:
    return [line.value for line in (*test.success, *test.warning, *test.error)]


def kept(owner: Owner, org: str) -> set[tuple[str, str]]:
    return set(owner.execute("select one, other from rankscope.opposition_pairs where org_id = %s", (org,)).fetchall())


def test_the_same_edit_after_a_reset_is_saved_again(panel: AppTest, owner: Owner) -> None:
    edited = {*DEFAULT_PAIRS, ("spicy", "mild")}
    for _ in range(2):
        press(typed(panel, "spicy", "mild"), "Save pairs")
        assert said(panel) == ["Opposition pairs: Saved."]
        assert kept(owner, "org_a") == edited
        press(panel, "Reset to defaults")
        assert said(panel) == ["Opposition pairs: Saved."]
        assert kept(owner, "org_a") == set()
    actions = owner.execute("select action from rankscope.opposition_changes order by id").fetchall()
    assert actions == [("edited",), ("reset",), ("edited",), ("reset",)]


def test_two_organizations_in_one_session(panel: AppTest, owner: Owner) -> None:
    typed(panel, "spicy", "mild")
    panel.query_params["org"] = "org_b"
    panel.run()
    assert not any("not saved yet" in line.value for line in panel.caption)
    panel.query_params["org"] = "org_a"
    press(typed(panel.run(), "spicy", "mild"), "Save pairs")
    panel.query_params["org"] = "org_b"
    press(typed(panel.run(), "spicy", "mild"), "Save pairs")
    assert said(panel) == ["Opposition pairs: Saved."]
    assert kept(owner, "org_a") == kept(owner, "org_b") == {*DEFAULT_PAIRS, ("spicy", "mild")}


def test_who_set_them_is_told_also_where_the_audit_does_not(panel: AppTest, owner: Owner) -> None:
    """Pairs that a hand put into the store have no audit row, and still say whose they are."""
    owner.execute(
        "insert into rankscope.opposition_pairs values ('org_a', 'hot', 'cold', 'ada & *co*', '2026-03-02 10:20+00')"
    )
    panel.run()
    assert "Last set by ada & *co*, 2 Mar 2026 10:20 UTC" in [line.value for line in panel.text]
    panel.query_params["org"] = "org_b"
    panel.run()
    assert not [line for line in panel.text if line.value.startswith("Last set")]


ELSEWHERE = """
    with pair as (insert into rankscope.opposition_pairs (org_id, one, other, changed_by)
                  values ('org_a', 'hot', 'cold', 'pia'))
    insert into rankscope.opposition_changes (org_id, request_id, action, added, removed, digest, actor)
    values ('org_a', gen_random_uuid(), 'edited', '[["hot", "cold"]]', '[]', 'd', 'pia')"""


def test_edits_outlive_a_change_of_someone_else(panel: AppTest, owner: Owner) -> None:
    typed(panel, "spicy", "mild")
    owner.execute(ELSEWHERE)
    press(panel, "Save pairs")
    assert said(panel)[0].startswith("Opposition pairs: Nothing was saved: someone else was faster")
    assert list(panel.data_editor[0].value.itertuples(index=False, name=None)) == [("hot", "cold"), ("spicy", "mild")]
    assert "1 pair added, 0 pairs removed, not saved yet." in [line.value for line in panel.caption]
    press(panel, "Save pairs")
    assert kept(owner, "org_a") == {("hot", "cold"), ("spicy", "mild")}
    assert not any("not saved yet" in line.value for line in panel.caption)


def test_an_edit_that_meets_a_change_of_someone_else_is_there_again(panel: AppTest, owner: Owner) -> None:
    owner.execute(ELSEWHERE)
    typed(panel, "spicy", "mild")  # the run that typing causes finds the change
    assert list(panel.data_editor[0].value.itertuples(index=False, name=None)) == [("hot", "cold"), ("spicy", "mild")]
    press(panel, "Save pairs")
    assert kept(owner, "org_a") == {("hot", "cold"), ("spicy", "mild")}

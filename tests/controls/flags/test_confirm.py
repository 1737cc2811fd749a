"""Who may change a flag is asked of the store for every change, whatever the browser sent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
import streamlit as st
from streamlit.runtime.context import StreamlitHeaders

import settings
from controls.flags.confirm import Sent, Staged
from tests import sample
from tests.pages.application import application
from tests.queries.flags.flag_store import WEIGHTING, audit_rows, live_and_audited

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

TOKEN = "a-token-that-only-the-proxy-knows"  # noqa: S105 - of this test alone


@pytest.fixture(autouse=True)
def _serving(cluster: Cluster, store_database: str, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    monkeypatch.setenv("RANKSCOPE_AUTH", "proxy")
    monkeypatch.setenv("RANKSCOPE_PROXY_TOKEN", TOKEN)
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))
    with application(cluster.plain_url("dash_read", store_database)):
        yield


def staged(org: str = "org_a") -> Staged:
    return Staged(org, "Name", WEIGHTING, "absent", "on", uuid4())


def asking(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The headers that a proxy would send with the visit; who that is and what they may is asked of the store."""
    sent = StreamlitHeaders([("X-Forwarded-User", name), (settings.PROXY_TOKEN_HEADER, TOKEN)])
    monkeypatch.setattr(st, "context", SimpleNamespace(headers=sent))


@pytest.mark.parametrize(
    ("role", "orgs", "made"),
    [
        ("viewer", ["org_a"], []), ("viewer", None, []), ("operator", ["org_b"], ["org_b"]), ("operator", [], []),
        ("operator", ["org_a", "org_b"], ["org_a", "org_b"]), ("admin", None, ["org_a", "org_b"]), (None, None, []),
    ],
)  # fmt: skip
def test_each_change_needs_the_role_for_its_own_organization(
    owner: Owner, monkeypatch: pytest.MonkeyPatch, role: str | None, orgs: list[str] | None, made: list[str]
) -> None:
    if role is not None:
        owner.execute("insert into rankscope.principals (name, role, orgs) values ('sam', %s, %s)", (role, orgs))
    asking(monkeypatch, "sam")
    sent = Sent([staged("org_a"), staged("org_b")], "because").make()
    outcomes = list(zip(sent.staged, sent.told(), strict=True))
    assert [each.org_id for each, told in outcomes if told.kind == "applied"] == made
    assert {told.kind for each, told in outcomes if each.org_id not in made} <= {"refused"}
    for org in ("org_a", "org_b"):
        assert audit_rows(owner, org) == ([("absent", "on")] if org in made else [])
        assert live_and_audited(owner, org)[0] == ("on" if org in made else "absent")


def test_a_role_taken_away_ends_at_the_next_change(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """WEB-5: also in the middle of a bulk change that was begun with it."""
    owner.execute("insert into rankscope.principals (name, role, orgs) values ('sam', 'operator', null)")
    asking(monkeypatch, "sam")
    assert Sent([staged("org_a")], "because").make().told()[0].kind == "applied"
    owner.execute("update rankscope.principals set role = 'viewer'")
    assert Sent([staged("org_b")], "because").make().told()[0].kind == "refused"
    assert live_and_audited(owner, "org_b") == ("absent", None)


def test_the_audit_names_whoever_is_asking(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    owner.execute("insert into rankscope.principals (name, role, orgs) values ('sam', 'operator', null)")
    asking(monkeypatch, "sam")
    Sent([staged("org_a")], "because").make()
    assert owner.execute("select actor, reason from rankscope.flag_changes").fetchall() == [("sam", "because")]


def test_what_a_run_did_not_live_to_say_is_looked_up(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """FLG-4: the run was ended between two changes; the first was made, the second was not."""
    owner.execute("insert into rankscope.principals (name, role, orgs) values ('sam', 'operator', null)")
    asking(monkeypatch, "sam")
    cut = Sent([staged("org_a"), staged("org_b")], "because")
    Sent(cut.staged[:1], "because").make()
    told = cut.told()
    assert [each.kind for each in told] == ["applied", "failed"]
    assert told[0].entry is not None
    assert told[0].entry.actor == "sam"
    assert audit_rows(owner, "org_b") == []

"""A change that the store refuses, holds up or asks to try again: FLG-6 and 11, and REC-10 of the bar."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from queries.once import make
from tests.queries.flags.flag_store import MINE, audit_rows, features_text, live_and_audited, set_flag

if TYPE_CHECKING:
    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_organizations")


class TestFaults:
    @pytest.mark.parametrize(
        "damage",
        [
            """create function pg_temp_fail() returns trigger language plpgsql as
                 $$ begin raise exception 'no space left' using errcode = '53100'; end $$;
               create trigger full_disk before insert on rankscope.flag_changes
                 for each row execute function pg_temp_fail()""",
            "revoke insert on rankscope.flag_changes from dash_write",
            "drop table rankscope.flag_changes",
        ],
    )
    def test_without_its_audit_row_nothing_is_changed(self, store: Store, owner: Owner, damage: str) -> None:
        """FLG-6."""
        before = features_text(owner)
        owner.execute(damage.encode())
        outcome = make(store, MINE, set_flag("absent", "on"))
        assert outcome.kind == "failed"
        assert features_text(owner) == before

    def test_a_row_that_someone_else_holds_is_told_within_three_seconds(
        self, store: Store, owner: Owner, cluster: Cluster, store_database: str
    ) -> None:
        """FLG-11."""
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as holder:
            holder.execute("select 1 from organizations where id = 'org_a' for update")
            started = time.monotonic()
            outcome = make(store, MINE, set_flag("absent", "on"))
            spent = time.monotonic() - started
        assert (outcome.kind, outcome.sentence) == (
            "failed",
            "Someone else is changing the same row. Nothing was changed. Try again.",
        )
        assert 1.5 < spent < 3
        assert live_and_audited(owner) == ("absent", None)

    @pytest.mark.parametrize(
        ("state", "failures", "made"),
        [("40001", 3, True), ("40P01", 3, True), ("40001", 4, False), ("40P01", 4, False)],
    )
    def test_a_serialization_failure_is_tried_again_three_times(
        self, store: Store, owner: Owner, state: str, failures: int, *, made: bool
    ) -> None:
        """REC-10: the whole transaction, then reported."""
        owner.execute("create sequence tries")
        owner.execute(
            f"""create function stumble() returns trigger language plpgsql security definer as
                  $$ begin if nextval('public.tries') <= {failures} then
                       raise exception 'stumbled' using errcode = '{state}'; end if; return new; end $$;
                create trigger stumble before update on organizations
                  for each row execute function stumble()""".encode()
        )
        outcome = make(store, MINE, set_flag("absent", "on"))
        assert outcome.kind == ("applied" if made else "failed")
        assert len(audit_rows(owner)) == (1 if made else 0)

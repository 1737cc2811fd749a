"""What was foretold of the changes on a page of the history, against the audit itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from queries.flags.foretold import Foretold
from queries.flags.history import FlagHistory
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample
from tests.queries.flags.flag_store import BOOST, WEIGHTING

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

NOW = datetime.now(UTC)
KEPT = {"retrievals": 100, "top_changed": 5, "entered": 8, "left": 12}


def scope(reach: Reach = EVERYTHING, org: str | None = None) -> Scope:
    return Scope(reach, NOW - timedelta(days=30), NOW, org)


def test_only_boosts_that_were_switched_on_with_a_preview_and_only_their_figures(store: Store, owner: Owner) -> None:
    made = {}
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        for name, flag, new, preview in (
            ("on", BOOST, "true", KEPT | {"worst": ["x" * 50_000], "rbo": 0.5}),
            ("untried", BOOST, "true", KEPT | {"present": 0}),
            ("odd", BOOST, "true", "no object"),
            ("off", BOOST, "false", KEPT),
            ("weighting", WEIGHTING, "true", KEPT),
            ("bare", BOOST, "true", None),
        ):
            row = owner.execute(
                """insert into rankscope.flag_changes
                     (org_id, request_id, flag, old_state, new_state, reason, actor, source, preview)
                   values (%s, gen_random_uuid(), %s, 'absent', %s, %s, 'olga', 'test', %s) returning id""",
                (org, flag, new, name, None if preview is None else json.dumps(preview)),
            ).fetchone()
            assert row
            made[org, name] = int(row[0])

    def told(listed: FlagHistory) -> dict[int, Any]:
        found = store.ask(Foretold(listed, BOOST))
        return {int(id_): json.loads(figures) for id_, figures in found.itertuples(index=False)}

    expected = {"on": KEPT, "untried": KEPT | {"present": 0}, "odd": {}}
    mine = {made["org_a", name]: figures for name, figures in expected.items()}
    assert told(FlagHistory(scope(Reach(("org_a",))))) == mine
    assert told(FlagHistory(scope(org="org_a"))) == mine
    assert len(told(FlagHistory(scope()))) == 2 * len(expected)
    assert told(FlagHistory(scope(org="org_a"), words="untried")) == {made["org_a", "untried"]: KEPT | {"present": 0}}
    assert told(FlagHistory(scope(org="org_a"), flag=WEIGHTING)) == {}
    assert told(FlagHistory(scope(org="org_a"), before=made["org_a", "untried"])) == {made["org_a", "on"]: KEPT}
    assert list(told(FlagHistory(scope(org="org_a"), size=2))) == [made["org_a", "odd"], made["org_a", "untried"]]

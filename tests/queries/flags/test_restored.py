"""What was set outside and then restored from here: the audit knows it again, as restored and not as set outside."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from controls.flags.states import organizations, override_age, stale_overrides, table
from queries.flags.history import FlagObjects
from queries.flags.registry import STATES
from queries.flags.standing import StandingChanges
from queries.once import make
from queries.scope import EVERYTHING, Scope
from tests import sample
from tests.queries.flags.flag_store import WEIGHTING, set_flag

if TYPE_CHECKING:
    import psycopg

    from analysis.flags import Organization
    from queries.engine import Store
    from queries.flags.registry import State

    Owner = psycopg.Connection[Any]

NOW = datetime.now(UTC)


def set_outside(owner: Owner, org: str, state: State) -> None:
    owner.execute("update organizations set features = features - %s where id = %s", (WEIGHTING, org))
    if state != "absent":
        owner.execute(
            "update organizations set features = features || jsonb_build_object(%s::text, %s) where id = %s",
            (WEIGHTING, state == "on", org),
        )


def changed(store: Store, org: str, old: State, new: State, *, reverts: int | None = None, actor: str = "omar") -> int:
    made = make(store, EVERYTHING, set_flag(old, new, org=org, reverts_id=reverts, actor=actor))
    assert made.entry, made
    return made.entry.id


def found(store: Store, now: datetime = NOW + timedelta(hours=1)) -> dict[str, Organization]:
    scope = Scope(EVERYTHING, NOW - timedelta(days=30), NOW)
    objects, standing = store.ask_all(FlagObjects(scope), StandingChanges(scope))[0]
    return {org.id: org for org in organizations(objects, standing, now, 90)}


def test_what_a_revert_restored_is_audited_and_not_set_outside(store: Store, owner: Owner) -> None:
    """It has stood at least since then; whoever took the change back is said to have restored it."""
    sample.add_organization(owner, "org_a")
    set_outside(owner, "org_a", "on")
    assert override_age(found(store)["org_a"]) == "set outside"
    off = changed(store, "org_a", "on", "off")
    assert override_age(found(store)["org_a"]) == "0 d"
    changed(store, "org_a", "off", "on", reverts=off, actor="olga")
    said = f"● on: weighting off · restored by olga on {NOW:%-d %b %Y}"
    for days, age, odd in ((3, "3 d", ""), (100, "stale, 100 d", " · stale, 100 d")):
        later = found(store, NOW + timedelta(days=days, hours=1))
        assert table(list(later.values()))[WEIGHTING].tolist() == [f"{said}{odd}"]
        assert override_age(later["org_a"]) == age
        assert not later["org_a"].cells[WEIGHTING].outside
    assert stale_overrides(list(later.values()))["actor"].tolist() == ["olga"]
    set_outside(owner, "org_a", "off")
    assert override_age(found(store)["org_a"]) == "set outside"


def test_a_revert_to_what_was_set_here_is_a_change_from_here(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    changed(store, "org_a", "absent", "on")
    gone = changed(store, "org_a", "on", "absent")
    changed(store, "org_a", "absent", "on", reverts=gone)
    assert override_age(found(store)["org_a"]) == "0 d"
    first = changed(store, "org_a", "on", "off")
    changed(store, "org_a", "off", "on", reverts=first)
    assert not found(store)["org_a"].cells[WEIGHTING].outside


def test_any_order_of_changes_reverts_and_foreign_writes(store: Store, owner: Owner) -> None:
    """Against a model that remembers who set what each change replaced."""
    draw = random.Random(3)  # noqa: S311 - a test's
    expected, restored = {}, 0
    for number in range(80):
        org = sample.add_organization(owner, f"org_{number}")
        state: State = "absent"
        theirs = False  # whether other software set first what stands
        made: list[tuple[int, State, State, bool]] = []  # id, old, new, and whether old was theirs
        by_audit: tuple[State, bool] = ("absent", False)  # what the audit's last entry left, and whether that is theirs
        for _ in range(draw.randrange(2, 9)):
            new: State = draw.choice([each for each in STATES if each != state])
            step = draw.random()
            if step < 0.3:
                set_outside(owner, org, new)
                # back to what the audit says, it cannot be told from what never left it
                state, theirs = new, by_audit[1] if new == by_audit[0] else True
            elif step < 0.7 and made and made[-1][2] == state:
                last, old, _, was_theirs = made[-1]
                id_ = changed(store, org, state, old, reverts=last)
                made.append((id_, state, old, theirs))
                state, theirs = by_audit = (old, was_theirs)
                restored += theirs
            else:
                made.append((changed(store, org, state, new), state, new, theirs))
                state, theirs = by_audit = (new, False)
        expected[org] = (state, state != by_audit[0], theirs and state == by_audit[0])
    # days apart: what is taken back within one is as if it had never been
    owner.execute("alter table rankscope.flag_changes disable trigger user")
    owner.execute("update rankscope.flag_changes set changed_at = changed_at - interval '2 days' * (1000 - id)")
    cells = {org: each.cells[WEIGHTING] for org, each in found(store).items()}
    assert {org: (cell.state, cell.outside, cell.restored is not None) for org, cell in cells.items()} == expected
    assert restored > 10
    assert len(set(expected.values())) == 9

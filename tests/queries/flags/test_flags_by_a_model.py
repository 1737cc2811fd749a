"""Any order of changes, reverts and foreign writes, against a model of the flags: FLG-8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from queries.flags.registry import STATES
from queries.once import make
from queries.scope import EVERYTHING
from tests.queries.flags.flag_store import BOOST, WEIGHTING, live_and_audited, set_flag

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    import psycopg

    from queries.engine import Store
    from queries.flags.registry import State

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_counting")


class Flags(RuleBasedStateMachine):
    """FLG-8: operators set and revert, the platform writes too; a model says what has to stand after each step."""

    store: Store
    owner: Owner

    def __init__(self) -> None:
        super().__init__()
        self.owner.execute("update organizations set features = '{}' where id = 'org_a'")
        self.live: dict[str, State] = {WEIGHTING: "absent", BOOST: "absent"}
        self.made: list[tuple[int, str, State, State]] = []
        self.outside: set[str] = set()
        self.used: list[tuple[UUID, Any]] = []

    flags = st.sampled_from([WEIGHTING, BOOST])
    states = st.sampled_from(STATES)

    @rule(flag=flags, seen=states, new=states)
    def set(self, flag: str, seen: State, new: State) -> None:
        if seen == new:
            return
        change = set_flag(seen, new, flag=flag)
        outcome = make(self.store, EVERYTHING, change)
        assert outcome.kind == ("applied" if self.live[flag] == seen else "conflict")
        self._keep(outcome, flag, seen, new)
        self.used.append((change.request_id, change))

    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        if not self.used:
            return
        request, change = data.draw(st.sampled_from(self.used))
        made = [entry for entry in self.made if entry[0] == self._entry_of(request)]
        outcome = make(self.store, EVERYTHING, change)
        assert (outcome.kind == "already") == bool(made)
        if outcome.kind == "applied":  # it was a conflict the first time, and is none now
            self._keep(outcome, change.flag, change.seen, change.new)

    @rule(data=st.data())
    def revert(self, data: st.DataObject) -> None:
        if not self.made:
            return
        entry, flag, old, new = data.draw(st.sampled_from(self.made))
        outcome = make(self.store, EVERYTHING, set_flag(new, old, flag=flag, reverts_id=entry))
        newest = [made[0] for made in self.made if made[1] == flag][-1]
        unmoved = newest == entry and self.live[flag] == new
        assert outcome.kind == ("applied" if unmoved else "conflict")
        self._keep(outcome, flag, new, old)

    @rule(flag=flags, new=states)
    def foreign_write(self, flag: str, new: State) -> None:
        if new == "absent":
            self.owner.execute("update organizations set features = features - %s where id = 'org_a'", (flag,))
        else:
            value: Literal["true", "false"] = "true" if new == "on" else "false"
            self.owner.execute(
                "update organizations set features = features || jsonb_build_object(%s::text, %s::jsonb) "
                "where id = 'org_a'",
                (flag, value),
            )
        self.live[flag] = new
        self.outside.add(flag)

    @invariant()
    def what_stands_is_what_the_model_says(self) -> None:
        for flag, expected in self.live.items():
            live, audited = live_and_audited(self.owner, flag=flag)
            assert live == expected
            mine = [made for made in self.made if made[1] == flag]
            if mine:
                assert audited == mine[-1][3]
            if flag not in self.outside:  # replaying the audit gives the current value
                state: State = "absent"
                for _, _, old, new in mine:
                    assert old == state
                    state = new
                assert state == live

    def _keep(self, outcome: Any, flag: str, old: State, new: State) -> None:  # noqa: ANN401 - an Outcome
        if outcome.kind == "applied":
            self.made.append((outcome.entry.id, flag, old, new))
            self.live[flag] = new

    def _entry_of(self, request: UUID) -> int | None:
        row = self.owner.execute("select id from rankscope.flag_changes where request_id = %s", (request,)).fetchone()
        return row[0] if row else None


@pytest.fixture
def machine(store: Store, owner: Owner) -> Iterator[type[Flags]]:
    """Entries of earlier examples stay, since nobody may delete them: each example starts by its own model."""
    Flags.store, Flags.owner = store, owner
    yield Flags
    del Flags.store, Flags.owner


def test_set_revert_and_foreign_writes_by_a_model(machine: type[Flags]) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=25, stateful_step_count=20, deadline=None))

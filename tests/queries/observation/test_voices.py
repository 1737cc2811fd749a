"""Who of a cluster says what an observation says, against counts by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from queries.observation.voices import Voices
from tests.analysis.drift.test_from_passes import aggregated
from tests.analysis.drift.test_sides import NODE, say
from tests.queries.observation.test_observation import LIFE, planted

if TYPE_CHECKING:
    from uuid import UUID

    import psycopg

    from queries.engine import Store
    from tests.dossier import Planted

    Owner = psycopg.Connection[Any]

__all__ = ["planted"]


def voices(store: Store, id_: UUID, *, triaged: bool = True) -> tuple[int, int, set[str]]:
    row = store.ask(Voices(LIFE, id_, triaged)).iloc[0]
    return row["members"], row["agents"], set(row["apart"] or ())


def test_whoever_contradicts_it_is_no_voice(store: Store, owner: Owner, planted: Planted) -> None:
    """The two beside it contradict each other, so both cannot say what it says; nothing tells which of them does."""
    one, other = planted.alike
    assert voices(store, planted.id) == (1, 1, {str(one), str(other)})
    assert voices(store, one) == (1, 1, {str(planted.id), str(other)})
    assert voices(store, planted.opposite) == (0, 0, set())
    owner.execute(
        """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by)
           values ('org_a', 'inside', 'false_positive', 'pia')"""
    )
    assert voices(store, one) == (3, 3, set())
    assert voices(store, planted.id) == (3, 3, set())
    assert voices(store, one, triaged=False)[0] == 1


def test_those_apart_are_told_from_those_against(store: Store, owner: Owner, planted: Planted) -> None:
    """Its equals' opponents are its own; who is only on neither side is not against it."""
    one, other = planted.alike

    def against(id_: UUID) -> set[str]:
        return set(store.ask(Voices(LIFE, id_)).iloc[0]["against"] or ())

    assert (against(planted.id), against(one), against(other)) == (set(), {str(other)}, {str(one)})
    owner.execute("update rankscope.contradictions set newer = %s where fingerprint = 'print'", (other,))
    assert (against(planted.id), against(one)) == ({str(other)}, {str(other)})
    assert against(other) == {str(one), str(planted.id)}


def test_an_agent_is_counted_once_and_a_member_that_is_gone_has_none(
    store: Store, owner: Owner, planted: Planted
) -> None:
    one, other = planted.alike
    owner.execute("update rankscope.contradictions set newer = %s where fingerprint = 'print'", (other,))
    owner.execute("update observations set agent_id = 'agent-a' where id = %s", (one,))
    assert voices(store, one) == (2, 1, {str(other)})
    owner.execute("delete from observations where id = %s", (planted.id,))
    assert voices(store, one) == (2, 1, {str(other)})


def test_of_many_equal_texts_no_opponent_is_a_voice(store: Store, owner: Owner) -> None:
    """A pass compares each of them with the newest of the other side alone."""
    say(owner, *[(NODE.format(18), f"a{number}") for number in range(6)], *[(NODE.format(20), "b")] * 5)
    aggregated(store)
    rows = owner.execute("select id, content from observations").fetchall()
    sides = {text: {str(id_) for id_, said in rows if said == text} for _, text in rows}
    for id_, text in rows:
        opposed = next(ids for said, ids in sides.items() if said != text)
        assert voices(store, id_) == ((6, 6, opposed) if "18" in text else (5, 1, opposed))
        assert set(store.ask(Voices(LIFE, id_)).iloc[0]["against"]) == opposed

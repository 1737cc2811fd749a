"""Observations of which some say the same, and what a plain computation, pair by pair, finds among them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ranking import simhash64
from tests import sample
from tests.memories import add_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg

    Owner = psycopg.Connection[Any]

COPIED = "deploys to production wait for the canary to stay green for thirty minutes before traffic moves over"
REPEATED = "the billing worker retries a failed charge four times and then parks it for a person to look at"
LONELY = "screenshots in the handbook were taken on a narrow window and should be taken anew one day"
SAID = (
    # text, agent, session, project, weight
    (COPIED, "ann", "s1", "api", 1.0),
    (COPIED, "bob", "s2", "api", 2.0),
    (COPIED, "ann", "s3", "api", 0.5),
    (REPEATED, "cyd", "s4", "api", 1.0),
    (REPEATED, "cyd", "s4", "api", 1.0),
    (COPIED, "dan", "s5", "web", 1.0),
    (LONELY, "ann", "s1", "api", 1.0),
    ("", "ann", "s1", "api", 1.0),
    ("?!", "bob", "s1", "api", 1.0),
)


def plant(owner: Owner, org: str = "org_a", said: Sequence[tuple[str, str, str, str, float]] = SAID) -> list[str]:
    """One organization with two projects; the n-th observation is n days older than today, so the first is newest."""
    sample.add_organization(owner, org)
    owner.execute("insert into projects (org_id, id, name) values (%s, 'web', 'Web')", (org,))
    return [
        add_memory(
            owner, org, number, text, agent_id=agent, session_id=session, project_id=project, weight=weight,
            created_at=sample.TODAY - timedelta(days=number),
        )
        for number, (text, agent, session, project, weight) in enumerate(said, 1)
    ]  # fmt: skip


def oracle(rows: Sequence[Mapping[str, Any]], bits: int) -> set[frozenset[str]]:
    """Clusters as sets of ids: rows of one project joined whenever two lie within so many bits, pair by pair."""
    hashes = [int(value) for value in simhash64([row["content"] for row in rows])]
    worded = [any(character.isalnum() for character in row["content"]) for row in rows]
    group = list(range(len(rows)))
    for one in range(len(rows)):
        for other in range(one):
            near = (hashes[one] ^ hashes[other]).bit_count() <= bits and worded[one] and worded[other]
            if near and rows[one]["project_id"] == rows[other]["project_id"] and group[one] != group[other]:
                old, new = group[one], group[other]
                group = [new if number == old else number for number in group]
    found = {
        number: frozenset(row["id"] for row, its in zip(rows, group, strict=True) if its == number) for number in group
    }
    return {members for members in found.values() if len(members) > 1}

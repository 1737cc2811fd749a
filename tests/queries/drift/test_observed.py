"""Parts of statements as the worklist asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from queries.drift.observed import Excerpts
from queries.scope import Reach
from tests import sample
from tests.drift_store import window
from tests.scopes import add_observation

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]


def test_a_part_of_each_text_from_a_character_on(store: Store, owner: Owner) -> None:
    """Characters are counted as Python counts them; one text may be asked for twice, a foreign one has no part."""
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    text = "🜁🜂 zwei Zeichen und mehr"
    mine = str(add_observation(owner, "org_a", "mine", text))
    foreign = str(add_observation(owner, "org_b", "foreign", text))
    gone = str(uuid4())
    asked = ((mine, 0), (mine, 3), (mine, 500), (foreign, 0), (gone, 0))
    with store.reading(Reach(("org_a", "org_b"))) as snapshot:
        found = Excerpts(window("org_a"), asked, 6).ask(snapshot)
    parts = {place: (row.content, row.characters) for place, row in found.items()}
    assert parts == {
        (mine, 0): (text[:6], len(text)),
        (mine, 3): (text[3:9], len(text)),
        (mine, 500): ("", len(text)),
    }

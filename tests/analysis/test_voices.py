"""Who says the same, by fingerprints that were kept and by those that no aggregation pass ever took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.voices import stored_voices
from queries.scope import Reach
from ranking import simhash64
from tests import sample
from tests.memories import add_memory

if TYPE_CHECKING:
    from queries.engine import Store
    from tests.sample import Owner

TEXT = "The exporter sends licences to the office every ten minutes"


def test_a_store_without_tables_of_our_own_has_every_fingerprint_taken(store: Store, owner: Owner) -> None:
    """It is only read until someone migrates it, and a boost can be tried on it all the same."""
    sample.add_organization(owner, "org_a")
    add_memory(owner, "org_a", 1, TEXT)
    owner.execute(
        """insert into rankscope.simhashes (org_id, observation_id, content_hash, simhash, tokens)
           select org_id, id, md5(content), 4711, 3 from observations"""
    )
    assert stored_voices(store, Reach(("org_a",)), "org_a").simhash.tolist() == [4711]
    owner.execute("drop schema rankscope cascade")
    assert stored_voices(store, Reach(("org_a",)), "org_a").simhash.tolist() == [int(simhash64([TEXT])[0])]

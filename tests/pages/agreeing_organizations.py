"""Organizations whose agents agree, repeat themselves, or say what is hostile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests import sample
from tests.analysis.corroboration.agreeing import SAID, plant
from tests.analysis.replay.planted_log import plant as plant_logged
from tests.analysis.replay.planted_log import plant_organization, text
from tests.hostile import TEXTS

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

HOSTILE = [text for text in TEXTS if "\0" not in text and len(text) < 2_000 and any(map(str.isalnum, text))][:24]
NAMES = {text[:60] for text in HOSTILE}
BOOSTED = '{"corroboration_boost_enabled": true}'


def plant_agreeing(owner: Owner) -> None:
    """Seven organizations that differ in what they hold.

    Acme: a cluster of three by two agents, one of two by one agent, and two retrievals. Birch: nothing. Cedar: as Acme,
    with a word more in the canonical, and the boost on. Drake: hostile texts, each twice, by agents, in sessions and
    projects of hostile names. Elm: a hundred megabytes.
    Fir: the boost on, fifty retrievals, two candidates of each lifted. Gorse: the boost on, and never logged.
    """
    ids = plant(owner, "org_a")
    candidates = [[UUID(ids[0]), UUID(ids[6])], [UUID(ids[6]), UUID(ids[7])]]
    for number, chosen in enumerate(candidates):
        sample.add_retrieval(owner, "org_a", sample.unchanged(2), name=f"r{number}", observations=chosen)
    sample.add_organization(owner, "org_b", "Birch")
    sample.add_session(owner, "org_b", "s")
    plant(owner, "org_c", [(f"{said[0]} now" if said[1] == "bob" else said[0], *said[1:]) for said in SAID])
    owner.execute("update organizations set features = %s where id = 'org_c'", (BOOSTED,))
    plant(owner, "org_d", [(text, text[:60], text[:60], text[:60], 1.0) for text in HOSTILE for _ in range(2)])
    owner.execute("update organizations set name = %s where id = 'org_d'", (HOSTILE[0],))
    for project in NAMES:
        owner.execute("insert into projects (org_id, id, name) values ('org_d', %s, %s)", (project, project))
    for org, boost in (("org_f", [0.0, 0.5, 0.5]), ("org_g", [None] * 3)):
        plant_organization(owner, org, text_0="the first says something else".ljust(40), text_2=text(1))
        ranks = [2, 0, 1] if any(boost) else [0, 1, 2]
        logged = {"before": ranks, "after": ranks, "injected": [rank < 2 for rank in ranks], "boost": boost}
        for number in range(50):
            plant_logged(owner, org, f"r{number}", weighting=False, **logged)
        owner.execute("update organizations set features = %s where id = %s", (BOOSTED, org))
    sample.add_organization(owner, "org_e")
    owner.execute(
        """insert into observations (org_id, id, project_id, agent_id, content, content_hash, created_at)
           select 'org_e', gen_random_uuid(), 'api', 'agent-' || mod(n, 3), %s || repeat('x', 1000000), n, now()
             from generate_series(1, 100) n""",
        ("a long story of one word that goes on and on ",),
    )

"""Observations with vectors, planted one by one, and what an independent computation finds among them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from psycopg import sql

from tests import sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    import psycopg

    Owner = psycopg.Connection[Any]
    Vector = Sequence[float] | npt.NDArray[np.float32]

NAME = {"assistant": "vec_asst", "personal_info": "facet_personal_info"}
NAME |= {"preferences": "facet_preferences", "events": "facet_events"}


def add_memory(
    owner: Owner,
    org: str,
    number: int,
    content: str = "",
    vectors: Mapping[str, Vector] | None = None,
    **columns: Any,  # noqa: ANN401 - of any column of observations
) -> str:
    """One observation whose id ends in its number, so that ids sort as numbers do."""
    id_ = str(UUID(int=number))
    values: dict[str, Any] = {
        "org_id": org,
        "id": id_,
        "content": content,
        "content_hash": str(number),
        "project_id": "api",
    }
    values |= {"created_at": sample.TODAY, **columns}
    names = sql.SQL(", ").join(map(sql.Identifier, values))
    places = sql.SQL(", ").join([sql.Placeholder()] * len(values))
    owner.execute(sql.SQL("insert into observations ({}) values ({})").format(names, places), list(values.values()))
    for route, vector in (vectors or {}).items():
        text = str([float(value) for value in vector])
        owner.execute("insert into observation_embeddings values (%s, %s, %s, %s)", (org, id_, route, text))
    return id_


def nearest(vectors: Mapping[str, Vector], asked: Vector, pool: int) -> list[tuple[str, float]]:
    """Ids and cosines of the nearest vectors, nearest first and then by id, one number at a time."""
    found = []
    for id_, vector in vectors.items():
        one, other = np.asarray(vector, np.float64), np.asarray(asked, np.float64)
        length = math.sqrt(float(one @ one)) * math.sqrt(float(other @ other))
        if length:
            found.append((id_, float(one @ other) / length))
    return sorted(found, key=lambda row: (-round(row[1], 9), row[0]))[:pool]


def leg_name(route: str) -> str:
    """What results call a route."""
    return NAME.get(route, f"vec_{route}")


def add_thousands_titled(owner: Owner) -> None:
    """A thousand observations a minute apart, each with a title, of each of three organizations."""
    for org in ("org_a", "org_b", "org_c"):
        sample.add_organization(owner, org)
        owner.execute(
            """insert into observations (org_id, id, project_id, title, content, content_hash, created_at)
               select %s, gen_random_uuid(), 'api', 'title ' || n, repeat('words ', 200), n,
                      now() - n * interval '1 minute' from generate_series(1, 1000) n""",
            (org,),
        )
    owner.execute("vacuum analyze observations")

"""A log that figures are drawn from: as short as a test can bear, and said to be long."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from queries.shape import LogShape
from tests import sample

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

LONG = LogShape(length=1_000_001)  # of which three in ten pages are drawn
RETRIEVALS, SMALL = 1_200, 600
SAY_LONG = "update pg_class set reltuples = 1000001 where oid = 'retrieval_ab_logs'::regclass"

# Every third retrieval moves the fifth to the sixth place; every tenth has lost its last row; some are half as long.
PLANTED = """
    insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id, relevance_score,
        feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, injected, created_at)
    select org, md5(org || n)::uuid, 's', 'q' || n, md5(org || n || '/' || place)::uuid, 0.5, 1, 0.5, place,
           case when n %% 3 = 0 and place in (4, 5) then 9 - place else place end, true,
           case when n %% 3 = 0 and place in (4, 5) then 9 - place else place end < 5,
           cast(%(at)s as timestamptz) - make_interval(secs => n)
      from (values ('org_a', %(size)s, %(many)s), ('org_b', %(size)s / 2, %(few)s)) as its (org, size, retrievals),
           lateral generate_series(1, retrievals) as n, lateral generate_series(0, size - 1) as place
     where not (n %% 10 = 0 and place = size - 2)
     order by its.org, n.n, place.place"""


def plant(owner: Owner, many: int = RETRIEVALS, few: int = SMALL, size: int = 20) -> None:
    """Retrievals of two organizations, one a second until an hour ago, and half as many candidates in the second."""
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    at = sample.TODAY - timedelta(hours=1)
    owner.execute(PLANTED, {"at": at, "many": many, "few": few, "size": size})

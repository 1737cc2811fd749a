"""A cheap text that changes whenever the platform's tables do, so that cached figures know when they are old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

# Row counters cost nothing at any size, unlike max() and count(). They start anew after a crash, hence the start time;
# a standby counts nothing that it replays, hence the place it has reached. A truncate is not counted, but leaves each
# table with another file.
DATA_VERSION = text(
    """select md5(concat_ws('/', pg_postmaster_start_time(), sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del),
                          sum(pg_relation_filenode(relid)::bigint),
                          case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end))
         from pg_stat_user_tables
        where schemaname in ('public', 'rankscope')
          and (cast(:tables as text[]) is null or format('%s.%s', schemaname, relname) = any(:tables)
               or exists (select from unnest(cast(:tables as text[])) named
                            left join pg_class found on found.oid = to_regclass(named)
                           where found.relkind is distinct from 'r' or found.relhassubclass))"""
)

# What recall reads, and what the voices of the last aggregation pass are read from beside it.
RECALL = ("public.observations", "public.observation_embeddings", "public.organizations")
PASSES = ("rankscope.aggregation_runs", "rankscope.clusters")
# What voices are counted anew from; a fingerprint is kept only for speed, but counts where it is.
FINGERPRINTS = ("public.observations", "rankscope.simhashes")


def data_version(connection: Connection, tables: Sequence[str] | None = None) -> str:
    """Changes when rows were inserted, updated or deleted: within a second or, for a busy writer's last ones, ten.

    Of some tables alone, or of all. Where one of them is a view or has parts, its rows are counted elsewhere: then all
    tables count.
    """
    named = None if tables is None else list(tables)
    return str(connection.execute(DATA_VERSION, {"tables": named}).scalar_one())

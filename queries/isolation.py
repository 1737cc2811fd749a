"""Whether this login is really kept to its scope by the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection

POWERS = text(
    """select r.rolsuper, r.rolbypassrls,
              coalesce((select c.relrowsecurity from pg_class c
                         where c.oid = to_regclass('public.retrieval_ab_logs')), true)
         from pg_roles r where r.rolname = current_user"""
)


def gap(connection: Connection) -> str | None:
    """Why tenants are not kept apart by the database, in a few words; ``None`` where they are."""
    superuser, bypasses, secured = connection.execute(POWERS).one()
    if superuser:
        return "not isolated: connected as superuser"
    if bypasses:
        return "not isolated: this login bypasses row security"
    return None if secured else "not isolated: row security is off"

"""Whether this login is really kept to its scope by the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection

POWERS = text(
    """with tenant as (
         select c.* from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = 'public' and c.relkind in ('r', 'p') and has_table_privilege(c.oid, 'select')
            and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id'))
       select r.rolsuper, r.rolbypassrls,
              (select coalesce(bool_or(not c.relrowsecurity), false) from tenant c),
              (select coalesce(bool_or(pg_has_role(c.relowner, 'member') and not c.relforcerowsecurity), false)
                 from tenant c)
         from pg_roles r where r.rolname = current_user"""
)


def gap(connection: Connection) -> str | None:
    """Why tenants are not kept apart by the database, in a few words; ``None`` where nothing speaks against it.

    Whether the policies themselves are right is for ``python -m jobs doctor`` to say.
    """
    superuser, bypasses, unsecured, owns = connection.execute(POWERS).one()
    if superuser:
        return "not isolated: connected as superuser"
    if bypasses:
        return "not isolated: this login bypasses row security"
    if unsecured:
        return "not isolated: row security is off"
    return "not isolated: this login owns the tables" if owns else None

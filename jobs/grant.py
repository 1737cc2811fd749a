"""``python -m jobs grant | revoke | principals``: who may see and change what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.target import owned
from jobs.terminal import printable
from queries.organizations import unknown_organizations
from queries.principals import ROLES, GrantRole, RevokeRole, granted_roles
from queries.scope import is_storable

if TYPE_CHECKING:
    import argparse

    from queries.principals import GrantedRole
    from settings import Settings


class GrantError(Exception):
    """A role that was not granted or taken, in one sentence."""


def grant_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``grant`` takes; an organization has to be named, because forgetting it must not open them all."""
    parser.add_argument("name", metavar="NAME", help="as the sign-on proxy spells it")
    parser.add_argument("role", choices=ROLES)
    reach = parser.add_mutually_exclusive_group()
    reach.add_argument("--org", action="append", metavar="ORG", help="an organization's id; may be repeated")
    reach.add_argument("--all-orgs", action="store_true", help="every organization, also those that come later")
    parser.set_defaults(refuse=parser.error)


def revoke_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``revoke`` takes."""
    parser.add_argument("name", metavar="NAME")


def no_arguments(_parser: argparse.ArgumentParser) -> None:
    """Declare nothing."""


def grant(args: argparse.Namespace, settings: Settings) -> int:
    """Give a name a role, in place of the one it had."""
    if args.role == "admin" and args.org:
        args.refuse("an admin sees every organization; leave out --org")
    if args.role != "admin" and not (args.org or args.all_orgs):
        args.refuse(f"a {args.role} needs --org ORG or --all-orgs")
    if not args.name.strip() or any(not is_storable(text) for text in (args.name, *(args.org or ()))):
        args.refuse("a name or an organization is text; found an empty one or one that no store can hold")
    change = GrantRole(args.name, args.role, tuple(args.org) if args.org else None)
    with owned(settings) as target, target.engine.begin() as connection:
        unknown = unknown_organizations(connection, change.orgs or ())
        if unknown:
            raise GrantError(f"no such organization: {', '.join(map(printable, unknown))}. Nothing was granted.")
        change.apply(connection)
    print(f"{printable(change.name)} is {change.role} of {reach_in_words(change.orgs)}")
    return 0


def revoke(args: argparse.Namespace, settings: Settings) -> int:
    """Take every role from a name."""
    with owned(settings) as target, target.engine.begin() as connection:
        had_one = is_storable(args.name) and RevokeRole(args.name).apply(connection)
    if not had_one:
        raise GrantError(f"{printable(args.name)} had no role. Nothing was changed.")
    print(f"{printable(args.name)} has no role any more")
    return 0


def principals(_args: argparse.Namespace, settings: Settings) -> int:
    """List every name with its role, its organizations and since when."""
    with owned(settings) as target, target.engine.connect() as connection:
        rows = granted_roles(connection)
    print("\n".join(map(in_words, rows)) or "no role was granted to anyone; in local mode this machine's user is admin")
    return 0


def in_words(row: GrantedRole) -> str:
    """One line of the list."""
    return f"{printable(row.name)}\t{row.role}\t{reach_in_words(row.orgs)}\tsince {row.granted_at:%Y-%m-%d %H:%M %Z}"


def reach_in_words(orgs: tuple[str, ...] | None) -> str:
    """The organizations by id, or that it is every one."""
    return "every organization" if orgs is None else ", ".join(map(printable, orgs)) or "no organization"

"""``python -m jobs pins``: whether pins hold; 1 if one does not or the store cannot be asked, 2 for a wrong command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from jobs import ranked_by
from jobs.target import opened
from jobs.terminal import printable
from queries.engine import LIST
from queries.organizations import unknown_organizations
from queries.scope import Reach, is_storable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from analysis.inspector.pins import PinResult
    from queries.engine import Store
    from queries.pins import StoredPin
    from settings import Settings

MOST_BYTES = 10_000_000


class PinsError(Exception):
    """Pins that could not be checked, in one sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--org", required=True, metavar="ORG", help="an organization's id")
    parser.add_argument("--file", type=Path, metavar="FILE", help="pins exported as JSON, instead of those stored")
    ranked_by.arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.set_defaults(refuse=parser.error)


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Print a line per pin; 1 if any does not hold. Nothing is logged or remembered."""
    # not above: numpy and Arrow take a while that the other jobs need not wait for
    from analysis.inspector.pins import check, from_json  # noqa: PLC0415

    try:
        answering = ranked_by.answering(args, settings)
        given = None if args.file is None else from_json(_text(args.file), args.org)
    except (ValueError, PinsError) as error:
        args.refuse(printable(str(error)))
    with opened(settings) as store:
        if not _is_known(store, args.org):
            args.refuse(f"no such organization: {printable(args.org)}")
        unreadable: tuple[StoredPin, ...] = ()
        unread = 0
        if given is None:
            stored, unread = _stored(store, args.org)
            given = tuple(each.pin for each in stored if each.pin is not None)
            unreadable = tuple(each for each in stored if each.pin is None)
        results = check(args.org, given, answering(store))
    print(as_json(args.org, results, unreadable, unread) if args.json else as_text(results, unreadable, unread))
    return 0 if all(result.holds for result in results) and not unreadable and not unread else 1


def as_text(results: Sequence[PinResult], unreadable: Sequence[StoredPin], unread: int = 0) -> str:
    """A line per pin, why beneath those that do not hold, and what was not as it should be."""
    lines = []
    for result in results:
        lines.append(f"{result.outcome:8}{printable(result.pin.name)}")
        lines += [f"{'':8}{printable(reason)}" for reason in result.reasons]
    lines += [f"unknown {printable(pin.name)}\n{'':8}{pin.unreadable}" for pin in unreadable]
    degraded = dict.fromkeys(reason for result in results for reason in result.degraded)
    lines += [f"degraded  {printable(reason)}" for reason in degraded]
    checked = len(results) + len(unreadable)
    lines += [f"unread  {unread} more: {checked} are checked at most, take some down"] if unread else []
    total = checked + unread
    held = sum(result.holds for result in results)
    return "\n".join([*lines, f"{held} of {total} pins hold" if total else "no pins to hold"])


def as_json(org: str, results: Sequence[PinResult], unreadable: Sequence[StoredPin], unread: int = 0) -> str:
    """The same for a program."""
    listed: list[dict[str, object]] = [
        {
            "name": result.pin.name,
            "query": result.pin.query,
            "outcome": result.outcome,
            "reasons": result.reasons,
            "degraded": result.degraded,
            "pipeline": result.pipeline,
        }
        for result in results
    ]
    listed += [
        {"name": pin.name, "query": pin.query, "outcome": "unknown", "reasons": (pin.unreadable,)} for pin in unreadable
    ]
    holds = all(each["outcome"] == "holds" for each in listed) and not unread
    return json.dumps({"org": org, "holds": holds, "unread": unread, "pins": listed}, indent=2)


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise PinsError(f"file: expected at most {MOST_BYTES} bytes, found {file.stat().st_size}")
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise PinsError(f"file: expected pins that can be read as text ({type(error).__name__})") from None


def _is_known(store: Store, org: str) -> bool:
    with store.reading(Reach.of(frozenset({org})), LIST, name="pins") as connection:
        return is_storable(org) and not unknown_organizations(connection, (org,))


def _stored(store: Store, org: str) -> tuple[tuple[StoredPin, ...], int]:
    from queries.pins import Pins  # noqa: PLC0415 - with the others

    with store.reading(Reach.of(frozenset({org})), LIST, name="pins") as connection:
        return Pins(org).read(connection), Pins(org).unread(connection)

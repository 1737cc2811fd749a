"""``python -m jobs contradictions FILE.jsonl``: which of the observations in a file contradict each other."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jobs.terminal import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from ranking import Contradiction
    from settings import Settings

STANDARD_INPUT = "-"
# a weekday in brackets, as chat exports date their turns
_ASIDE = re.compile(r"\s*\([^)]*\)\s*")
_MILLISECONDS = 1e11
_LONGEST = 300


class FileError(Exception):
    """A file that cannot be read, in one sentence."""


class BadLine(ValueError):  # noqa: N818 - it is a line, named to the reader
    """A line that is no observation, and why."""


class Line(NamedTuple):
    """One observation of the file."""

    id: str | int
    content: str
    created_at: datetime | None
    agent_id: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "file",
        metavar="FILE.jsonl",
        help="one object a line: id, content, created_at, agent_id; - is the standard input",
    )
    parser.add_argument(
        "--threshold", type=share, default=0.5, help="share of the smaller claim's words that must agree (default: 0.5)"
    )
    parser.add_argument("--json", action="store_true", help="print one object a line")


def share(text: str) -> float:
    """A number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError(text)
    return number


def main(args: argparse.Namespace, _settings: Settings) -> int:
    """Print every finding, the most severe first; lines that are no observation are named on stderr and skipped."""
    # other jobs start without waiting for the library
    import numpy as np  # noqa: PLC0415

    from ranking import detect_contradictions  # noqa: PLC0415

    lines = list(read(args.file, lambda sentence: print(sentence, file=sys.stderr)))
    texts = {line.id: line.content for line in lines}
    columns = {
        "ids": [line.id for line in lines],
        "content": [line.content for line in lines],
        "created_at": np.array([line.created_at for line in lines], "datetime64[us]"),
        "agent_id": [line.agent_id for line in lines],
    }
    found = detect_contradictions(columns, threshold=args.threshold)
    for finding in found:
        print(json.dumps(as_object(finding)) if args.json else as_text(finding, texts))
    if not args.json:
        print(summary(found, len(lines)))
    return 0


def read(path: str, complain: Callable[[str], None]) -> Iterator[Line]:
    """The observations of a file; what is none is complained of by its line number."""
    try:
        raw = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    seen: set[str | int] = set()
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            observation = parse(line)
            if observation.id in seen:
                raise BadLine(f"id {observation.id!r} was seen before")  # noqa: TRY301 - named like any other
        except BadLine as error:
            complain(f"line {number} skipped: {error}")
            continue
        seen.add(observation.id)
        yield observation


def parse(line: bytes) -> Line:
    """One line as an observation; keys beyond the four are ignored."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise BadLine("expected a JSON object") from None
    if not isinstance(given, dict):
        raise BadLine(f"expected a JSON object, found {type(given).__name__}")
    label, content, agent = given.get("id"), given.get("content"), given.get("agent_id")
    if isinstance(label, bool) or not isinstance(label, str | int):
        raise BadLine(f"id: expected a text or a whole number, found {label!r}")
    if not isinstance(content, str):
        raise BadLine(f"content: expected a text, found {content!r:.60}")
    if agent is not None and not isinstance(agent, str):
        raise BadLine(f"agent_id: expected a text, found {agent!r:.60}")
    return Line(label, content, moment(given.get("created_at")), agent)


def moment(given: object) -> datetime | None:
    """A date in UTC without its zone: ISO 8601, seconds or milliseconds since 1970, or none."""
    if given is None or given == "":
        return None
    try:
        if isinstance(given, int | float) and not isinstance(given, bool):
            known = datetime.fromtimestamp(given / 1000 if abs(given) > _MILLISECONDS else given, UTC)
        else:
            known = datetime.fromisoformat(_ASIDE.sub(" ", str(given)).strip().replace("/", "-"))
        return known.astimezone(UTC).replace(tzinfo=None) if known.tzinfo else known
    except (ValueError, OverflowError, OSError):
        raise BadLine(f"created_at: expected a date as 2026-01-31T12:00:00Z, found {given!r:.60}") from None


def as_object(finding: Contradiction) -> dict[str, object]:
    """A finding for a program."""
    return {
        "older": finding.older,
        "newer": finding.newer,
        "kind": finding.kind.value,
        "evidence": [evidence._asdict() for evidence in finding.evidence],
        "overlap": round(finding.overlap, 4),
        "severity": round(finding.severity, 2),
        "parts": asdict(finding.parts),
        "rule": finding.rule,
        "fingerprint": finding.fingerprint,
    }


def as_text(finding: Contradiction, texts: dict[str | int, str]) -> str:
    """A finding for a person: what kind, how severe, and both texts with their evidence."""
    sides = []
    for side, label in (("older", finding.older), ("newer", finding.newer)):
        shown = ", ".join(repr(evidence.text) for evidence in finding.evidence if evidence.side == side)
        sides.append(f"  {side}  {printable(str(label))}: {printable(_short(texts[label]))}\n         {shown}")
    return "\n".join([f"{finding.kind} · severity {finding.severity:.0f} · {printable(finding.rule)}", *sides, ""])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def summary(found: list[Contradiction], count: int) -> str:
    """The closing line."""
    kinds = Counter(finding.kind.value for finding in found)
    listed = f" ({', '.join(f'{number} {kind}' for kind, number in sorted(kinds.items()))})" if kinds else ""
    counted = "no contradictions" if not found else f"{len(found):,} contradiction{'s' * (len(found) > 1)}"
    return f"{counted} among {count:,} observations{listed}"

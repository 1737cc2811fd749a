"""``python -m tests.peer_vectors FILE.json …``: run input → expected cases of the described systems against ours."""

import json
import sys
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from tests.ranking.peers import FUNCTIONS

TOLERANCE = 1e-9


def agrees(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether an answer is the expected one: numbers within the tolerance, of a dictionary only the expected keys."""
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return type(found) is type(expected) and bool(found == expected)
    if isinstance(expected, int | float):
        if type(found) is bool or not isinstance(found, Real):
            return False
        mine, theirs = float(found), float(expected)
        return mine == theirs or (mine != mine and theirs != theirs) or abs(mine - theirs) <= tolerance  # noqa: PLR0124 - NaN
    if isinstance(expected, Mapping):
        return isinstance(found, Mapping) and all(
            key in found and agrees(found[key], value, tolerance) for key, value in expected.items()
        )
    if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != len(expected):
        return False
    return all(agrees(mine, theirs, tolerance) for mine, theirs in zip(found, expected, strict=True))


def failure(case: Mapping[str, Any]) -> str | None:
    """What is wrong with our answer to a case, None if nothing is."""
    function = FUNCTIONS.get(case.get("function", ""))
    if function is None:
        return f"unknown function {case.get('function')!r}"
    if "expected" not in case:
        return "no expected answer given"
    tolerance = TOLERANCE if case.get("tolerance") is None else case["tolerance"]
    try:
        found = function(**(case.get("inputs") or {}))
    except Exception as error:  # noqa: BLE001 - a case that raises is a case that failed; the others still run
        return f"expected {case['expected']!r}, found {type(error).__name__}: {error}"
    return None if agrees(found, case["expected"], tolerance) else (
        f"expected {case['expected']!r}, found {found!r}"
    )  # fmt: skip


def main(paths: Sequence[str]) -> int:
    """Run every case of the files; 1 on any disagreement or unknown function, 2 without a file."""
    if not paths:
        print("usage: python -m tests.peer_vectors FILE.json …")
        return 2
    cases = [case for path in paths for case in json.loads(Path(path).read_text(encoding="utf-8"))]
    labelled = [(case.get("id", f"case {number}"), case) for number, case in enumerate(cases, 1)]
    failures = [(label, wrong) for label, case in labelled if (wrong := failure(case)) is not None]
    for label, wrong in failures:
        print(f"{label}: {wrong}")
    print(f"{len(cases) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

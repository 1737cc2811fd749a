import json
from pathlib import Path
from typing import Any

import pytest

from tests import peer_vectors

VECTORS = Path(__file__).parent / "vectors"
CASES = [case for path in sorted(VECTORS.glob("*.json")) for case in json.loads(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_we_agree_with_the_systems_described(case: dict[str, Any]) -> None:
    assert peer_vectors.failure(case) is None


def test_a_disagreement_or_an_unknown_function_fails_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = [
        {"id": "x#1", "function": "memini.recall_pool_size", "inputs": {"k": 5}, "expected": 51},
        {"id": "x#2", "function": "memini.nothing", "inputs": {}, "expected": 1},
        {"id": "x#3", "function": "memini.recall_pool_size", "inputs": {"q": 5}, "expected": 1},
        {"id": "x#4", "function": "memini.recall_pool_size", "inputs": {"k": 5}, "expected": 50},
    ]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(wrong), encoding="utf-8")
    assert peer_vectors.main([str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "x#1: expected 51, found 50"
    assert lines[1] == "x#2: unknown function 'memini.nothing'"
    assert lines[-1] == "1 passed, 3 failed"
    path.write_text(json.dumps(wrong[3:]), encoding="utf-8")
    assert peer_vectors.main([str(path)]) == 0


@pytest.mark.parametrize(
    ("found", "expected", "agree"),
    [
        (1.0, 1 + 1e-10, True), (1.0, 1 + 1e-8, False), (True, 1, False), (1, True, False), (None, None, True),
        ({"a": 1, "b": 2}, {"a": 1}, True), ({"b": 2}, {"a": 1}, False), ([1, 2], [1], False),
        (("a", 1), ["a", 1], True),
    ],
)  # fmt: skip
def test_what_counts_as_agreement(found: object, expected: object, agree: bool) -> None:  # noqa: FBT001
    assert peer_vectors.agrees(found, expected, 1e-9) is agree

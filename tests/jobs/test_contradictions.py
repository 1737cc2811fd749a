from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from jobs.__main__ import run

if TYPE_CHECKING:
    from pathlib import Path

LINES = (
    {
        "id": "b",
        "content": "Mail is sent through SES.",
        "created_at": "2026-03-02T08:00:00Z",
        "agent_id": "x",
        "tag": 7,
    },
    {
        "id": "a",
        "content": "Mail is sent through Postmark.",
        "created_at": "2026-03-01T08:00:00+01:00",
        "agent_id": None,
    },
    {"id": 3, "content": "The lobby holds 8 players."},
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "observations.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)) + "\n", encoding="utf-8")
    return path


def test_a_finding_is_printed_for_a_person(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contradictions", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0].startswith("value · severity ")
    assert lines[1] == "  older  a: Mail is sent through Postmark."
    assert lines[2].strip() == "'Postmark'"
    assert lines[3] == "  newer  b: Mail is sent through SES."
    assert lines[-1] == "1 contradiction among 3 observations (1 value)"


def test_a_finding_is_one_object_for_a_program(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contradictions", str(file), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(found) == 1
    assert (found[0]["older"], found[0]["newer"], found[0]["kind"], found[0]["overlap"]) == ("a", "b", "value", 1.0)
    assert found[0]["evidence"] == [
        {"side": "older", "text": "Postmark", "start": 21, "end": 29},
        {"side": "newer", "text": "SES", "start": 21, "end": 24},
    ]
    assert 0 < found[0]["severity"] <= 100


def test_a_bad_line_is_named_and_the_others_are_read(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = (
        b"nonsense",
        b"[1]",
        b'{"content": "x"}',
        b'{"id": "n", "content": null}',
        b'{"id": "d", "content": "x", "created_at": "soon"}',
        b'{"id": "a", "content": "again"}',
        b"\xff\xfe",
        b'{"id": "g", "content": "x", "agent_id": 4}',
        b'{"id": true, "content": "x"}',
    )
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes() + b"\r\n   \n" + b"\n".join(bad))
    assert run(["contradictions", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1
    assert [line.split(" skipped: ")[0] for line in err.splitlines()] == [f"line {6 + n}" for n in range(len(bad))]
    assert "id 'a' was seen before" in err
    assert "created_at: expected a date as 2026-01-31T12:00:00Z, found 'soon'" in err


def test_a_threshold_of_one_asks_for_every_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.jsonl"
    rows = ["The nightly ledger export runs at 02:00.", "The ledger export to the bank runs at 04:00."]
    path.write_text("\n".join(json.dumps({"id": n, "content": text}) for n, text in enumerate(rows)), encoding="utf-8")
    counts = []
    for threshold in ("0.2", "1"):
        assert run(["contradictions", str(path), "--json", "--threshold", threshold]) == 0
        counts.append(len(capsys.readouterr().out.splitlines()))
    assert counts[0] >= counts[1] == 0


def test_lines_may_come_from_the_standard_input(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert run(["contradictions", "-", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "none.jsonl"
    assert run(["contradictions", str(missing)]) == 1
    assert capsys.readouterr().err == f"cannot read {missing}: no such file or directory\n"


@pytest.mark.parametrize("threshold", ["2", "-1", "x"])
def test_a_threshold_that_is_none_is_refused(file: Path, threshold: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(["contradictions", str(file), "--threshold", threshold])


def test_an_empty_file_holds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    assert run(["contradictions", str(path)]) == 0
    assert capsys.readouterr().out == "no contradictions among 0 observations\n"


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_lone_surrogate_is_printed_as_its_escape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...]
) -> None:
    path = tmp_path / "odd.jsonl"
    texts = ("The \\ud800 gateway listens on port 7070.", "The \\ud800 gateway listens on port 9090.")
    path.write_text("\n".join(f'{{"id": {n}, "content": "{text}"}}' for n, text in enumerate(texts)), encoding="utf-8")
    assert run(["contradictions", str(path), *flags]) == 0
    out = capsys.readouterr().out
    assert out.encode("utf-8")
    assert "9090" in out


def test_nothing_in_a_file_is_obeyed_by_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hostile.jsonl"
    texts = ("The gateway\x1b[2J listens on port 7070.", "The gateway\x1b[2J listens on port 9090.")
    path.write_text("\n".join(json.dumps({"id": f"\x1b]0;{n}", "content": text}) for n, text in enumerate(texts)))
    assert run(["contradictions", str(path)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"\x1b]0;1: The gateway\x1b[2J listens on port 9090." in out

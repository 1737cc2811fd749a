"""``python -m jobs pins``: what it prints, and by which exit code a platform's checks go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from analysis.inspector.pins import to_json
from jobs.__main__ import run
from queries.pins import MOST, Pin, expectations
from tests.jobs.command import jobs
from tests.retrieval.planted import QUESTION, plant

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from tests.conftest import Cluster
    from tests.retrieval.planted import Planted

    Owner = psycopg.Connection[Any]

NOBODY = str(UUID(int=77))


@pytest.fixture
def planted(cluster: Cluster, store_database: str, owner: Owner, monkeypatch: pytest.MonkeyPatch) -> Planted:
    monkeypatch.setenv("DATABASE_URL", cluster.url("dash_read", store_database))
    monkeypatch.setenv("RANKSCOPE_SCORER", "lexical")
    return plant(owner)


def hold(owner: Owner, pin: Pin) -> None:
    owner.execute(
        """insert into rankscope.pins (org_id, name, query_text, expectations, created_by)
             values ('acme', %s, %s, %s, 'ada')""",
        (pin.name, pin.query, json.dumps(expectations(pin))),
    )


def test_stored_pins_that_hold(planted: Planted, owner: Owner, capsys: pytest.CaptureFixture[str]) -> None:
    hold(owner, Pin("both", QUESTION, (str(planted.ids[0]),), ((str(planted.ids[0]), str(planted.ids[4])),)))
    assert run(["pins", "--org", "acme"]) == 0
    assert capsys.readouterr().out == "holds   both\n1 of 1 pins hold\n"


def test_one_that_fails_and_one_that_cannot_be_read(
    planted: Planted, owner: Owner, capsys: pytest.CaptureFixture[str]
) -> None:
    first, last = str(planted.ids[0]), str(planted.ids[4])
    hold(owner, Pin("upside down \u202e", QUESTION, (), ((last, first),)))
    owner.execute(
        """insert into rankscope.pins (org_id, name, query_text, expectations, created_by)
             values ('acme', 'odd', 'q', '[]', 'hand')"""
    )
    assert run(["pins", "--org", "acme"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "fails   upside down \\u202e",
        f"        {last} has rank 5, below {first} at rank 1",
        "unknown odd",
        "        expectations: expected an object, found list",
        "0 of 2 pins hold",
    ]


def test_more_than_are_checked_are_told_and_end_with_1(
    planted: Planted, owner: Owner, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(MOST + 1):
        hold(owner, Pin(f"pin {number}", QUESTION, (str(planted.ids[0]),)))
    assert run(["pins", "--org", "acme"]) == 1
    *lines, unread, total = capsys.readouterr().out.splitlines()
    assert len(lines) == MOST
    assert (unread, total) == ("unread  1 more: 200 are checked at most, take some down", "200 of 201 pins hold")
    assert run(["pins", "--org", "acme", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], found["unread"], len(found["pins"])) == (False, 1, MOST)


def test_pins_of_a_file_under_a_pipeline_as_json(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pins.json"
    third = str(planted.ids[2])
    file.write_text(to_json([Pin("deep", QUESTION, (third,)), Pin("gone", QUESTION, (NOBODY,))], "acme"), "utf-8")
    ask = ["pins", "--org", "acme", "--file", str(file), "--json"]
    assert run([*ask, "--preset", "live"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["org"], found["holds"]) == ("acme", False)
    assert [(pin["name"], pin["outcome"], pin["pipeline"]) for pin in found["pins"]] == [
        ("deep", "holds", "LIVE"),
        ("gone", "fails", "LIVE"),
    ]
    assert run([*ask, "--pipeline", "Relevance~~Head~k~1"]) == 1
    assert [pin["outcome"] for pin in json.loads(capsys.readouterr().out)["pins"]] == ["fails", "fails"]


@pytest.mark.usefixtures("planted")
def test_no_pins_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["pins", "--org", "acme"]) == 0
    assert capsys.readouterr().out == "no pins to hold\n"


class TestBadInput:
    @pytest.mark.usefixtures("planted")
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--org", "nobody"], "no such organization: nobody"),
            (["--org", "with \0 nul"], "no such organization"),
            (["--org", "acme", "--preset", "BEST"], "preset: expected one of LIVE"),
            (["--org", "acme", "--pipeline", "Best"], "stage 1: expected one of"),
            (["--org", "acme", "--file", "/no/such/file"], "expected pins that can be read as text"),
            ([], "--org"),
        ],
    )
    def test_it_ends_with_2_and_says_why(
        self, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
    ) -> None:
        with pytest.raises(SystemExit) as ended:
            run(["pins", *arguments])
        assert ended.value.code == 2
        assert sentence in capsys.readouterr().err

    @pytest.mark.usefixtures("planted")
    @pytest.mark.parametrize("written", [b"{", b"\xff\xfe", b'{"rankscope_pins": 9, "pins": []}'])
    def test_a_file_that_is_none(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], written: bytes) -> None:
        file = tmp_path / "pins.json"
        file.write_bytes(written)
        with pytest.raises(SystemExit) as ended:
            run(["pins", "--org", "acme", "--file", str(file)])
        assert ended.value.code == 2
        assert "expected" in capsys.readouterr().err

    def test_a_store_that_is_away(self) -> None:
        done = jobs("pins", "--org", "acme", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("The database cannot be reached.")

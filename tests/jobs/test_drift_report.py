"""``python -m jobs drift-report`` and ``verify-bundle``: exactly the filtered set, on record, or one sentence."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import find_alerts, read_alerts
from jobs.__main__ import run
from jobs.drift_report import FORMS, KINDS, STATES
from queries.engine import Store, make_engine
from queries.scope import Reach, Scope
from ranking.contradictions import Kind
from reports.formats import FORMATS, WRITERS
from reports.spreadsheet import restored
from tests.hostile import MARKDOWN, MARKUP, SPREADSHEET
from tests.jobs.command import jobs
from tests.reports.planted import TODAY, plant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analysis.drift.alerts import Alert
    from tests.conftest import Cluster

HOSTILE = ("=1+1", "\u202egateway", "a 中 gateway", *MARKUP[:3], *MARKDOWN[:2], *SPREADSHEET[:2])


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    """Two organizations with contradictions; the first one's texts are hostile, the second's canaries."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner, "org_a", HOSTILE)
        plant(owner, "org_b", ["CANARY-B"], first=1_000)
    yield name
    cluster.drop(name)


@pytest.fixture
def settings(cluster: Cluster, database: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The read and the write login of the store, for this process and for one of its own."""
    chosen = {
        "DATABASE_URL": cluster.plain_url("dash_read", database),
        "RANKSCOPE_WRITE_URL": cluster.plain_url("dash_write", database),
    }
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    return chosen


def expected(cluster: Cluster, database: str, wanted: AlertFilter) -> list[Alert]:
    store = Store(make_engine(cluster.url("dash_read", database), name="test"))
    last = TODAY.date()
    scope = Scope.of_days(Reach(("org_a",)), last - timedelta(days=29), last, "org_a")
    found = list(read_alerts(store, scope, find_alerts(store, scope, wanted)))
    store.close()
    return found


def recorded(cluster: Cluster, database: str) -> list[tuple[Any, ...]]:
    return cluster.run(
        "select org_id, kind, format, rows, file_name, filter ->> 'sha256', actor from rankscope.exports order by id",
        database,
    )


def test_a_bundle_is_the_filtered_set_the_same_every_time_and_on_record(
    cluster: Cluster, database: str, settings: dict[str, str], tmp_path: Path
) -> None:
    files = [tmp_path / "one.zip", tmp_path / "two.zip"]
    for file, seed in zip(files, ("1", "2"), strict=True):
        made = jobs(
            "drift-report", "--org", "org_a", "--format", "bundle", "--out", str(file), **settings, PYTHONHASHSEED=seed
        )
        assert (made.returncode, made.stdout) == (0, "")
        assert made.stderr.splitlines()[-1] == f"{len(HOSTILE)} alerts written"
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.zip", "two.zip"]
    alerts = expected(cluster, database, AlertFilter(0.5))
    with zipfile.ZipFile(files[0]) as archive:
        told = json.loads(archive.read("alerts.json"))
        rows = list(csv.DictReader(io.StringIO(archive.read("alerts.csv").decode("utf-8-sig"), newline="")))
        asked = archive.read("queries.sql").decode()
        whole = b"".join(archive.read(name) for name in archive.namelist())
    assert [one["older"]["content"] for one in told["alerts"]] == [one.older.content for one in alerts]
    assert [restored(row["newer_content"]) for row in rows] == [one.newer.content for one in alerts]
    assert len(alerts) == len(HOSTILE)
    assert '"org_a"' in asked
    assert "FROM observations" in asked
    assert b"CANARY" not in whole
    assert b"dash_read" not in whole
    first, second = recorded(cluster, database)[-2:]
    assert first[:5] == ("org_a", "drift-report", "bundle", len(HOSTILE), "one.zip")
    assert first[5] == second[5]
    assert first[6].startswith("jobs:")
    checked = jobs("verify-bundle", str(files[0]))
    assert checked.returncode == 0
    assert first[5] in checked.stdout


@pytest.mark.parametrize("form", FORMS)
def test_every_format_goes_to_the_standard_output_too(
    form: str, settings: dict[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert settings
    assert run(["drift-report", "--org", "org_a", "--format", form, "--out", "-"]) == 0
    content = capfdbinary.readouterr().out
    begins = {"csv": b"\xef\xbb\xbf", "json": b"{", "jsonld": b"{", "md": b"# Drift report", "html": b"<!DOCTYPE html>"}
    assert content.startswith(begins.get(form, b"%PDF-" if form == "pdf" else b"PK"))
    assert b"CANARY" not in content


@pytest.mark.parametrize(
    ("arguments", "wanted", "count"),
    [
        (("--kind", "negation"), AlertFilter(0.5, kinds=frozenset({Kind.NEGATION})), None),
        (("--state", "resolved", "--state", "snoozed"), AlertFilter(0.5, states=frozenset({"resolved", "snoozed"})), 0),
        (("--agent", "agent-0"), AlertFilter(0.5, agents=frozenset({"agent-0"})), len(HOSTILE)),
        (("--least-severity", "40"), AlertFilter(0.5, least_severity=40.0), None),
        (("--threshold", "1"), AlertFilter(1.0), None),
        (("--since", f"{TODAY - timedelta(days=50):%Y-%m-%d}"), None, 2),
    ],
    ids=["kind", "states", "agent", "severity", "threshold", "since"],
)
def test_a_choice_is_the_librarys(  # noqa: PLR0917 - fixtures and a case
    cluster: Cluster, database: str, settings: dict[str, str], tmp_path: Path, arguments: tuple[str, ...],
    wanted: AlertFilter | None, count: int | None,
) -> None:  # fmt: skip
    assert settings
    out = tmp_path / "out.json"
    assert run(["drift-report", "--org", "org_a", *arguments, "--format", "json", "--out", str(out)]) == 0
    told = [one["fingerprint"] for one in json.loads(out.read_bytes())["alerts"]]
    if wanted is not None:
        assert told == [one.fingerprint for one in expected(cluster, database, wanted)]
    if count is not None:
        assert len(told) == count


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--org", "org_nobody"), "no such organization: org_nobody"),
        (("--org", "a\x1b[31m"), "no such organization: a\\x1b[31m"),
        (("--org", "org_a", "--project", "none"), "no such project in org_a: none"),
        (("--org", "org_a", "--from", "2026-02-02", "--until", "2026-02-01"), "expected a first day that is not after"),
        (("--org", "org_a", "--until", "9999-12-31"), "expected a last day from 0001-01-31 to 9999-12-01, found 9999"),
        (("--org", "org_a", "--until", "0001-01-02"), "expected a last day from 0001-01-31 to 9999-12-01, found 0001"),
    ],
    ids=["organization", "controls", "project", "window", "the last day", "the first day"],
)
def test_what_cannot_be_is_one_sentence_and_no_file(
    arguments: tuple[str, ...], sentence: str, settings: dict[str, str], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert settings
    assert run(["drift-report", *arguments, "--format", "csv", "--out", str(tmp_path / "x.csv")]) == 1
    assert capsys.readouterr().err.startswith(sentence)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("severity", ["nan", "inf", "-1", "100.5", "high"])
def test_a_severity_is_a_number_from_0_to_100(severity: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["drift-report", "--org", "org_a", f"--least-severity={severity}", "--format", "csv", "--out", "-"])
    assert "argument --least-severity: invalid" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_one_sentence(
    settings: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings
    out = tmp_path / "nowhere" / "x.csv"
    assert run(["drift-report", "--org", "org_a", "--format", "csv", "--out", str(out)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"cannot write {out}: no such file or directory"


def test_a_store_that_takes_no_record_is_told_of(
    settings: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings
    monkeypatch.delenv("RANKSCOPE_WRITE_URL")
    assert run(["drift-report", "--org", "org_a", "--format", "csv", "--out", str(tmp_path / "x.csv")]) == 0
    assert "not recorded: no login that may write is configured" in capsys.readouterr().err


def test_a_record_that_fails_leaves_no_file(
    cluster: Cluster, database: str, settings: dict[str, str], tmp_path: Path
) -> None:
    assert settings
    cluster.run("revoke insert on rankscope.exports from dash_write", database)
    try:
        assert run(["drift-report", "--org", "org_a", "--format", "csv", "--out", str(tmp_path / "x.csv")]) == 1
    finally:
        cluster.run("grant insert on rankscope.exports to dash_write", database)
    assert list(tmp_path.iterdir()) == []


def test_verify_bundle_names_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoiled = tmp_path / "x.zip"
    with zipfile.ZipFile(spoiled, "w") as archive:
        archive.writestr("manifest.json", '{"members": {"a.csv": {"bytes": 1, "sha256": "x"}}}')
        archive.writestr("b\x1b[31m.csv", "x")
    assert run(["verify-bundle", str(spoiled)]) == 1
    said = capsys.readouterr().out
    assert "'a.csv' missing" in said
    assert "added: a bundle has no member of such a name" in said
    # the seal, five members that the manifest does not name, one that is not there, one that was added
    assert "alerts.csv missing: the manifest does" in said
    assert "NOT as it was made: 8 differences" in said
    assert "\x1b" not in said
    assert run(["verify-bundle", str(tmp_path / "none.zip")]) == 1
    assert "no such file" in capsys.readouterr().err
    spoiled.write_bytes(b"nothing")
    assert run(["verify-bundle", str(spoiled)]) == 1
    assert capsys.readouterr().err == "expected a bundle, found a file that is no whole zip archive\n"


def test_the_command_knows_every_format_kind_and_state() -> None:
    from typing import get_args  # noqa: PLC0415 - of this test alone

    from analysis.drift.alerts import State  # noqa: PLC0415

    assert tuple(WRITERS) == tuple(FORMATS) == FORMS
    assert {kind.value for kind in Kind} == set(KINDS)
    assert set(get_args(State)) == set(STATES)

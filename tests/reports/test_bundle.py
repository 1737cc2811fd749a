"""The evidence bundle: sealed, the same bytes for the same input, and nothing can be changed unnoticed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from reports.bundle import MANIFEST, MEMBERS, README, seal, sql, write_bundle
from reports.spreadsheet import restored
from reports.verifying import BundleError, verify
from tests.hostile import QUERY, TEXTS
from tests.jobs.command import ROOT
from tests.reports.alerts import about, alerts, hostile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Members = dict[str, bytes]


@dataclass
class Asked:
    text: str
    parameters: dict[str, object] = field(default_factory=dict)
    times: int = 1


STATEMENTS = (Asked("select 1 where org = %(org)s", {"org": "a\n; drop table x"}), Asked("select 2", {}, 5))


def bundle() -> bytes:
    out = io.BytesIO()
    write_bundle(iter([*alerts(30), *hostile(TEXTS)]), about(statements=lambda: STATEMENTS), out)
    return out.getvalue()


def members(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: Members, comment: bytes | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = seal(parts[MANIFEST]) if comment is None else comment
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def differences(content: bytes) -> tuple[str, ...]:
    return verify(io.BytesIO(content)).differences


@pytest.fixture(scope="module")
def made() -> bytes:
    return bundle()


class TestContent:
    def test_every_member_has_the_hash_and_length_of_the_manifest(self, made: bytes) -> None:
        parts = members(made)
        manifest = json.loads(parts[MANIFEST])
        assert tuple(parts) == (MANIFEST, *MEMBERS)
        assert manifest["members"] == {
            name: {"bytes": len(parts[name]), "sha256": hashlib.sha256(parts[name]).hexdigest()} for name in MEMBERS
        }

    def test_the_manifest_says_what_was_asked_of_which_data(self, made: bytes) -> None:
        manifest = json.loads(members(made)[MANIFEST])
        assert manifest["parameters"]["organization"] == "org_a"
        assert (manifest["as_of"], manifest["data_version"]) == ("2026-03-29", "0123456789abcdef")
        assert manifest["counts"]["alerts"] == 30 + len(TEXTS)
        assert manifest["permalink"] == "/drift_alerts?org=org_a"
        assert manifest["opposition_pairs"] == {"digest": "feed00c0ffee1234", "number": 7, "defaults": False}
        assert set(manifest["versions"]) >= {"python", "report_format", "SQLAlchemy"}
        assert manifest["versions"]["rankscope"] == "12.3.4"
        assert (manifest["versions"]["zlib"], manifest["versions"]["detector"]) == (zlib.ZLIB_RUNTIME_VERSION, "d 7")

    def test_csv_and_json_hold_every_alert_and_the_page_is_there(self, made: bytes) -> None:
        parts, some = members(made), [*alerts(30), *hostile(TEXTS)]
        rows = csv.DictReader(io.StringIO(parts["alerts.csv"].decode("utf-8-sig"), newline=""))
        assert [restored(row["newer_content"]) for row in rows] == [one.newer.content for one in some]
        told = json.loads(parts["alerts.json"])["alerts"]
        assert [one["fingerprint"] for one in told] == [one.fingerprint for one in some]
        assert parts["report.html"].startswith(b"<!DOCTYPE html>")

    def test_the_sql_has_its_parameters_apart_and_no_value_leaves_its_comment(self, made: bytes) -> None:
        text = members(made)["queries.sql"].decode()
        assert '-- org = "a\\n; drop table x"\nselect 1 where org = %(org)s;' in text
        assert "-- 2. asked 5 times, first with these parameters\nselect 2;" in text
        values: dict[str, object] = {f"p{at}": value for at, value in enumerate((*QUERY, *TEXTS))}
        for line in sql([Asked("select 3", values)]).splitlines():
            assert line.startswith("-- ") or line in ("", "select 3;")

    def test_the_readme_names_every_file_and_how_to_check_it_by_hand(self, made: bytes) -> None:
        text = members(made)[README].decode()
        assert all(f"\n{name} " in text for name in (MANIFEST, *MEMBERS) if name != README)
        assert "python -m jobs verify-bundle FILE" in text
        assert f"sha256sum {' '.join(MEMBERS)}" in text
        assert text.isascii()


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="as the readme says, where there is one")
def test_what_the_readme_says_can_be_done_by_hand(made: bytes, tmp_path: Path) -> None:
    for name, content in members(made).items():
        (tmp_path / name).write_bytes(content)
    lines = (tmp_path / README).read_text().splitlines()
    command = next(line.split() for line in lines if "sha256sum report" in line)
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    manifest = json.loads((tmp_path / MANIFEST).read_bytes())
    found = {name: digest for digest, name in (line.split() for line in said.splitlines())}
    assert found == {name: one["sha256"] for name, one in manifest["members"].items()}


class TestSameBytes:
    def test_two_processes_with_other_clocks_hashes_and_names_make_the_same(self) -> None:
        """Byte-identical: neither set order, nor time, nor zone, nor who runs it shows."""
        code = (
            "import sys, time; clock = time.time; time.time = lambda: clock() + float(sys.argv[1]); "
            "from tests.reports.test_bundle import bundle; sys.stdout.buffer.write(bundle())"
        )
        made = []
        for seed, zone, user in (("1", "UTC", "ann"), ("2", "Asia/Kathmandu", "bob")):
            variables = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "USER": user, "LOGNAME": user}
            variables |= {"SOURCE_DATE_EPOCH": seed}
            late = str(1e8 * int(seed))
            run = subprocess.run(
                [sys.executable, "-c", code, late], cwd=ROOT, env=variables, capture_output=True, check=True
            )
            made.append(run.stdout)
        assert made[0] == made[1]
        assert differences(made[0]) == ()

    def test_no_member_carries_a_date_of_its_making(self, made: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def _flip(content: bytes) -> bytes:
    return content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]


def _restated(parts: Members, name: str) -> bytes:
    manifest = json.loads(parts[MANIFEST])
    manifest["members"][name]["sha256"] = hashlib.sha256(parts[name]).hexdigest()
    return json.dumps(manifest).encode()


class TestVerify:
    def test_a_bundle_as_it_was_made_is_whole(self, made: bytes) -> None:
        checked = verify(io.BytesIO(made))
        assert (checked.differences, checked.members) == ((), 6)
        assert checked.sha256 == hashlib.sha256(made).hexdigest()

    def test_a_bundle_of_the_format_before_needs_no_readme(self, made: bytes) -> None:
        parts = members(made)
        del parts[README]
        manifest = json.loads(parts[MANIFEST])
        del manifest["members"][README]
        for version, found in ((1, ()), (2, (f"{README} missing: the manifest does not name it",))):
            parts[MANIFEST] = json.dumps(manifest | {"format_version": version}).encode()
            assert differences(packed(parts)) == found

    @pytest.mark.parametrize("name", MEMBERS)
    def test_a_changed_member_is_named(self, made: bytes, name: str) -> None:
        parts = members(made)
        parts[name] = _flip(parts[name])
        (found,) = differences(packed(parts))
        assert found.startswith(f"{name} changed: expected sha256")

    @pytest.mark.parametrize("name", MEMBERS)
    def test_a_missing_member_is_named(self, made: bytes, name: str) -> None:
        parts = members(made)
        del parts[name]
        assert differences(packed(parts)) == (f"{name!r} missing",)

    def test_a_longer_or_shorter_member_is_named(self, made: bytes) -> None:
        parts = members(made)
        size = len(parts["alerts.csv"])
        longer, shorter = dict(parts), dict(parts)
        longer["alerts.csv"] += b"x" * 100
        shorter["alerts.csv"] = b""
        assert differences(packed(longer)) == (f"alerts.csv changed: expected {size:,} bytes, found more",)
        assert differences(packed(shorter)) == (f"alerts.csv changed: expected {size:,} bytes, found 0",)

    @pytest.mark.parametrize("name", ["extra.txt", "../../etc/passwd", "/abs", "a/b", "C:\\x", "Report.HTML", "x\ny"])
    def test_what_was_added_is_named_and_goes_nowhere(self, made: bytes, name: str) -> None:
        (found,) = differences(packed(members(made) | {name: b"x"}))
        assert "added" in found

    def test_a_member_that_is_there_twice_is_named(self, made: bytes) -> None:
        out = io.BytesIO(made)
        with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(out, "a") as archive:
            archive.writestr("alerts.csv", b"another")
        assert any("'alerts.csv' is there 2 times" in found for found in differences(out.getvalue()))

    def test_a_manifest_that_was_changed_alone_is_found_out(self, made: bytes) -> None:
        parts = members(made)
        parts[MANIFEST] = parts[MANIFEST].replace(b'"threshold": 0.5', b'"threshold": 0.6')
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            comment = archive.comment
        (found,) = differences(packed(parts, comment))
        assert found.startswith("manifest.json changed")

    def test_a_member_and_its_hash_changed_together_are_found_out_by_the_seal(self, made: bytes) -> None:
        parts = members(made)
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            comment = archive.comment
        parts["report.html"] = _flip(parts["report.html"])
        parts[MANIFEST] = _restated(parts, "report.html")
        (found,) = differences(packed(parts, comment))
        assert found.startswith("manifest.json changed")

    def test_a_bomb_is_read_no_further_than_the_manifest_says(self, made: bytes) -> None:
        parts = members(made)
        parts["alerts.csv"] = b"\0" * 50_000_000
        spoiled = packed(parts)
        del parts
        tracemalloc.start()
        (found,) = differences(spoiled)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found.endswith("found more")
        assert most < 5_000_000

    @pytest.mark.parametrize(
        ("spoil", "sentence"),
        [
            (lambda _: b"", "no whole zip archive"),
            (lambda _: b"PK\x05\x06 not really", "no whole zip archive"),
            (lambda made: made[: len(made) // 2], "no whole zip archive"),
            (lambda _: packed({MANIFEST: b"{}"} | {f"m{n}": b"" for n in range(64)}), "at most 64 members"),
            (lambda _: packed({MANIFEST: b"[1]"}), "found none"),
            (lambda _: packed({MANIFEST: b"[" * 100_000}), "found something else"),
            (lambda _: packed({MANIFEST: b" " * (2 << 20)}), "found a larger one"),
            (lambda _: packed({"x": b""}, b""), "expected one manifest.json, found 0"),
        ],
        ids=["empty", "end only", "half", "many", "list", "deep", "large", "none"],
    )  # fmt: skip
    def test_what_is_no_bundle_is_refused_in_a_sentence(
        self, made: bytes, spoil: Callable[[bytes], bytes], sentence: str
    ) -> None:
        with pytest.raises(BundleError, match=sentence):
            verify(io.BytesIO(spoil(made)))

    @pytest.mark.parametrize("name", [MANIFEST, *MEMBERS])
    def test_every_single_byte_counts(self, made: bytes, name: str) -> None:
        """Flip one byte in each of 80 places of a packed member: it alone differs, or the manifest is refused."""
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            info = archive.getinfo(name)
        # a local header has 30 bytes, then a name and an extra field, whose lengths are its last four
        start = info.header_offset
        start += 30 + sum(int.from_bytes(made[start + at : start + at + 2], "little") for at in (26, 28))
        for place in range(start, start + info.compress_size, max(info.compress_size // 80, 1)):
            spoiled = made[:place] + bytes([made[place] ^ 0xFF]) + made[place + 1 :]
            if name == MANIFEST:
                with pytest.raises(BundleError):
                    differences(spoiled)
            else:
                (found,) = differences(spoiled)
                assert found.startswith(f"{name} changed: "), place

    @pytest.mark.parametrize("names", [(), MEMBERS[:3], MEMBERS[1:]], ids=["none", "three", "no page"])
    def test_a_manifest_that_leaves_members_out_is_found_out_however_sealed(
        self, made: bytes, names: tuple[str, ...]
    ) -> None:
        parts = members(made)
        manifest = json.loads(parts[MANIFEST])
        manifest["members"] = {name: manifest["members"][name] for name in names}
        kept = {MANIFEST: json.dumps(manifest).encode()} | {name: parts[name] for name in names}
        left_out = sorted(set(MEMBERS) - set(names))
        assert differences(packed(kept)) == tuple(f"{name} missing: the manifest does not name it" for name in left_out)

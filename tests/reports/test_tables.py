"""CSV, JSON and JSON-LD: read back they are the alerts, whatever these say."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.fields import COLUMNS, SIDE, TRIAGE
from reports.linked import CONTEXT
from reports.spreadsheet import harmless, restored
from reports.tables import write_csv, write_json, write_jsonld
from tests.hostile import TEXTS
from tests.reports.alerts import about, alert, alerts, hostile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analysis.drift.alerts import Alert

NUL = "a\0b"
DANGEROUS = ("=", "+", "-", "@", "|", "%", "\t", "\r", "\n")


def written(write: Callable[..., None], some: Iterable[Alert]) -> bytes:
    out = io.BytesIO()
    write(iter(list(some)), about(), out)
    return out.getvalue()


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def expected(one: Alert) -> dict[str, Any]:
    """An alert as an object, spelled out a second time: field by field, from the value itself."""
    sides = {
        name: {
            "id": side.id,
            "agent_id": side.agent_id,
            "session_id": side.session_id,
            "created_at": side.created_at.isoformat() if side.created_at else None,
            "weight": side.weight,
            "members": side.members,
            "agents": side.agents,
            "injected": side.injected,
            "content_hash": side.content_hash,
            "content": side.content,
        }
        for name, side in (("older", one.older), ("newer", one.newer))
    }
    return {
        "org_id": one.org_id,
        "project_id": one.project_id,
        "fingerprint": one.fingerprint,
        "kind": one.kind.value,
        "rule": one.rule,
        "overlap": one.overlap,
        "severity": one.severity,
        "severity_parts": dict(one.parts),
        "harm": one.harm,
        "both_injected": one.both_injected,
        "triage": {
            "state": one.triage.state,
            "verdict": one.triage.verdict,
            "owner": one.triage.owner,
            "note": one.triage.note,
            "snoozed_until": None,
            "version": one.triage.version,
            "changed_by": one.triage.changed_by,
            "changed_at": one.triage.changed_at.isoformat() if one.triage.changed_at else None,
        },
        **sides,
        "evidence": [{"side": e.side, "text": e.text, "start": e.start, "end": e.end} for e in one.evidence],
    }


class TestCsv:
    def test_read_back_it_is_every_alert_in_its_order(self) -> None:
        some = [*alerts(50), *hostile((*TEXTS, NUL))]
        found = rows(written(write_csv, some))
        assert len(found) == 50 + len(TEXTS) + 1
        for row, one in zip(found, some, strict=True):
            told = expected(one)
            flat = {name: told[name] for name in COLUMNS if name in told}
            flat |= {f"triage_{name}": told["triage"][name] for name in TRIAGE}
            flat |= {f"{side}_{name}": told[side][name] for side in ("older", "newer") for name in SIDE}
            for name, value in flat.items():
                if name in ("severity_parts", "evidence"):
                    assert json.loads(restored(row[name])) == value
                else:
                    assert restored(row[name]) == ("" if value is None else str(value)), name
            assert set(row) == set(flat) == set(COLUMNS)

    def test_it_starts_with_the_mark_of_utf8_and_ends_its_lines_as_spreadsheets_do(self) -> None:
        content = written(write_csv, [])
        assert content == b"\xef\xbb\xbf" + ",".join(f'"{name}"' for name in COLUMNS).encode() + b"\r\n"

    def test_no_cell_would_be_run(self) -> None:
        for line in csv.reader(io.StringIO(written(write_csv, hostile(TEXTS)).decode("utf-8-sig"), newline="")):
            for cell in line:
                bare = cell.lstrip(' "\ufeff\u200b')
                assert not bare.startswith(DANGEROUS), cell

    def test_half_a_surrogate_pair_is_written_as_its_escape(self) -> None:
        assert rows(written(write_csv, [alert(rule="\ud800")]))[0]["rule"] == "\\ud800"

    @given(
        st.text(max_size=12), st.sampled_from(("", "'", '"', " ", "\ufeff", "''")), st.sampled_from(("", *DANGEROUS))
    )
    def test_what_was_made_harmless_is_restored(self, rest: str, before: str, sign: str) -> None:
        """HOS-4."""
        text = f"{before}{sign}{rest}"
        assert restored(harmless(text)) == text


class TestJson:
    def test_read_back_it_is_every_alert_and_what_was_asked(self) -> None:
        some = [*alerts(20), *hostile((*TEXTS, NUL, "\ud800"))]
        told = json.loads(written(write_json, some))
        assert told["alerts"] == [expected(one) for one in some]
        assert told["count"] == len(some)
        assert told["about"]["parameters"]["threshold"] == 0.5
        assert (told["about"]["as_of"], told["about"]["data_version"]) == ("2026-03-29", "0123456789abcdef")

    def test_without_alerts_it_is_still_json(self) -> None:
        assert json.loads(written(write_json, []))["alerts"] == []

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
    def test_a_number_that_is_none_is_null(self, value: float) -> None:
        odd = alert(harm=value)
        odd = replace(odd, older=replace(odd.older, weight=value))
        told = json.loads(written(write_json, [odd]), parse_constant=pytest.fail)["alerts"][0]
        assert (told["harm"], told["older"]["weight"]) == (None, None)


class TestLinkedData:
    def test_every_key_is_a_term_of_the_context_inside_the_file(self) -> None:
        told = json.loads(written(write_jsonld, hostile(TEXTS)))
        assert told["@context"] == CONTEXT
        assert (told["as_of"], CONTEXT["as_of"]) == ("2026-03-29", {"@id": "dcterms:date", "@type": "xsd:date"})
        opaque = {name for name, term in CONTEXT.items() if isinstance(term, dict) and term.get("@type") == "@json"}
        seen = set()

        def walk(node: object) -> None:
            if isinstance(node, list):
                for each in node:
                    walk(each)
            elif isinstance(node, dict):
                for name, value in node.items():
                    seen.add(name)
                    if name not in opaque and name != "@context":
                        walk(value)

        walk(told)
        assert seen - {"@context"} <= set(CONTEXT)

    def test_the_context_names_nothing_that_would_have_to_be_fetched(self) -> None:
        assert isinstance(CONTEXT, dict)
        assert "@import" not in CONTEXT
        for term in CONTEXT.values():
            name = str(term["@id"] if isinstance(term, dict) else term)
            known = name.startswith(("@", "urn:", "http://www.w3.org/", "http://purl.org/dc/terms/"))
            assert known or name == "1.1" or name.split(":", maxsplit=1)[0] in CONTEXT

    def test_read_back_it_is_every_alert(self) -> None:
        some = hostile(TEXTS)
        told = json.loads(written(write_jsonld, some))
        assert told["count"] == len(told["alerts"]) == len(some)
        for node, one in zip(told["alerts"], some, strict=True):
            assert node["older"]["content"] == one.older.content
            assert node["newer"]["observation_id"] == one.newer.id
            assert node["newer"]["id"] == f"urn:uuid:{one.newer.id}"
            assert node["triage"]["note"] == one.triage.note
            assert [(e["start"], e["end"], e["text"]) for e in node["evidence"]] == [
                (e.start, e.end, e.text) for e in one.evidence
            ]

    def test_an_id_that_is_no_uuid_is_escaped_into_a_name(self) -> None:
        odd = alert()
        told = json.loads(written(write_jsonld, [replace(odd, older=replace(odd.older, id="a b/é"))]))
        assert told["alerts"][0]["older"]["id"] == "urn:rankscope:observation:a%20b%2F%C3%A9"

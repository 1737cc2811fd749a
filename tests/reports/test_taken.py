"""Who took a PDF and when, in it; which states call for someone; parts of severity that can be read."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pypdfium2
import pytest

from analysis.drift.alerts import Triage
from reports import pdf
from reports.about import Taken
from reports.html_page import write_html
from reports.pdf import write_pdf
from reports.texts import parts
from tests.reports.alerts import about, alert, alerts

if TYPE_CHECKING:
    from analysis.drift.alerts import Alert, State

AT = datetime(2026, 3, 29, 23, 5, 59, tzinfo=UTC)
SHADES = {
    "new": ("severe", "open"),
    "acknowledged": ("quiet", "seen"),
    "investigating": ("quiet", "seen"),
    "snoozed": ("quiet", "seen"),
    "resolved": ("settled", "settled"),
    "false positive": ("settled", "settled"),
}


def set_in_type(**fields: Any) -> bytes:  # noqa: ANN401 - About's own
    out = io.BytesIO()
    write_pdf(alerts(3), about(**fields), out)
    return out.getvalue()


def pages(content: bytes) -> list[str]:
    found = (page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(content))
    return [" ".join(text.split()) for text in found]


def test_who_took_it_and_when_stand_on_the_first_page_and_the_hour_on_every_one() -> None:
    found = about().found
    first, *rest = pages(set_in_type(taken=Taken("ann\u202e <b>", AT)))
    assert f"As of {found.as_of.astimezone(UTC):%Y-%m-%d %H:%M} UTC" in first
    assert "Taken 2026-03-29 23:05 UTC by ann" in first
    assert rest
    assert all("taken 2026-03-29 23:05 UTC by ann" in page for page in (first, *rest))


def test_a_moment_is_told_in_utc_whatever_its_zone() -> None:
    there = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert set_in_type(taken=Taken("ann", there)) == set_in_type(taken=Taken("ann", AT))


def test_where_nobody_is_known_the_bytes_are_of_the_data_alone() -> None:
    later = replace(about().found, as_of=about().found.as_of.replace(minute=59))
    assert set_in_type() == set_in_type(found=later)
    assert not [page for page in pages(set_in_type()) if "aken 2026" in page]
    assert set_in_type(taken=Taken("ann", AT)) != set_in_type()


def standing(state: State) -> Alert:
    return alert(1, triage=Triage(state))


@pytest.mark.parametrize("state", SHADES)
def test_what_someone_looked_at_is_not_in_the_colour_of_alarm(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []

    def kept(text: str) -> bytes:
        given.append(json.loads(text))
        return b""

    monkeypatch.setattr(pdf, "typeset", kept)
    write_pdf(iter([standing(state)]), about(), io.BytesIO())
    page = io.BytesIO()
    write_html(iter([standing(state)]), about(), page)
    shade, name = SHADES[state]
    assert given[0]["alerts"][0]["shade"] == shade
    assert f'class="state {name}">{state}<' in page.getvalue().decode()


def test_parts_of_severity_have_two_digits() -> None:
    found = alert(1, parts=(("recency", 0.9), ("gap", 0.00772), ("domain", float("nan"))))
    assert parts(found).endswith(" from recency 0.90 · confidence gap 0.01 · domain —")

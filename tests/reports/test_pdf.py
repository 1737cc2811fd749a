"""PDF: real text, every statement, whatever it is made of; the same bytes for the same alerts."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import pypdfium2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from reports.glyphs import families, printed
from reports.pdf import LONGEST, SHOWN, PdfError, PdfSink, _document, typeset, write_pdf
from tests.hostile import TEXTS
from tests.reports.alerts import about, alert, alerts, hostile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.alerts import Alert

# A page's text has its lines apart, and a reader takes a hyphen at their end for one that only breaks the word.
SOFT = re.compile("[\\s\u200b\ufffe-]+")

ARCHIVABLE = b"pdfaid:part"


def written(some: Iterable[Alert], subject: str = "Alder & Sons") -> bytes:
    out = io.BytesIO()
    write_pdf(iter(list(some)), about(org_name=subject), out)
    return out.getvalue()


def bare(text: str) -> str:
    return SOFT.sub("", text)


def text_of(content: bytes) -> str:
    document = pypdfium2.PdfDocument(content)
    return "".join(page.get_textpage().get_text_range() for page in document)


def test_read_back_it_is_every_statement_as_text() -> None:
    some = [
        *alerts(5),
        *hostile([text for text in TEXTS if text.isascii() and text.isprintable() and len(text) < LONGEST]),
    ]
    found = bare(text_of(written(some)))
    for one in some:
        for text in (one.older.content, one.newer.content, one.fingerprint, one.rule, one.older.id, one.triage.note):
            assert bare(printed(text)) in found, text


def test_what_no_font_has_stands_there_by_its_number() -> None:
    found = bare(text_of(written([alert(older="中 always \0 👩", newer="never \u202eevil")])))
    for number in ("4E2D", "0000", "1F469", "202E"):
        assert f"⟦U+{number}⟧" in found
    assert "evil" in found


@pytest.mark.parametrize(
    "texts", [TEXTS, ("a\0b", "\ud800", "e" + "\u0301" * 500, "\n" * 500, "\u0627" * 400, "\u180e", "\u0e01\u0e33")]
)
def test_hostile_texts_are_set_in_type(texts: tuple[str, ...]) -> None:
    content = written(hostile(texts), subject=texts[-1])
    document = PdfReader(io.BytesIO(content))
    assert len(document.pages) > len(texts) // 5
    assert b"/OpenAction" not in content
    assert not any("/Annots" in page for page in document.pages)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=30), min_size=1, max_size=12))
def test_any_text_is_set_in_type(texts: list[str]) -> None:
    assert ARCHIVABLE in written(hostile(texts))


def test_the_fonts_have_what_the_table_says() -> None:
    """A character that a font lacks would be refused by the archive's rules."""
    known = "".join(sorted(set.union(*map(set, families()))))
    content = written([alert(older=known[at : at + 1_900], newer="never") for at in range(0, len(known), 1_900)])
    assert ARCHIVABLE in content
    assert ARCHIVABLE not in typeset(_with("\u4e2d")), (
        "a letter that no font has is set all the same, but not archivable"
    )


def _with(letter: str) -> str:
    sink = PdfSink(about(), io.BytesIO())
    sink.add(alert())
    given = _document(sink.about, sink.summary, sink.alerts)
    return json.dumps(given | {"subject": letter})


def test_a_typesetter_that_fails_is_a_sentence() -> None:
    with pytest.raises(PdfError, match="take the HTML report"):
        typeset("{}")


def test_the_same_alerts_give_the_same_bytes_without_a_clock() -> None:
    first, again = (written(alerts(30)) for _ in range(2))
    assert first == again
    told = PdfReader(io.BytesIO(first)).metadata
    assert told is not None
    assert told.creation_date is not None
    assert f"{told.creation_date:%Y-%m-%d %H:%M:%S}" == "2026-03-29 00:00:00"


def test_pages_are_numbered_and_the_worst_shown() -> None:
    content = written(alerts(SHOWN + 5))
    pages = [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(content)]
    assert all(f"Page {number} of {len(pages)}" in text for number, text in enumerate(pages, 1))
    for page in pages[:2]:
        assert f"The {SHOWN} most harmful of {SHOWN + 5} alerts are shown here" in bare_lines(page)
    assert f"Alerts\r\n{SHOWN + 5}" in pages[0] or str(SHOWN + 5) in pages[0]
    assert len(content) < 5_000_000


def bare_lines(text: str) -> str:
    return " ".join(text.split())


def test_nothing_found_is_said() -> None:
    assert "No alert passed the choice above." in bare_lines(text_of(written([])))

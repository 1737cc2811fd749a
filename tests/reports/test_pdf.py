"""PDF: real text, every statement, whatever it is made of; the same bytes for the same alerts."""

from __future__ import annotations

import hashlib
import io
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pypdfium2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from analysis.drift.alerts import Triage
from ranking import Evidence
from reports.glyphs import BREAK, families, printed
from reports.joining import Joined
from reports.pdf import LARGEST, LONGEST, PART, PdfError, _front, _head, typeset, write_pdf
from reports.summary import Summary
from tests.hostile import TEXTS
from tests.reports.alerts import about, alert, alerts, hostile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pypdf import PageObject

    from analysis.drift.alerts import Alert

# A page's text has its lines apart, and a reader takes a hyphen at their end for one that only breaks the word.
SOFT = re.compile("[\\s\ufffe-]+")

ARCHIVABLE = b"pdfaid:part"
MARGIN, INSET = 20 * 72 / 25.4, 9  # points beside the text, and inside the frame of an alert


def written(some: Iterable[Alert], subject: str = "Alder & Sons") -> bytes:
    out = io.BytesIO()
    write_pdf(iter(list(some)), about(org_name=subject), out)
    return out.getvalue()


def bare(text: str) -> str:
    return SOFT.sub("", text)


def text_of(content: bytes) -> str:
    document = pypdfium2.PdfDocument(content)
    return "".join(page.get_textpage().get_text_range() for page in document)


def copied(content: bytes) -> tuple[str, str]:
    """The text that two readers find in it."""
    return text_of(content), "".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def test_read_back_it_is_every_statement_as_text() -> None:
    some = [
        *alerts(5),
        *hostile([text for text in TEXTS if text.isascii() and text.isprintable() and len(text) < LONGEST]),
    ]
    found = bare(text_of(written(some)))
    for one in some:
        for text in (one.older.content, one.newer.content, one.fingerprint, one.rule, one.older.id, one.triage.note):
            assert bare(printed(text).replace(BREAK, "")) in found, text


def test_an_id_is_copied_as_it_is() -> None:
    """Wherever it stands, also where it is what the finding rests on; nothing unseen in it, no line end within."""
    job, run, digest = str(UUID(int=7**40)), str(UUID(int=3**80)), hashlib.sha256(b"image").hexdigest()
    older = f"Job {job} always runs after {run} of 2026, and so it is {job} that runs."
    one = alert(older=older, newer=f"Never run {job}.", project_id=job)
    one = replace(
        one,
        evidence=(Evidence("older", job, 4, 40), *one.evidence),
        older=replace(one.older, session_id=run, agent_id=digest),
        triage=Triage("resolved", "both", job, f"see {run} and {digest}", None, 3, run, one.newer.created_at),
    )
    for text in copied(written([one])):
        # in both texts three times, as project and as owner; in one, as session, in the note and who changed it
        assert (text.count(job), text.count(run)) == (5, 4)
        assert all(text.count(id_) == 1 for id_ in (one.fingerprint, one.older.id, one.newer.id))
        assert "".join(text.split()).count(digest) == 2  # the agent's goes on in a second line
        assert BREAK not in text


def test_words_that_never_end_end_where_their_column_does() -> None:
    page = pypdfium2.PdfDocument(written([alert(newer=f"never {'W' * 500} {'x' * 40}")]))[1]
    text = page.get_textpage()
    edges = [text.get_charbox(at)[2] for at in range(text.count_chars()) if text.get_text_range(at, 1) == "W"]
    assert len(edges) == 500
    assert max(edges) <= page.get_width() - MARGIN - INSET
    assert "x" * 40 in text.get_text_range()


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
    front = _head(about()) | _front(Summary(about().as_of))
    return json.dumps(front | {"layout": "front", "told": "", "alerts": [], "closing": "", "subject": letter})


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


def test_what_fits_into_one_part_is_one_document_with_numbered_pages() -> None:
    content = written(alerts(PART))
    pages = [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(content)]
    assert all(f"Page {number} of {len(pages)}" in text for number, text in enumerate(pages, 1))
    assert f"{PART} alerts, by harm, the highest first." in bare_lines(pages[1])
    assert b"/StructTreeRoot" in content, "tagged for readers that speak"


NUMBER = 2 * PART + 5


@pytest.fixture(scope="module")
def content() -> bytes:
    return written(alerts(NUMBER))


class TestMoreThanOnePart:
    """Too many alerts to be set at once are set in parts: the document holds every one, as if it had been one."""

    def test_every_alert_is_there_in_order_and_once(self, content: bytes) -> None:
        found = bare(text_of(content))
        places = [found.find(f"fingerprint{bare(one.fingerprint)}") for one in alerts(NUMBER)]
        assert places[0] >= 0
        assert places == sorted(set(places))
        assert found.count("fingerprint") == NUMBER

    def test_pages_are_numbered_through(self, content: bytes) -> None:
        document = pypdfium2.PdfDocument(content)
        pages = [bare_lines(page.get_textpage().get_text_range()) for page in document]
        parts = [(1, PART), (PART + 1, 2 * PART), (2 * PART + 1, NUMBER)]
        assert pages[0].endswith("Page i")
        assert f"{NUMBER} alerts, by harm, the highest first, on {len(pages) - 1} pages numbered from 1." in pages[0]
        named = [text.rpartition("Page ")[2] for text in pages[1:]]
        assert [name.split(" · ")[0] for name in named] == [str(number) for number in range(1, len(pages))]
        assert list(dict.fromkeys(name.split(" · ")[1] for name in named)) == [f"alerts {a} to {b}" for a, b in parts]
        assert [document.get_page_label(at) for at in range(3)] == ["i", "1", "2"]
        assert [text.count("Statements are shown as agents wrote them") for text in pages] == [0] * (len(pages) - 1) + [
            1
        ]

    def test_its_outline_leads_to_every_part(self, content: bytes) -> None:
        reader = PdfReader(io.BytesIO(content), strict=True)
        titles = [entry["/Title"] for entry in reader.outline]  # type: ignore[call-overload]
        assert titles == ["Summary", "Alerts 1 to 250", "Alerts 251 to 500", "Alerts 501 to 505"]
        led = [reader.get_destination_page_number(entry) for entry in reader.outline]  # type: ignore[arg-type]
        texts = [reader.pages[at or 0].extract_text() for at in led]
        assert ["1. " in texts[1], "251. " in texts[2], "501. " in texts[3]] == [True] * 3

    def test_it_is_archivable_as_its_parts_are(self, content: bytes) -> None:
        reader = PdfReader(io.BytesIO(content), strict=True)
        root = reader.trailer["/Root"]
        assert ARCHIVABLE in content
        assert f"<xmpTPg:NPages>{len(reader.pages)}</xmpTPg:NPages>".encode() in content
        assert {"/Metadata", "/OutputIntents", "/Lang"} <= set(root)  # type: ignore[call-overload]
        assert "/StructTreeRoot" not in root  # type: ignore[operator]
        assert not any("/StructParents" in page or "/Annots" in page for page in reader.pages)
        assert len(reader.trailer["/ID"]) == 2  # type: ignore[arg-type]
        fonts = {font for page in reader.pages for font in _fonts(page)}
        assert fonts
        assert all("+" in font for font in fonts), "each is embedded, as the subset that is needed"

    def test_the_same_alerts_give_the_same_bytes(self, content: bytes) -> None:
        assert written(alerts(NUMBER)) == content

    def test_long_statements_make_smaller_parts(self) -> None:
        text = "word " * (LONGEST // 5)
        count = LARGEST // (2 * LONGEST) + 3
        found = written(alert(number, older=text, newer=text) for number in range(count))
        titles = [entry["/Title"] for entry in PdfReader(io.BytesIO(found)).outline]  # type: ignore[call-overload]
        assert titles == ["Summary", f"Alerts 1 to {count - 3}", f"Alerts {count - 2} to {count}"]


def _fonts(page: PageObject) -> list[str]:
    fonts: Any = page["/Resources"]["/Font"]  # type: ignore[index]
    return [str(fonts[name]["/BaseFont"]) for name in fonts]


@pytest.mark.parametrize("lacking", ["part", "front"])
def test_a_part_that_cannot_be_archived_takes_the_claim_from_the_whole(lacking: str) -> None:
    good, bad = typeset(_with("a")), typeset(_with("\u4e2d"))
    assert ARCHIVABLE in good
    assert ARCHIVABLE not in bad
    out = io.BytesIO()
    joined = Joined(out)
    joined.add(bad if lacking == "part" else good, "one")
    joined.add(good, "two")
    joined.finish(bad if lacking == "front" else good, "front")
    assert ARCHIVABLE not in out.getvalue()
    assert len(PdfReader(out, strict=True).pages) == 3


def bare_lines(text: str) -> str:
    return " ".join(text.split())


def test_nothing_found_is_said() -> None:
    assert "No alert passed the choice above." in bare_lines(text_of(written([])))


@pytest.mark.parametrize("agents", [0, 3, 12])
def test_the_address_of_the_same_alerts_can_be_copied(agents: int) -> None:
    """Read back, it breaks only before a parameter, or inside one that is longer than a line; nothing is added."""
    names = [
        "window=custom",
        "from=2026-11-12",
        "to=2026-11-18",
        "t=0.5",
        *(f"agent=fact-checker-{n}" for n in range(agents)),
    ]
    names += [f"agent={'x' * 150}"] * (agents > 3)
    address = "&".join(["/drift_alerts?org=org_quillworks", *names])
    out = io.BytesIO()
    write_pdf(alerts(2), about(permalink=address), out)
    for text in copied(out.getvalue()):
        begin = text.index("/drift_alerts?")
        lines = text[begin : text.index("Taken", begin)].split()
        assert "".join(lines) == address
        assert agents or len(lines) == 1
        assert all(line.startswith("&") or "xxx" in line for line in lines[1:])

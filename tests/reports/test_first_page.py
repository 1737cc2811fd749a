"""What a reader who knows nothing of Rankscope is told first, the same in every format that people read."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import TYPE_CHECKING

import pypdfium2
import pytest
from pypdf import PdfReader

from analysis.drift.alerts import AlertFilter
from ranking.contradictions import Kind
from reports.html_page import write_html
from reports.legend import LEGEND
from reports.markdown import write_markdown
from reports.pdf import PART, write_pdf
from reports.pictures import pictures
from reports.summary import Summary
from reports.svg import drawn
from tests.reports.alerts import about, alert, alerts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.drift.alerts import Alert
    from reports.about import About

FORMS = ("pdf", "html", "md")


def told(form: str, some: Sequence[Alert], asked: About | None = None) -> tuple[str, str]:
    """The text of a report up to its first alert or, on paper, of its first page; and the text of all of it."""
    out = io.BytesIO()
    write = {"pdf": write_pdf, "html": write_html, "md": write_markdown}[form]
    write(iter(some), asked or about(), out)
    if form == "pdf":
        pages = [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(out.getvalue())]
        return plain(pages[0]), plain(" ".join(pages))
    text = out.getvalue().decode()
    first = text.partition("<h2>Alerts</h2>" if form == "html" else "## Alerts")[0]
    return plain(first), plain(text)


def plain(text: str) -> str:
    """Words alone, lines and tags gone; a hyphen at a line's end is the break of a word."""
    return " ".join(unescape(re.sub("<style>.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)).split())


def disputed() -> list[Alert]:
    """Four pairs: two share their newer observation, one hangs on their older, one stands alone and is superseded."""
    one, two, three, four = (alert(number, kind=Kind.NEGATION) for number in range(1, 5))
    two = replace(two, newer=one.newer)
    three = replace(three, newer=two.older)
    return [one, two, three, replace(four, kind=Kind.SUPERSEDED)]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_superseded_is_counted_apart_and_pairs_of_one_dispute_together(form: str) -> None:
    first, _ = told(form, disputed())
    assert (
        "4 pairs of statements in 2 disputes (pairs that share an observation are one): 3 may contradict each other, "
        "in 1 one says that the other no longer holds."
    ) in first
    assert "3 may contradict, 1 superseded" in first
    assert "pairs of statements that contradict" not in first


@pytest.mark.parametrize("form", FORMS)
def test_a_state_that_the_filter_leaves_out_is_said_to_be_not_listed(form: str) -> None:
    asked = about(
        filter=AlertFilter(0.5, states=frozenset({"new"})), found=replace(about().found, unlisted=(("resolved", 2),))
    )
    first, _ = told(form, [alert(6)], asked)
    assert first.count("not listed: 2") == 1 + (form == "md")  # which has label and figure on one line
    assert first.count("not listed: none") == 4
    assert "Decided, not listed" in first


@pytest.mark.parametrize("form", FORMS)
def test_that_words_are_compared_and_people_decide_stands_in_front(form: str) -> None:
    first, whole = told(form, disputed())
    sentence = "Words are compared, not meaning: whether two statements contradict each other is for people to decide."
    assert sentence in first
    assert whole.count(sentence) == 1


@pytest.mark.parametrize("form", FORMS)
def test_harm_is_what_can_have_been_done(form: str) -> None:
    first, whole = told(form, disputed())
    assert "did most harm" not in whole
    assert "most harmful" not in whole
    assert (
        "harm, 0 to 100: from a quarter of the severity, where no agent is known to have been given either claim, up "
        "to all of it, where they were given often and many sessions had both"
    ) in first
    if form != "md":  # which draws nothing
        assert "Alert 1 ranks highest by harm: 79.9 of 100" in first


@pytest.mark.parametrize("count", [4, PART + 1])
@pytest.mark.parametrize("form", FORMS)
def test_what_only_a_check_needs_stands_after_the_last_alert(form: str, count: int) -> None:
    first, whole = told(form, list(alerts(count)))
    _, _, checks = whole.partition("For whoever checks this")
    assert "below the address of your Rankscope: /drift_alerts?org=org_a" in checks
    assert "who took this file, and when, stands under Files taken on Drift Alerts" in checks
    assert "Older statement" not in checks
    for technical in ("rankscope.exports", "0123456789abcdef", "digest feed00c0ffee1234", "/drift_alerts"):
        assert technical in checks
        assert technical not in first


@pytest.mark.parametrize("form", FORMS)
def test_what_was_read_and_of_which_day_is_said_first(form: str) -> None:
    first, _ = told(form, disputed())
    assert "2026-03-29 (UTC)" in first
    assert "678 pairs found at this threshold, before the other filters" in first


@pytest.mark.parametrize("form", FORMS)
def test_terms_are_explained_once_before_the_first_alert(form: str) -> None:
    some = [replace(one, rule="the first rule") for one in alerts(2)]
    _, whole = told(form, some)
    terms = ["shared words", "recency, frequency", "domain", "confidence gap", "weight", "said by"]
    assert [term for term, _ in LEGEND] == terms
    for _, meaning in LEGEND:
        assert whole.count(meaning) == 1, meaning
        assert whole.index(meaning) < whole.rindex("the first rule")
        assert whole.index(meaning) < whole.index("Older statement")


def test_a_document_in_parts_explains_its_terms_once() -> None:
    _, whole = told("pdf", list(alerts(PART + 1)))
    assert all(whole.count(meaning) == 1 for _, meaning in LEGEND)
    assert whole.index(LEGEND[-1][1]) < whole.index("Older statement")


def test_the_scale_of_harm_ends_at_100_and_a_count_at_the_largest() -> None:
    summary = Summary(about().as_of)
    for number, harm in enumerate((50.0, 25.0), 1):
        summary.add(alert(number, harm=harm, kind=Kind.VALUE))
    kinds, *_, harmful = pictures(summary)
    widths = [float(width) for width in re.findall(r'class="bar[^>]* width="([\d.]+)"', drawn(harmful))]
    track = float(re.findall(r'class="track"[^>]* width="([\d.]+)"', drawn(harmful))[0])
    assert widths == [track / 2, track / 4]
    assert (harmful.full, kinds.full) == (100, 2)


def test_the_scale_of_harm_ends_at_100_on_paper() -> None:
    """The bar of half the harm ends in the middle of its track, as it is drawn."""
    out = io.BytesIO()
    write_pdf(iter([alert(harm=50.0)]), about(), out)
    page = pypdfium2.PdfDocument(out.getvalue())[0]
    image = page.render(scale=2).to_pil().convert("RGB")
    violet, panel = (0x7B, 0x5E, 0xA7), (0xF4, 0xF6, 0xF7)
    rows = [[image.getpixel((x, y)) for x in range(image.width)] for y in range(image.height)]
    drawn_in = [row for row in rows if row.count(violet) > 100]
    harm = drawn_in[-8]  # the lowest bar, well above its rounded corners
    filled, empty = harm.count(violet), harm.count(panel)
    assert abs(filled - empty) < 12


@pytest.mark.parametrize("count", [1, PART + 1], ids=["whole", "in parts"])
def test_a_document_is_titled_by_organization_and_day(count: int) -> None:
    out = io.BytesIO()
    write_pdf(alerts(count), about(org_name="Alder\u202e & 中 " + "long" * 12), out)
    found = PdfReader(io.BytesIO(out.getvalue())).metadata
    assert found is not None
    assert found.title == "Drift report: Alder⟦U+202E⟧ & ⟦U+4E2D⟧ " + "long" * 12 + ", 2026-03-29"


def test_a_page_is_titled_by_organization_and_day() -> None:
    out = io.BytesIO()
    write_html(alerts(1), about(org_name="</title>Alder\n& Sons"), out)
    assert "<title>Drift report: &lt;/title&gt;Alder␊&amp; Sons, 2026-03-29</title>" in out.getvalue().decode()


@pytest.mark.parametrize("count", [3, 60])
def test_all_that_is_counted_stands_on_the_first_page(count: int) -> None:
    address = "/drift_alerts?" + "&".join(f"agent=agent-{number}" for number in range(12))
    out = io.BytesIO()
    write_pdf(alerts(count), about(permalink=address, window=(about().as_of, about().as_of)), out)
    first, second, *_ = (page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(out.getvalue()))
    assert "ranks highest by harm" in first
    assert "1. Negation" in second


def test_one_pair_and_none_are_said_in_their_own_words() -> None:
    assert "1 pair of statements: they may contradict each other. Words" in told("md", [alert(kind=Kind.VALUE)])[0]
    only = told("md", [alert(kind=Kind.SUPERSEDED)])[0]
    assert "1 pair of statements: one says that the other no longer holds. Words" in only
    assert "Words are compared" in told("md", [])[0]
    both = told("md", [alert(1, kind=Kind.VALUE), alert(2, kind=Kind.VALUE)])[0]
    assert "2 pairs of statements in 2 disputes (pairs that share an observation are one): 2 may contradict" in both


@pytest.mark.parametrize("form", FORMS)
def test_the_first_page_says_which_days_exposure_counts(form: str) -> None:
    days = (datetime(2026, 3, 4, tzinfo=UTC), datetime(2026, 3, 11, tzinfo=UTC))
    first = told(form, list(alerts(3)), about(window=days))[0]
    assert "counted from 2026-03-04 to 2026-03-10 (UTC), and with them harm, the order and both sides given" in first
    assert "the alerts themselves are of whatever day" in first

"""HTML: one file that says what the alerts say and does nothing."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from reports.html_page import LONGEST, WHOLE, write_html
from reports.texts import on_a_line, visible
from tests.hostile import TEXTS
from tests.reports.alerts import about, alert, alerts, hostile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.drift.alerts import Alert

TAGS = {
    "html", "head", "meta", "title", "style", "body", "p", "h1", "h2", "h3", "h4", "dl", "dt", "dd", "div", "bdi",
    "figure", "figcaption", "svg", "text", "rect", "line", "table", "tr", "th", "td", "a", "article", "header",
    "span", "b", "section", "blockquote", "mark", "footer",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "dir", "viewbox", "aria-hidden",
    "x", "y", "x1", "x2", "y1", "y2", "width", "height", "rx", "text-anchor",
}  # fmt: skip


class Read(HTMLParser):
    """The tags of a file, and the text of each element of a kind."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, set[str]] = {}
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")
        if tag not in ("meta", "rect", "line"):
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data


def written(some: Iterable[Alert], subject: str = "Alder & Sons") -> str:
    out = io.BytesIO()
    write_html(iter(list(some)), about(org_name=subject), out)
    return out.getvalue().decode()


def test_read_back_it_is_every_statement_with_its_evidence() -> None:
    some = [*alerts(20), *hostile([text for text in (*TEXTS, "a\0b") if len(text) < LONGEST])]
    found = Read(written(some))
    statements = [text for one in some for text in (one.older.content, one.newer.content)]
    assert found.texts["blockquote"] == [visible(text) for text in statements]
    rests = [e.text for one in some for e in one.evidence]
    assert found.texts["mark"] == rests
    names = set(found.texts["bdi"])
    for one in some:
        for text in (one.fingerprint, one.rule, one.org_id, one.triage.note):
            line = on_a_line(text)
            assert any(name.startswith(line[:300]) for name in names), line
    assert len(found.texts["article"]) == len(some)


def test_only_our_own_markup_is_in_it() -> None:
    """HOS-1: every tag and attribute is one of ours, whatever the tenant wrote."""
    page = written(hostile((*TEXTS, "'\"><b onclick=x>")), subject="</title><script>alert(1)</script>")
    found = Read(page)
    assert found.tags <= TAGS
    assert set(found.attributes) <= ATTRIBUTES
    assert all(re.fullmatch(r"#alert-\d+", target) for target in found.attributes["href"])
    assert "javascript:" not in "".join(sum(map(sorted, found.attributes.values()), []))  # noqa: RUF017 - few
    assert "default-src 'none'" in next(iter(value for value in found.attributes["content"] if "src" in value))


def test_beyond_the_worst_both_statements_stand_without_the_rest() -> None:
    some = list(alerts(WHOLE + 234))
    page = written(some)
    found = Read(page)
    assert len(found.texts["article"]) == WHOLE + 234
    assert found.texts["blockquote"] == [
        visible(text) for one in some for text in (one.older.content, one.newer.content)
    ]
    assert found.texts["mark"] == [e.text for one in some for e in one.evidence]
    assert all(one.fingerprint in text for one, text in zip(some, found.texts["article"], strict=True))
    assert page.count('class="standing"') == 2 * WHOLE
    assert "are shown here" not in page


def test_many_alerts_are_shown_until_the_file_is_full_and_the_first_lines_say_so() -> None:
    page = written(alerts(12_000))
    shown = page.count("<article")
    assert 3_000 < shown < 12_000
    assert 4_000_000 < len(page.encode()) < 5_000_000
    told = f"The {shown:,} of 12,000 alerts that rank highest by harm are shown here"
    assert page.index(told) < page.index("<h2>Summary</h2>")
    assert "The CSV, the JSON and the evidence bundle of the same choice hold every one of them." in page
    assert page.count(told) == 2


def test_large_texts_do_not_make_a_large_file() -> None:
    page = written(alert(number, older="<" * 9_000 + " always", newer="\0" * 9_000) for number in range(1, 400))
    assert len(page.encode()) < 5_000_000
    shown = page.count("<article")
    assert f"The {shown:,} of 399 alerts that rank highest by harm are shown here" in page
    assert 100 < shown < 399


def test_nothing_found_is_said() -> None:
    page = written([])
    assert "No alert passed the choice above." in page
    assert "<article" not in page


def test_the_list_has_harm_by_which_it_is_ordered() -> None:
    found = Read(written(alerts(3)))
    assert found.texts["th"] == ["No.", "Kind", "Rule", "Harm", "Severity", "State", "Newer statement"]
    columns = len(found.texts["th"])
    assert found.texts["td"][3::columns] == ["79.9", "79.8", "79.7"]
    assert found.texts["td"][4::columns] == ["98", "97", "96"]

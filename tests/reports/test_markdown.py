"""Markdown: whatever a tenant wrote stays text, in the eyes of a renderer that knows HTML and links."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from reports.markdown import code, write_markdown
from reports.texts import on_a_line, visible
from tests.hostile import TEXTS
from tests.reports.alerts import about, alert, alerts, hostile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

    from analysis.drift.alerts import Alert

MORE = ("`", "``` `` `", "    four blanks", "\n\n\n", "a\0b", "~~~\n```\n", "* a\n\n      b", "\r\r# x", " ` ")


def written(some: Iterable[Alert], subject: str = "Alder & Sons") -> str:
    out = io.BytesIO()
    write_markdown(iter(list(some)), about(org_name=subject), out)
    return out.getvalue().decode()


def tokens(text: str) -> list[Token]:
    found = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    return [inner for token in found for inner in (token, *(token.children or ()))]


def test_every_statement_and_name_stands_in_code_and_nowhere_else() -> None:
    some = hostile((*TEXTS, *MORE))
    found = tokens(written(some))
    kinds = {token.type for token in found}
    assert not kinds & {"link_open", "image", "html_block", "html_inline", "blockquote_open", "fence", "hr"}
    blocks = [token.content for token in found if token.type == "code_block"]
    lines = [
        "\n".join(visible(line) for line in _lines(text)).strip("\n")
        for one in some
        for text in (one.older.content, one.newer.content)
    ]
    assert [block.strip("\n") for block in blocks] == lines
    spans = {token.content for token in found if token.type == "code_inline"}
    for one in some:
        if one.rule.strip():
            assert {on_a_line(one.rule), on_a_line(one.org_id), on_a_line(one.triage.note)} <= spans
    ours = "".join(token.content for token in found if token.type == "text")
    assert "beacon" not in ours
    assert "__x" not in ours
    assert sum(token.type == "heading_open" for token in found) == 4 + len(some)


def _lines(text: str) -> list[str]:
    for end in ("\r\n", "\r", "\u2028", "\u2029"):
        text = text.replace(end, "\n")
    return text.split("\n")


def test_the_subject_is_no_markup_either() -> None:
    for text in (*TEXTS, *MORE):
        found = tokens(written([], text))
        assert not {token.type for token in found} & {"link_open", "image", "html_block", "html_inline", "code_block"}


def test_every_alert_is_there_below_a_summary_of_them_all() -> None:
    text = written(alerts(1_500))
    assert text.count("**Older statement**") == 1_500
    assert "- Alerts: 1,500" in text.split("## Alerts")[0]
    assert "| negation | 375 |" in text.split("## Alerts")[0]


def test_a_code_span_is_longer_than_what_is_in_it() -> None:
    assert code("a``b") == "``` a``b ```"
    assert code("a\nb") == "` a␊b `"
    assert code(" ") == "—"


def test_the_words_it_rests_on_are_named() -> None:
    assert "Rests on ` always `" in written([alert()])

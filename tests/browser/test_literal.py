"""HOS-3: whatever a tenant wrote, what the browser shows is that, letter by letter, and nothing comes of it."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from queries.scope import marked
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.hostile import LARGE, MARKDOWN, MARKUP, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser

# Whole pieces of markup between letters of every kind: by letters alone hardly one would ever be put together.
PIECES = (*MARKUP, *MARKDOWN, "<b>", "</b>", "<br>", "&lt;", "&#60;", "&amp;", "![", "](", "$", "`", "\n", ":red[", "]")
ANY = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=5).map("".join)
BATCH = 200
READ = "all => all.map(each => each.textContent)"
NEWLINES = re.compile("\r\n?|\n")  # a chart draws one line: it puts a space there


@pytest.fixture(scope="module")
def texts_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts") / "texts.json"


@pytest.fixture(scope="module")
def server(texts_file: Path) -> Iterator[AppServer]:
    texts_file.write_text("[]")
    started = AppServer(script="tests/browser/literal_page.py", TEXTS_FILE=str(texts_file), PYTHONPATH=".")
    yield started
    started.stop()


def held(browser: Browser, server: AppServer, texts_file: Path, texts: Sequence[str]) -> None:
    """Whether a page of these texts shows each as it is, and is no more than that."""
    texts_file.write_text(json.dumps(texts), encoding="utf-8")
    context = browser.new_context()
    visit = Visit(context)
    page = visit.open(server.url)
    short = [text for text in texts if len(text) <= 3_000]
    page.locator(".textpoint text").nth(len(short) - 1).wait_for(state="attached")
    shown = page.locator("[data-testid=stText]").evaluate_all(READ)
    assert shown == [textwrap.dedent(text).strip() for text in texts]  # as Streamlit trims every text
    drawn = page.locator(".textpoint text").evaluate_all(READ)
    assert drawn == [f"[{NEWLINES.sub(' ', marked(text))}]" for text in short]
    assert page.locator("[data-testid=stMain] :is(img, iframe, object, embed, script, a, b)").count() == 0
    assert page.evaluate("window.__x") is None
    assert visit.dialogs == []
    assert visit.foreign_requests(server.url) == []
    context.close()


def test_the_corpus_is_shown_as_it_is_written(browser: Browser, server: AppServer, texts_file: Path) -> None:
    held(browser, server, texts_file, [*TEXTS, *LARGE])


@pytest.mark.long
@settings(max_examples=5, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(texts=st.lists(ANY, min_size=BATCH, max_size=BATCH))
def test_any_text_is(browser: Browser, server: AppServer, texts_file: Path, texts: list[str]) -> None:
    held(browser, server, texts_file, texts)

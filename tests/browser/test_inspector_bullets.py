"""What the Inspector promises, each in a real browser: list, block, pins, code, comparison, and words when degraded.

Numbers are the library's for the same stages and moment.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import psycopg
import pytest
from playwright.sync_api import expect

from analysis.inspector.compared import PipelineRun, compared
from analysis.inspector.pins import from_json
from controls.inspector.agreement import FEWEST
from queries.engine import Store, make_engine
from ranking import LIVE, PRESETS, LexicalScorer, from_text, to_text, why_above
from ranking.budget import TokenBudget
from ranking.corroboration import Corroboration
from retrieval.retrieve import AgentSession, Memory, retrieve
from tests.app_server import AppServer
from tests.browser.conftest import Visit
from tests.browser.unfolding import close_list, open_list, unfold
from tests.inspected import STRIP, by_library, by_routes, decided, moved, without_budget
from tests.retrieval.planted import EMBEDDER, QUESTION, TEXTS, plant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from retrieval.retrieve import Retrieval
    from tests.conftest import Cluster

pytestmark = pytest.mark.usefixtures("quiet")

WEIGHTS = (0.2, 1.0, 0.9, 1.0, 0.5)


@pytest.fixture(scope="module")
def planted(cluster: Cluster, database: str) -> str:
    with psycopg.connect(cluster.plain_url("postgres", database), autocommit=True) as owner:
        plant(owner, weights=WEIGHTS)
    return database


@pytest.fixture(scope="module")
def server(cluster: Cluster, planted: str) -> Iterator[AppServer]:
    reader, writer = (cluster.plain_url(role, planted) for role in ("dash_read", "dash_write"))
    started = AppServer(DATABASE_URL=reader, RANKSCOPE_WRITE_URL=writer, RANKSCOPE_SCORER="lexical")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def memory(cluster: Cluster, planted: str) -> Iterator[Memory]:
    store = Store(make_engine(cluster.url("dash_read", planted), name="oracle"))
    yield Memory(store, EMBEDDER, LexicalScorer())
    store.close()


@pytest.fixture
def wide(browser: Browser) -> Iterator[Visit]:
    """A window in which no column of a table is out of sight."""
    context = browser.new_context(viewport={"width": 2800, "height": 1300})
    visit = Visit(context)
    yield visit
    assert visit.complaints == []
    context.close()


def link(server: AppServer, **said: str) -> str:
    return f"{server.url}/inspector?{urlencode({'org': 'acme', 'q': QUESTION, **said})}"


def drawn(visit: Visit, url: str) -> Page:
    page = visit.open(url)
    page.locator(".st-key-bump .scatterlayer .point").first.wait_for()
    return page


def code_of(page: Page) -> str:
    """The pipeline as *Copy as code* gives it."""
    page.get_by_role("button", name="Copy as code").click()
    code = page.locator("[data-testid=stPopoverBody] [data-testid=stCode] code").first
    expect(code).to_contain_text("~")
    text = code.text_content() or ""
    page.keyboard.press("Escape")
    return text


def found_by(page: Page, memory: Memory) -> Retrieval:
    return by_library(memory, QUESTION, code_of(page), page.get_by_text(STRIP).first.inner_text())


def cells(page: Page, column: str) -> list[dict[str, str]]:
    """The table with this column as it is read out: drawn on a canvas, it stands there once more for the blind."""
    table = page.locator("canvas table").filter(has=page.locator("th", has_text=column))
    table.locator("td").first.wait_for(state="attached")
    rows: list[list[str]] = table.evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def test_the_list_says_place_move_score_route_and_why(wide: Visit, server: AppServer, memory: Memory) -> None:
    page = drawn(wide, link(server, preset="MEMINI", v="1", digits="all"))
    found = found_by(page, memory)
    shown = cells(page, "Found by")
    whole = without_budget(found)
    ids, recalled = whole.ids(), found.ranking.candidates.ids.tolist()
    scores = dict(zip(whole.positions.tolist(), whole.scores.tolist(), strict=True))
    assert found.recalled is not None
    assert len(shown) == len(ids) == 5
    for place, (label, row) in enumerate(zip(ids, shown, strict=True)):
        position = recalled.index(label)
        assert row["Place"] == str(place + 1)
        assert row["Moved"] == moved(position - place)
        assert row["Score"] == repr(scores[position])
        assert row["Found by"] == by_routes(found.recalled.routes[position])
        if place + 1 < len(ids):
            why = why_above(whole, label, ids[place + 1])
            assert row["Why above the one below: the stage that decided"] == decided(why)


def test_feedback_moves_rows_up_and_down_and_the_list_shows_both(wide: Visit, server: AppServer) -> None:
    """The best answer has misled and falls; those behind it rise."""
    page = drawn(wide, link(server, preset="LIVE", v="1"))
    moves = [row["Moved"] for row in cells(page, "Found by")]
    assert {text[0] for text in moves} >= {"▲", "▼"}
    assert sum(int(text[1:]) * (1 if text[0] == "▲" else -1) for text in moves if text != "=") == 0
    page.get_by_text("All digits", exact=True).click()
    expect(page).to_have_url(re.compile("digits=all"))


@pytest.mark.long
def test_the_block_is_the_librarys_against_its_budget(visit: Visit, server: AppServer, memory: Memory) -> None:
    page = drawn(visit, link(server, show="block", tokens="40"))
    found = found_by(page, memory)
    block = found.block
    assert (block.budget, 0 < block.tokens <= 40, 0 < len(block.ids) < 5) == (40, True, True)
    bar = page.locator("[data-testid=stProgress]")
    expect(bar).to_contain_text(f"{block.tokens} of 40 tokens, {len(block.ids)} observations")
    text = page.locator("[data-testid=stCode] code").last.text_content() or ""
    assert text.strip() == block.text.strip()
    expect(page.get_by_text(f"{len(block.ids)} in the block, {block.tokens} of 40 tokens")).to_be_visible()
    expect(page.get_by_text(f"First not to fit: № {len(block.ids) + 1}")).to_be_visible()


@pytest.mark.long
def test_copied_code_is_the_pipeline_and_can_be_compared_with(visit: Visit, server: AppServer) -> None:
    """What was copied reads back as itself, and pasted as another pipeline it finds the very same."""
    page = drawn(visit, link(server, preset="INTENDED", v="1", boost="0.3", tokens="200"))
    code = code_of(page)
    stages = from_text(code)
    assert to_text(stages) == code
    assert [stage.scale for stage in stages if isinstance(stage, Corroboration)] == [0.3]
    assert [stage.tokens for stage in stages if isinstance(stage, TokenBudget)] == [200]
    page = drawn(visit, link(server, preset="INTENDED", v="1", boost="0.3", tokens="200", show="compare", vs=code))
    expect(page.get_by_text("The memory block holds the same observations under each of them.")).to_be_visible()
    expect(page.locator(".st-key-compare_lists .gtitle")).to_contain_text("Of the 5 best of A, B keeps 5")


@pytest.mark.long
def test_four_pipelines_side_by_side(wide: Visit, server: AppServer, memory: Memory) -> None:
    others = ("MEMINI", "AI_MEMORY", "MEMSENSE")
    page = drawn(wide, link(server, show="compare", vs=",".join(others), top="3"))
    lists = page.locator(".st-key-compare_lists")
    for letter in "ABCD":
        expect(lists).to_contain_text(f"{letter} · ")
    found = found_by(page, memory)
    asked = AgentSession("acme"), QUESTION
    runs = [PipelineRun.of(retrieve(memory, *asked, PRESETS[name], found.at)) for name in others]
    expected = compared((PipelineRun.of(found), *runs), 3)
    shown = cells(page, "RBO")
    assert len(shown) == len(expected.pairs) == 6
    for row, pair in zip(shown, expected.pairs, strict=True):
        assert re.findall(r"([ABCD]) · ", row["Pair"]) == ["ABCD"[pair.first], "ABCD"[pair.second]]
        measures = {"Jaccard@3": pair.jaccard, "RBO": pair.rbo}
        assert row["Overlap@3"] == f"{pair.shared} of {pair.shorter}"
        if pair.in_both < FEWEST:
            assert row["τ-b"] == ""  # drawn as a dash
        else:
            measures["τ-b"] = pair.tau
        for name, value in measures.items():
            assert value is not None
            assert float(row[name]) == pytest.approx(value, rel=0.01)
        assert [row["In both"], row["Enter block"], row["Leave block"]] == [
            str(pair.in_both), str(len(pair.entered)), str(len(pair.left))
        ]  # fmt: skip


@pytest.mark.long
def test_a_pin_is_exported_and_its_link_opens_fresh(
    browser: Browser, visit: Visit, server: AppServer, memory: Memory
) -> None:
    page = drawn(visit, link(server, show="pins"))
    unfold(page, "Pin this question")
    page.get_by_label("Name", exact=True).fill("what comes first")
    open_list(page, "Must be in the block").filter(has_text=TEXTS[1]).click()
    close_list(page)
    chosen = page.locator(".st-key-pin_include")
    expect(chosen).to_contain_text(TEXTS[1])
    for panel in ("Memory block", "Pins"):  # what is half filled in stays while somebody looks elsewhere
        page.get_by_role("radio", name=panel).or_(page.get_by_role("button", name=panel)).first.click()
        expect(chosen).to_have_count(int(panel == "Pins"))
    visit.settled()
    expect(chosen).to_be_visible()  # and stays unfolded
    expect(chosen).to_contain_text(TEXTS[1])
    page.get_by_role("button", name="Pin this", exact=True).click()
    expect(page.get_by_text("1 of 1 pins hold under this pipeline.")).to_be_visible()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Export as JSON").click()
    text = taken.value.path().read_text(encoding="utf-8")
    (pin,) = from_json(text, "acme")
    ranked = retrieve(memory, AgentSession("acme"), QUESTION, LIVE).ranking
    texts = dict(zip(ranked.ids(), (text.as_py() for text in ranked.texts("content")), strict=True))
    assert (pin.name, pin.query) == ("what comes first", QUESTION)
    assert [texts[label] for label in pin.must_include] == [TEXTS[1]]
    assert json.loads(text)["org"] == "acme"
    table = page.locator("[data-testid=stDataFrame] canvas").first
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 14, box["y"] + 52)
    expect(page).to_have_url(re.compile("pin=[0-9]+"))
    number = re.findall("pin=([0-9]+)", page.url)[0]
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    fresh = Visit(context)
    other = drawn(fresh, f"{server.url}/inspector?{urlencode({'org': 'acme', 'pin': number, 'show': 'pins'})}")
    expect(other.get_by_label("Question")).to_have_value(QUESTION)
    expect(other.get_by_text(f"{pin.must_include[0][:8]} must be in the block")).to_be_visible()
    expect(other.get_by_text("1 of 1 pins hold under this pipeline.")).to_be_visible()
    assert fresh.complaints == []
    context.close()


@pytest.mark.long
def test_an_embedder_and_a_scorer_that_fail_are_said_plainly(
    visit: Visit, cluster: Cluster, planted: str, tiny_scorer: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A cross-encoder where an embedder should be, and nothing for a cross-encoder: the page ranks all the same."""
    folder = tmp_path_factory.mktemp("wrong")
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).symlink_to(tiny_scorer / name)
    (folder / "embedding.toml").write_text('pooling = "cls"')
    broken = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", planted),
        RANKSCOPE_EMBEDDER="onnx",
        RANKSCOPE_EMBEDDER_FOLDER=str(folder),
        RANKSCOPE_SCORER_FOLDER=str(tmp_path_factory.mktemp("empty")),
    )
    try:
        page = drawn(visit, link(broken, preset="AI_MEMORY", v="1"))
        for sentence in (
            f"Expected a vector per token from {folder.name}, found an output of 2 axes: recalled by keyword only",
            "4 of 4 pairs were scored by words: the cross-encoder failed on them",
            "4 candidates recalled by keywords alone",
            "pairs scored by words as said above",
        ):
            expect(page.get_by_text(sentence)).to_be_visible()
        assert page.locator("[data-testid=stException]").count() == 0
    finally:
        broken.stop()

"""Every number of the Inspector against the library's: list, pictures, flip distances, strip, under every preset.

The stages are taken from *Copy as code* and the moment from the strip: with both, the library alone has to come to the
same numbers, to the last digit.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from ranking import PRESETS, LexicalScorer, explain, why_above
from ranking.budget import TokenBudget, estimate_tokens
from ranking.flips import flips_between
from retrieval.retrieve import AgentSession, Memory, retrieve
from tests.inspected import by_library, by_routes, decided, moved, spoken, without_budget
from tests.pages.inspector_page import WEIGHTS, opened, said
from tests.queries.test_corroborating import add_run
from tests.retrieval.planted import EMBEDDER, QUESTION, TEXTS, plant

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from queries.engine import Store
    from ranking.ranking import Ranking
    from retrieval.retrieve import Retrieval
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

MORE = (*TEXTS, "The auth token is checked twice.", "Middleware of the session store logs null pointers as faults.")
# every preset in make test-all; what takes every way through the code always
EVERY = [pytest.param(name, marks=[] if name in ("LIVE", "FULL") else [pytest.mark.long]) for name in PRESETS]
FLIP = re.compile(r"([a-zλ ]+) (-?[\d.e-]+) \(([+-][\d.e-]+) from (-?[\d.e-]+)\)")


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    plant(owner, texts=MORE, weights=(*WEIGHTS, 0.7, 0.3))
    add_run(owner, "acme", "api")
    return cluster.plain_url("dash_read", store_database)


@dataclass(frozen=True)
class Both:
    """A page, and what the library makes of the same question, stages and moment."""

    page: AppTest
    found: Retrieval

    @property
    def whole(self) -> Ranking:
        return without_budget(self.found)

    def chart(self, number: int) -> dict[str, Any]:
        spec: dict[str, Any] = json.loads(self.page.get("plotly_chart")[number].proto.spec)
        return spec


def both(address: str, store: Store, preset: str, **more: str) -> Both:
    page = opened(address, org="acme", q=QUESTION, preset=preset, v="1", scorer="lexical", **more)
    code = next(block.value for block in page.code if "~~" in block.value)
    return Both(page, by_library(Memory(store, EMBEDDER, LexicalScorer()), QUESTION, code, said(page)))


@pytest.mark.parametrize("preset", EVERY)
def test_the_list_to_the_last_digit(address: str, store: Store, preset: str) -> None:
    seen = both(address, store, preset, digits="all")
    found, whole, table = seen.found, seen.whole, seen.page.dataframe[0].value
    ids, recalled = whole.ids(), found.ranking.candidates.ids.tolist()
    assert len(ids) > 1
    assert table["id"].tolist() == ids
    assert table["place"].tolist() == list(range(1, len(ids) + 1))
    scores = dict(zip(whole.positions.tolist(), whole.scores.tolist(), strict=True))
    assert table["score"].tolist() == [repr(scores[recalled.index(label)]) for label in ids]
    assert (table["block"] == "✓").tolist() == [label in found.block.ids for label in ids]
    assert table["moved"].tolist() == [moved(recalled.index(label) - place) for place, label in enumerate(ids)]
    assert found.recalled is not None
    routes = found.recalled.routes
    assert table["routes"].tolist() == [by_routes(routes[recalled.index(label)]) if routes else "" for label in ids]
    several = preset in ("MEMSENSE", "MEMINI", "FULL")
    assert any(re.fullmatch(r"[a-z ]+ \d+(, [a-z ]+ \d+)+", text) for text in table["routes"]) == several
    for place, (upper, lower) in enumerate(pairwise(ids)):
        assert table["why"][place] == decided(why_above(whole, upper, lower))
    assert table["why"].tolist()[-1] == "nothing stands below it"


@pytest.mark.parametrize("preset", EVERY)
def test_every_line_of_the_picture(address: str, store: Store, preset: str) -> None:
    """Each candidate's place after each stage, and where it was lost; up to 25 places a place is one unit high."""
    seen = both(address, store, preset, tokens="60")
    expected = {}
    for row in explain(seen.found.ranking, ids=seen.found.ranking.candidates.ids.tolist()).rows:
        ranks = [effect.rank for effect in row.effects]
        places = [seen.found.ranking.candidates.position(row.id) + 1]
        places += [places[-1] if rank is None else rank + 1 for rank in ranks if rank is not None]
        places += places[-1:] * (ranks[-1] is None)
        expected[row.id] = places
    drawn: dict[str, list[float]] = {}
    lost = set()
    for trace in seen.chart(0)["data"]:
        if "lines" not in trace["mode"]:
            continue
        for height, facts, symbol in zip(trace["y"], trace["customdata"], trace["marker"]["symbol"], strict=True):
            if height is not None:
                drawn.setdefault(facts[0], []).append(height)
                lost |= {facts[0]} if symbol == "x" else set()
    block = set(seen.found.block.ids)
    if isinstance(seen.found.stages[-1], TokenBudget):
        assert drawn == expected
        assert lost == set(expected) - block
    else:  # the block is a step of its own behind the last stage
        assert {label: places[: len(expected[label])] for label, places in drawn.items()} == expected
        assert lost >= set(expected) - block


def second(store: Store, preset: str) -> str:
    """The row that stands second, which has a neighbour on either side."""
    memory = Memory(store, EMBEDDER, LexicalScorer())
    return str(retrieve(memory, AgentSession("acme"), QUESTION, PRESETS[preset]).ranking.ids()[1])


@pytest.mark.parametrize("preset", EVERY)
@pytest.mark.parametrize("digits", ["all", pytest.param("few", marks=pytest.mark.long)])
def test_the_waterfall_and_its_table(address: str, store: Store, preset: str, digits: str) -> None:
    label = second(store, preset)
    seen = both(address, store, preset, obs=label, digits=digits)
    row = explain(seen.found.ranking, ids=[label]).rows[0]
    shown = row.shown()
    table = seen.page.dataframe[1].value
    if digits == "all":
        assert table["delta"].tolist() == [repr(effect.delta) for effect in row.effects]
        assert table["score"].tolist() == [repr(effect.score) for effect in row.effects]
    else:
        assert [Decimal(text) for text in table["delta"]] == [delta for _, delta in shown]
        assert [Decimal(text) for text in table["score"]] == [score for score, _ in shown]
    places = [None if effect.rank is None else effect.rank + 1 for effect in row.effects]
    assert table["place"].astype("object").where(table["place"].notna(), None).tolist() == places
    assert table["how"].tolist() == [spoken(effect.sentence) for effect in row.effects]
    (trace,) = seen.chart(1)["data"]
    assert trace["measure"] == ["relative"] * len(shown) + ["total"]
    assert trace["y"] == [*(float(delta) for _, delta in shown), 0]
    total = f"{shown[-1][0]}".replace("-", "−")
    assert trace["text"][-1] == total
    assert [Decimal(text.replace("−", "-")) for text in trace["text"][:-1]] == [delta for _, delta in shown]
    assert sum(Decimal(str(height)) for height in trace["y"]) == shown[-1][0]


@pytest.mark.parametrize("preset", ["LIVE", "INTENDED", "FULL"])
def test_flip_distances_to_both_neighbours(address: str, store: Store, preset: str) -> None:
    seen = both(address, store, preset, obs=second(store, preset))
    whole = seen.whole
    ids = whole.ids()
    stages = [stage for stage in seen.found.stages if not isinstance(stage, TokenBudget)]
    told = [line.value for line in seen.page.caption if line.value.startswith("Flip distance: ")]
    assert len(told) == 2
    some = 0
    for line, (upper, lower) in zip(told, ((ids[0], ids[1]), (ids[1], ids[2])), strict=True):
        flips = flips_between(whole.candidates, stages, upper, lower).found[:3]
        said_of = FLIP.findall(line.removeprefix("Flip distance: They change places at ").replace("or ", ""))
        assert [(knob.strip(), needed, change, current) for knob, needed, change, current in said_of] == [
            (str(flip.knob), f"{flip.needed:.3g}", f"{flip.change:+.3g}", f"{flip.current:.3g}") for flip in flips
        ]
        some += len(flips)
    assert some, "no knob swaps any of them, so nothing was compared"


@pytest.mark.parametrize(("preset", "tokens"), [("LIVE", "500"), ("LIVE", "40"), ("FULL", "70"), ("LIVE", "0")])
def test_the_strip_and_the_block_count_as_the_library_does(
    address: str, store: Store, preset: str, tokens: str
) -> None:
    seen = both(address, store, preset, tokens=tokens, show="block")
    block, candidates = seen.found.block, seen.found.ranking.candidates
    contents = dict(zip(candidates.ids.tolist(), candidates.texts("content").to_pylist(), strict=True))
    assert block.tokens == sum(estimate_tokens([contents[label] for label in block.ids]))
    strip = next(line.value for line in seen.page.caption if line.value.startswith("As of"))
    assert f" · {len(candidates)} candidates recalled " in strip
    assert f" · {len(block.ids)} in the block, {block.tokens} of {tokens} tokens" in strip
    (bar,) = seen.page.get("progress")
    noun = "observation" if len(block.ids) == 1 else "observations"
    assert bar.proto.text == f"{block.tokens} of {tokens} tokens, {len(block.ids)} {noun}"
    assert bar.proto.value == (int(100 * block.tokens / int(tokens)) if int(tokens) else 100)
    if block.ids:
        assert seen.page.code[-1].value == block.text
    ids = seen.whole.ids()
    if len(block.ids) < len(ids):
        (missed,) = estimate_tokens([contents[ids[len(block.ids)]]])
        free = int(tokens) - block.tokens
        assert f"First not to fit: № {len(block.ids) + 1}, {missed} tokens where {free} are left." in said(seen.page)
        assert missed > free

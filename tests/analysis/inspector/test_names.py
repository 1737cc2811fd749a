"""Stages and routes in words: every one has some, and none of the library's own names is left in a sentence."""

from __future__ import annotations

import pytest

from analysis.inspector.names import in_words, route_name, stage_name
from queries.recall.legs import ROUTES
from ranking.pipeline_text import STAGES


def test_every_stage_and_route_is_called_in_words() -> None:
    stages, routes = [stage_name(stage) for stage in STAGES], [route_name(route) for route in ROUTES]
    assert len({*stages, *routes}) == len(STAGES) + len(ROUTES)
    for name in (*stages, *routes):
        assert "_" not in name
        assert name == "MMR" or name == name.lower()
    assert not {*stages} & {stage.__name__ for stage in STAGES}
    assert not {*routes} & {*ROUTES}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("№ 1 stands above № 2 since Head: +0.5", "№ 1 stands above № 2 since best rows: +0.5"),
        ("1/(15 + 1) vec_full + 1/(15 + 3) lexical = 0.1181", "1/(15 + 1) full vector + 1/(15 + 3) keywords = 0.1181"),
        ("1/(15 + 1) vec_next_user + 1/(15 + 3) vec_user", "1/(15 + 1) next user vector + 1/(15 + 3) user vector"),
        ("multiplied by feedback weight 0.500", "multiplied by feedback weight 0.500"),
        ("Headless lexicality", "Headless lexicality"),
    ],
)
def test_a_sentence_of_the_library_in_words(said: str, shown: str) -> None:
    assert in_words(said) == shown

"""Why not as it stands on a page: what is asked, what is said, and what the address holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from analysis.inspector.why_not import NO_MATCH, OTHER_PROJECT, OUT_OF_SCOPE
from queries.scope import isolated
from tests import hostile
from tests.controls.inspector.panels import SCRIPT, said
from tests.memories import add_memory
from tests.pages.application import application
from tests.retrieval.planted import EMBEDDER, TEXTS, plant

if TYPE_CHECKING:
    import psycopg

    from tests.retrieval.planted import Planted

    Owner = psycopg.Connection[Any]


class TestWhyNot:
    @pytest.mark.usefixtures("planted")
    def test_nothing_asked_nothing_said(self, address: str) -> None:
        with application(address, SCRIPT, org="acme") as test:
            assert said(test.run()) == []

    def test_a_link_names_the_text_and_the_verdict_stands_with_its_ladder(self, address: str, planted: Planted) -> None:
        with application(address, SCRIPT, org="acme", why="bananas", pipeline="Relevance~~Head~k~2") as test:
            test.run()
        (verdict,) = said(test)
        assert verdict.startswith("Lost at best rows: rank 5 of 5, beyond the best 2")
        ladder = next(table.value for table in test.dataframe if "gate" in table.value)
        assert ladder["gate"].tolist() == [
            "scope", "active", "vector", "by full vector", "finite numbers", "best rows", "block"
        ]  # fmt: skip
        assert ladder["result"].tolist() == [*["✓ passed"] * 5, "✕ lost here", "· not reached"]
        assert ladder["rank"].dropna().tolist() == [5, 5]
        assert TEXTS[4] in [text.value for text in test.text]
        (link,) = test.get("page_link")
        assert (link.proto.page, f"observation={planted.ids[4]}" in link.proto.query_string) == ("observation", True)

    def test_what_is_typed_goes_into_the_address_and_what_was_chosen_goes_out(
        self, address: str, planted: Planted
    ) -> None:
        with application(address, SCRIPT, org="acme", why="auth", missed=str(planted.ids[0])) as test:
            assert said(test.run()) == ["It is there, at rank 1 of the 5 in the block."]
            test.text_input("why_text").input("nobody says this").run()
            assert said(test) == [NO_MATCH]
            assert test.query_params["why"] == "nobody says this"
            assert "missed" not in test.query_params
            test.text_input("why_text").input(" ").run()
            assert "why" not in test.query_params

    def test_several_matches_are_to_choose_from_by_id(self, address: str, planted: Planted) -> None:
        with application(address, SCRIPT, org="acme", why="auth") as test:
            assert "observations hold this text" in said(test.run())[0]
            table = next(table.value for table in test.dataframe if "memory" in table.value)
            assert set(table["id"]) == {str(planted.ids[n]) for n in (0, 1, 3)}
            assert table["block"].tolist() == ["✓"] * 3
            assert "shown" not in table  # nothing is chosen yet

    def test_of_the_matches_those_in_the_block_are_marked_and_the_chosen_one(
        self, address: str, planted: Planted, owner: Owner
    ) -> None:
        first = str(planted.ids[0])
        owner.execute("update observations set title = case when id = %s then 'Auth crashes' end", (first,))
        asked = {"org": "acme", "why": "auth", "missed": first, "pipeline": "Relevance~~Head~k~1"}
        with application(address, SCRIPT, **asked) as test:
            test.run()
        table = next(table.value for table in test.dataframe if "memory" in table.value).set_index("id")
        assert table["block"].to_dict() == {id_: "✓" if id_ == first else "" for id_ in table.index}
        assert table["shown"].to_dict() == {id_: "▸" if id_ == first else "" for id_ in table.index}
        assert table["memory"][first] == "Auth crashes"
        assert table["memory"][str(planted.ids[1])] == TEXTS[1]
        assert "Auth crashes" in [text.value for text in test.text]

    def test_a_title_is_answered_for_at_once_and_others_that_hold_it_can_be_chosen(
        self, address: str, planted: Planted, owner: Owner
    ) -> None:
        last, first = str(planted.ids[4]), str(planted.ids[0])
        owner.execute("update observations set title = 'Auth' where id = %s", (last,))
        with application(address, SCRIPT, org="acme", why=" auth ") as test:
            assert said(test.run()) == ["It is there, at rank 5 of the 5 in the block."]
            table = next(table.value for table in test.dataframe if "memory" in table.value)
            assert table["id"].tolist()[0] == last
            assert set(table["id"]) == {str(planted.ids[n]) for n in (0, 1, 3, 4)}
            told = "Answered for the one called so, in this ranking if it holds one. Choose another, if you mean it."
            assert told in [line.value for line in test.caption]
        with application(address, SCRIPT, org="acme", why="auth", missed=first) as test:
            assert said(test.run()) == ["It is there, at rank 1 of the 5 in the block."]
            assert told not in [line.value for line in test.caption]

    @pytest.mark.usefixtures("planted")
    def test_a_text_of_another_project_is_told_with_both_projects(self, address: str, owner: Owner) -> None:
        add_memory(owner, "acme", 900, "the *web* alone says this", project_id="web *x*")
        with application(address, SCRIPT, org="acme", project="api", why="alone says this") as test:
            assert said(test.run()) == [OTHER_PROJECT]
        texts = [text.value for text in test.text]
        where = f"It is in project {isolated('web *x*')}; this retrieval asked only project {isolated('api')}."
        assert [where, "the *web* alone says this"] == texts[texts.index(where) :][:2]
        ladder = next(table.value for table in test.dataframe if "gate" in table.value)
        assert ladder["result"].tolist()[:2] == ["✕ lost here", "· not reached"]

    def test_a_foreign_observation_looks_like_none(self, address: str, planted: Planted, owner: Owner) -> None:
        plant(owner, "globex", ["a secret of globex about auth"])
        foreign = add_memory(owner, "globex", 900, "another secret of globex")
        shown = []
        for wanted in (foreign, str(UUID(int=901))):
            with application(address, SCRIPT, org="acme", why=wanted) as test:
                assert said(test.run()) == [OUT_OF_SCOPE]
                assert "secret" not in str(test.main)
                shown.append([table.value.to_json() for table in test.dataframe])
        assert shown[0] == shown[1]
        with application(address, SCRIPT, org="acme", why="auth", missed=foreign) as test:
            assert [line.partition(": ")[2] for line in said(test.run())] == ["choose the one you miss."]
            assert "secret" not in str(test.main)
        assert planted.org == "acme"

    def test_hostile_texts_are_shown_in_no_place_that_reads_markup(self, address: str, owner: Owner) -> None:
        plant(owner, texts=[f"zebra {text}" for text in hostile.TEXTS[:40:4]])
        with application(address, SCRIPT, org="acme", why="zebra") as test:
            test.run()
            assert said(test) == ["10 observations hold this text: choose the one you miss."]
            shown = next(table.value for table in test.dataframe if "text" in table.value)["text"].tolist()
            assert f"zebra {hostile.TEXTS[0]}" in shown
            spoken = [*said(test), *(line.value for line in (*test.markdown, *test.caption))]
            assert not [line for line in spoken if "zebra" in line]


def test_the_embedder_of_these_tests_is_the_default() -> None:
    assert EMBEDDER.name.startswith("wordllama")

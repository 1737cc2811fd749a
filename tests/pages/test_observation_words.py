"""The Observation page asked by words: titles count as texts do, and it says where they were looked for."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests import sample
from tests.pages.observation_page import opening
from tests.scopes import add_observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from tests.conftest import Cluster
    from tests.pages.observation_page import Opened

    Owner = psycopg.Connection[Any]

TITLE = "Lane planner: duplicates"
WHERE = "Titles: among the newest 10,000 active observations"


@pytest.fixture
def opened(cluster: Cluster, store_database: str) -> Iterator[Opened]:
    """Open the page at an address."""
    with opening(cluster.plain_url("dash_read", store_database)) as open_:
        yield open_


@pytest.fixture
def ids(owner: Owner) -> dict[str, str]:
    """Of Acme by what is said where, each a day older than the one before; and one of Birch."""
    sample.add_organization(owner, "org_a", "Acme")
    sample.add_organization(owner, "org_b", "Birch")
    texts = {
        "text": ("Other", "a lane planner that knows duplicates"),
        "both": ("Of planners", "duplicates in each lane"),
        "part": (f"On {TITLE}", "swept"),
        "whole": (TITLE, "surrogate keys"),
        "none": ("Lane keeper", "nothing of it"),
    }
    found = {
        name: str(add_observation(owner, "org_a", name, text, title=title, created_at=sample.TODAY - timedelta(days=n)))
        for n, (name, (title, text)) in enumerate(texts.items())
    }
    return found | {"birch": str(add_observation(owner, "org_b", "one", "x", title=TITLE))}


def test_a_title_finds_it_first_and_where_titles_were_looked_for_is_said(opened: Opened, ids: dict[str, str]) -> None:
    test = opened(org="org_a", words=TITLE)
    found = test.dataframe[0].value
    assert found["id"].tolist() == [ids[name] for name in ("whole", "part", "text", "both")]
    assert found["title"].tolist() == [TITLE, f"On {TITLE}", "", "Of planners"]
    told = [line.value for line in test.caption]
    assert (
        "4 observations with all these words in title or text: those with them in the title as typed first, then the "
        "newest." in told
    )
    assert f"{WHERE} of the organization in the sidebar. Texts: of any age." in told
    test.selectbox("choose_found").select(ids["whole"]).run()
    assert test.code[0].value == "surrogate keys"


def test_all_organizations_share_what_is_read(opened: Opened, ids: dict[str, str]) -> None:
    test = opened(words=TITLE)
    assert set(test.dataframe[0].value["id"].tolist()[:2]) == {ids["whole"], ids["birch"]}
    assert f"{WHERE} of all organizations, shared equally. Texts: of any age." in [line.value for line in test.caption]


def test_nothing_found_says_where_titles_were_looked_for(opened: Opened, ids: dict[str, str]) -> None:
    assert ids
    test = opened(org="org_a", words="zeppelin")
    assert "No observation in this scope" in test.info[0].value
    assert f"{WHERE} of the organization in the sidebar. Texts: of any age." in [line.value for line in test.caption]


def test_a_text_alone_has_no_column_for_titles(opened: Opened, ids: dict[str, str]) -> None:
    test = opened(org="org_a", words="surrogate")
    found = test.dataframe[0].value
    assert "1 observation with all these words in the text." in [line.value for line in test.caption]
    assert (found["id"].tolist(), "title" in found) == ([ids["whole"]], False)


def test_more_than_twenty_are_the_first_twenty(opened: Opened, owner: Owner, ids: dict[str, str]) -> None:
    for n in range(20):
        add_observation(owner, "org_a", f"more {n}", f"{TITLE} {n}", created_at=sample.TODAY)
    test = opened(org="org_a", words=TITLE)
    found = test.dataframe[0].value["id"].tolist()
    assert (len(found), found[:2]) == (20, [ids["whole"], ids["part"]])
    assert any(line.value.startswith("The first 20 with all these words") for line in test.caption)


def test_the_newest_are_listed_however_many_hold_the_words_as_typed(
    opened: Opened, owner: Owner, ids: dict[str, str]
) -> None:
    """Its title holds one word and its text the others; twenty older texts hold all of them side by side."""
    for n in range(20):
        past = sample.TODAY - timedelta(days=9)
        add_observation(owner, "org_a", f"more {n}", f"{TITLE} {n}", title="Other", created_at=past)
    found = opened(org="org_a", words=TITLE).dataframe[0].value["id"].tolist()
    assert (len(found), found[:4]) == (20, [ids[name] for name in ("whole", "part", "text", "both")])


def test_a_store_without_titles_is_searched_by_its_texts(opened: Opened, owner: Owner, ids: dict[str, str]) -> None:
    owner.execute("alter table observations drop column title")
    test = opened(org="org_a", words="surrogate")
    assert test.dataframe[0].value["id"].tolist() == [ids["whole"]]
    assert [line.value.split(".")[0] for line in test.warning] == ["Titles could not be read"]
    assert not [line.value for line in test.caption if line.value.startswith("Titles: ")]

"""What a search says and lists, and the two organizations it is asked in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import sample

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

EACH = "titles and queries among the newest and alerts among the most severe of each organization, names and ids"
CHOSEN = EACH.replace("each", "the chosen")


def add_two(owner: psycopg.Connection[Any]) -> None:
    """Acme and Birch, a retrieval each."""
    for org, name in (("org_a", "Acme"), ("org_b", "Birch")):
        sample.add_organization(owner, org, name)
        sample.add_retrieval(owner, org, sample.unchanged(4), name="one")


def texts(test: AppTest) -> str:
    """All that the page says."""
    sinks = [*test.caption, *test.info, *test.warning, *test.error, *test.markdown, *test.text]
    return " ".join(each.value for each in sinks)


def rows(test: AppTest) -> list[tuple[str, str]]:
    """Kind and id of each thing found."""
    assert not test.exception
    tables = [each.value for each in test.dataframe if "kind" in each.value.columns]
    return [tuple(row) for row in tables[0][["kind", "id"]].to_numpy()] if tables else []

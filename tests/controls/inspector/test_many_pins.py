"""As many pins as an organization may hold, and a store that holds more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from queries.pins import MOST
from tests.pages.application import application
from tests.retrieval.planted import QUESTION, plant

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

SCRIPT = Path(__file__).with_name("inspecting.py")


@pytest.mark.parametrize("beyond", [0, 2])
def test_the_panel_refuses_one_more_and_says_what_is_not_checked(
    cluster: Cluster, store_database: str, owner: Owner, monkeypatch: pytest.MonkeyPatch, beyond: int
) -> None:
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))
    ids = [str(id_) for id_ in plant(owner).ids]
    owner.execute(
        """insert into rankscope.pins (org_id, name, query_text, expectations, created_by)
           select 'acme', 'pin ' || n, %s, jsonb_build_object('must_include', jsonb_build_array(%s::text)), 'hand'
             from generate_series(1, %s) n""",
        (QUESTION, ids[0], MOST + beyond),
    )
    with application(cluster.plain_url("dash_read", store_database), SCRIPT, org="acme") as test:
        test.run()
        assert f"**{MOST} of {MOST + beyond} pins hold under this pipeline.**" in [line.value for line in test.markdown]
        told = [f"{beyond} pins beyond the limit: neither checked nor exported. Take some down."]
        assert [line.value for line in test.warning] == told[:beyond]
        test.text_input("pin_name").input("one more")
        test.multiselect("pin_include").set_value([ids[0]])
        test.button("pin_save").click().run()
        assert not test.exception
        said = "Not pinned: an organization holds 200 pins at most. Take one down first."
        assert said in [line.value for line in test.info]
        assert test.text_input("pin_name").value == "one more"
    assert owner.execute("select count(*) from rankscope.pins").fetchone() == (MOST + beyond,)

"""Corroboration by embedding: what it advises goes the way of its slider, where more is stricter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.analysis.corroboration.agreeing import plant
from tests.pages.application import application
from tests.pages.corroboration_page import figures, said, shown

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store


def test_a_chain_is_broken_and_more_is_found_the_way_of_the_slider(
    owner: psycopg.Connection[Any], store: Store
) -> None:
    """Three vectors, each near the next alone."""
    ids = plant(owner, "org_a", [(text, "ann", "s", "api", 1.0) for text in ("one", "two", "three")])
    for id_, vector in zip(ids, ("[1,0]", "[0.95,0.31]", "[0.81,0.59]"), strict=True):
        owner.execute("insert into observation_embeddings values ('org_a', %s, 'full', %s)", (id_, vector))
    with application(store.reader.url.render_as_string(hide_password=False)) as test:
        test.run()
        test.query_params.update({"org": "org_a", "method": "embedding", "cluster": ids[0]})
        assert figures(shown(test, "metric"))["Clusters"] == ("1", "1 chained")
        assert "Raise the minimum cosine until it falls apart" in said(test)
        test.query_params["cos"] = "0.98"
        assert "No cluster here. Lower the minimum cosine, or " in said(shown(test, "metric"))
        del test.query_params["method"]
        assert "No cluster here. Raise the threshold, or " in said(shown(test, "metric"))

"""A disputed cluster on the page once someone decided about its contradictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.analysis.corroboration.test_settled import alerts, decide
from tests.pages.application import application
from tests.pages.corroboration_page import figures, said, shown, table

if TYPE_CHECKING:
    from queries.engine import Store

__all__ = ["alerts"]


@pytest.mark.parametrize(
    ("verdict", "kind", "told"),
    [
        ("newer", "✕ disputed, settled", "✕ Disputed, settled: the newer is right. Both sides are still stored"),
        ("both", "● independent", ""),
    ],
)
def test_triage_reaches_the_cluster(store: Store, alerts: list[Any], verdict: str, kind: str, told: str) -> None:
    for alert in alerts:
        decide(store, alert, "resolved", verdict)
    with application(store.reader.url.render_as_string(hide_password=False)) as test:
        test.run()
        test.query_params.update({"org": "org_a", "bits": "16", "cluster": alerts[0].older, "show": "sizes"})
        shown(test, "metric")
        assert figures(test)["Disputed"][0] == ("1" if told else "0")
        assert list(table(test, "kind")["kind"]) == [kind]
        assert told in said(test)
        assert ("✕ Disputed" in said(test)) == bool(told)
        roles = list(table(test, "role")["role"])
        assert ("✕ settled: newer is right" in roles) == (verdict == "newer")
        assert "✕ contradicts it" not in roles

"""The figures of a replay, as they are read."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page(changed: int, top_changed: int) -> None:
    from types import SimpleNamespace  # noqa: PLC0415 - the function is run as a script

    from controls.what_if.replayed import figures  # noqa: PLC0415 - as above

    coverage = SimpleNamespace(replayed=4)
    counts = {"changed": changed, "top_changed": top_changed, "entered": 0, "left": 0}
    figures(SimpleNamespace(coverage=coverage, rbo=1, tau=1, **counts))  # type: ignore[arg-type]


def test_one_retrieval_is_told_in_the_singular() -> None:
    first, second, *_ = AppTest.from_function(page, args=(2, 1)).run().metric
    assert [(each.label, each.delta) for each in (first, second)] == [
        ("Order changed", "2 retrievals"),
        ("Top 5 vs. log", "1 retrieval"),
    ]
    assert AppTest.from_function(page, args=(1, 0)).run().metric[0].delta == "1 retrieval"

from benchmarks.__main__ import as_text, names


def test_the_named_benchmarks_are_there() -> None:
    assert {"mmr", "ranking"} <= set(names())


def test_a_table_keeps_columns_in_the_order_first_seen() -> None:
    rows = [{"size": 10, "ms": 1.23456}, {"size": 1_000, "ratio": 12345.6}]
    assert as_text(rows).splitlines() == [
        "size  ms     ratio ",
        "10    1.235        ",
        "1000         12,346",
    ]

"""The list that opens a table's rows by keyboard."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from queries.scope import isolated

PAGE = Path(__file__).with_name("opening_page.py")


def page() -> AppTest:
    return AppTest.from_file(PAGE).run()


def test_a_choice_opens_it_and_may_be_made_again() -> None:
    test = page()
    for expected in ("b", "b, b", "b, b, a"):
        test.selectbox(key="pick").select(expected[-1]).run()
        assert not test.exception
        assert (test.text[0].value, test.selectbox(key="pick").value) == (expected, None)


def test_labels_are_one_line_of_limited_length() -> None:
    first, second = page().selectbox(key="pick").options
    assert first == isolated("first thing")
    assert second == isolated(f"{('second ' * 40)[:80]}…")


def test_things_that_are_called_alike_are_told_apart() -> None:
    test = page()
    alike = test.selectbox(key="alike")
    assert alike.options == [isolated("same"), f"{isolated('same')} (2)", f"{isolated('same')} (3)"]
    alike.select_index(1).run()
    assert test.text[0].value == "d"


def test_nothing_to_open_is_no_list() -> None:
    assert [box.key for box in page().selectbox] == ["pick", "alike"]

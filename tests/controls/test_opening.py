"""The list that opens a table's rows by keyboard."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from queries.scope import isolated

PAGE = Path(__file__).with_name("opening_page.py")
ROOT = Path(__file__).parents[2]
BUTTONS = {"ButtonColumn", "open_column", "enter_column"}  # columns of which a click opens what stands in the row
# Columns of buttons beside which no list stands, and what opens the same by keyboard.
SERVED_OTHERWISE = {
    "controls/links.py": "makes these columns, and draws no table",
    "controls/impact/opening_rows.py": "a column of two tables, each with its own list: findings.py and left_out.py",
    "controls/overview/matrix.py": "the sidebar chooses the organization, the menu the page, that the flag and days",
    "controls/overview/summary.py": "the sidebar chooses the organization",
    "controls/health/tables.py": "the sidebar chooses the organization",
    "controls/search.py": "has a list of its own, of things of five kinds",
}


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


def opened_by(source: str) -> tuple[int, int]:
    """How many columns of buttons a source makes, and how many lists that open by keyboard."""
    called = [
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
    ]
    return sum(name in BUTTONS for name in called), called.count("choose_to_open")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('open_column("a", ids); st.column_config.ButtonColumn("b"); links.enter_column(orgs)', (3, 0)),
        ('opening.choose_to_open("a"); choose_to_open("b")', (0, 2)),
        ("from controls.links import open_column\nmake = [choose_to_open]", (0, 0)),
    ],
)
def test_the_reader_counts_calls(source: str, found: tuple[int, int]) -> None:
    assert opened_by(source) == found


def test_whatever_a_table_opens_can_be_opened_by_keyboard_too() -> None:
    """A list for each column of buttons, of which a module may have several."""
    files = [file for folder in ("controls", "pages") for file in sorted((ROOT / folder).rglob("*.py"))]
    found = {str(file.relative_to(ROOT)): opened_by(file.read_text(encoding="utf-8")) for file in files}
    lacking = {name for name, (columns, lists) in found.items() if columns > lists}
    assert lacking == set(SERVED_OTHERWISE)

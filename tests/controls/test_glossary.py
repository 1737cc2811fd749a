"""Every tooltip comes from the glossary, so that a term is explained in one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from controls import glossary

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "controls").glob("*.py"), *(ROOT / "pages").glob("*.py")])
# Files whose texts still stand beside their widgets; a file leaves this list when its texts have moved.
NOT_YET = {
    "compare", "flag_confirm", "flag_preview", "flags", "impact", "impact_filters", "impact_measures", "inspection",
    "observation_parts", "organizations", "pins", "pipeline", "replayed", "what_if", "why_not",
}  # fmt: skip


def strangers(tree: ast.Module) -> list[str]:
    """Tooltips that are not the glossary's: texts, and names that the file itself gives to a text.

    A name inside a function may stand for one of several, each of which the same rule holds for.
    """
    own = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "help":
            value = node.value
            if isinstance(value, ast.Constant | ast.JoinedStr | ast.BinOp):
                found.append(ast.unparse(value))
            elif isinstance(value, ast.Name):
                found += [value.id] if value.id in own else []
            elif _root(value) != "glossary":
                found.append(ast.unparse(value))
    return found


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_tooltip_comes_from_the_glossary(file: Path) -> None:
    found = strangers(ast.parse(file.read_text(encoding="utf-8")))
    assert bool(found) == (file.parent.name == "controls" and file.stem in NOT_YET), found


@pytest.mark.parametrize(
    "code",
    [
        "st.metric('a', help='a text')", "TEXT = 'a text'\nst.metric('a', help=TEXT)", "st.metric('a', help=f'{x}')",
        "st.metric('a', help='a' + x)", "st.metric('a', help=measure.explained)", "st.metric('a', help=words())",
    ],
    ids=["text", "own name", "built", "added", "of another", "made"],
)  # fmt: skip
def test_the_rule_sees_each_offence(code: str) -> None:
    assert strangers(ast.parse(code))
    assert not strangers(ast.parse("for x in y:\n  st.metric('a', help=glossary.X)\n  st.metric('b', help=x)"))


def test_every_entry_is_a_sentence() -> None:
    entries = {name: text for name, text in vars(glossary).items() if name.isupper() and isinstance(text, str)}
    assert len(entries) > 5
    assert all(text[0].isupper() and text.endswith(".") for text in entries.values())
    assert len(set(entries.values())) == len(entries)

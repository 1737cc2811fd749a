"""Every tooltip comes from the glossary, so that a term is explained in one way."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.replay.propensity import CLIP
from controls import glossary
from controls.glossary import corroboration as of_corroboration
from controls.glossary import inspector as of_inspector
from controls.impact.measures import FAIR_RATE, GOOD_RATE
from queries.aggregation_input import LIMIT
from queries.flags.registry import DEFAULT_STALE
from ranking.budget import BUDGETS, OTHER_BUDGET
from ranking.mmr import DEFAULT_LAMBDA

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "controls").rglob("*.py"), *(ROOT / "pages").glob("*.py")])
CARRIED = "explained"  # the field in which figures, headings, knobs and measures carry their tooltip
CARRIERS = {"Figure": 3, "Heading": 2, "Knob": 4, "Measure": 3}  # and its place among what they are made of

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.comprehension


def strangers(tree: ast.Module) -> list[str]:
    """Tooltips that are not the glossary's, followed through names, loops over tuples, and the file's own functions."""
    return [
        ast.unparse(origin)
        for value, scopes in _tooltips(tree, (tree,))
        for origin in _Origins(tree, frozenset()).of(value, scopes)
        if not _is_ours(origin)
    ]


def _tooltips(node: ast.AST, scopes: tuple[ast.AST, ...]) -> Iterator[tuple[ast.expr, tuple[ast.AST, ...]]]:
    """What is given as ``help``, or carried to be given so, each with the functions around it, innermost first."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.keyword) and inner.arg in ("help", CARRIED):
            yield inner.value, scopes
        if isinstance(inner, ast.Dict):
            pairs = zip(inner.keys, inner.values, strict=True)
            yield from ((v, scopes) for k, v in pairs if isinstance(k, ast.Constant) and k.value == "help")
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in CARRIERS:
            yield from ((value, scopes) for value in inner.args[CARRIERS[inner.func.id] :][:1])
        yield from _tooltips(inner, (inner, *scopes) if isinstance(inner, Function) else scopes)


@dataclass(frozen=True)
class _Origins:
    """Where a value may come from; a name that leads nowhere is its own origin."""

    tree: ast.Module
    seen: frozenset[tuple[str, int]]

    def of(self, value: ast.expr, scopes: tuple[ast.AST, ...]) -> Iterator[ast.expr]:
        if isinstance(value, ast.IfExp):
            yield from (*self.of(value.body, scopes), *self.of(value.orelse, scopes))
        elif isinstance(value, ast.BoolOp):
            yield from (origin for each in value.values for origin in self.of(each, scopes))
        elif isinstance(value, ast.Name):
            yield from self._of_name(value, scopes)
        else:
            yield value

    def _of_name(self, name: ast.Name, scopes: tuple[ast.AST, ...]) -> Iterator[ast.expr]:
        for place, scope in enumerate(scopes):
            if (name.id, id(scope)) in self.seen:
                return
            further = _Origins(self.tree, self.seen | {(name.id, id(scope))})
            found = [
                (value, around)
                for find in (further.bound, further.passed)
                for value, around in find(name.id, scope, scopes[place:])
            ]
            if found:
                yield from (origin for value, around in found for origin in further.of(value, around))
                return
        yield name

    def bound(self, name: str, scope: ast.AST, scopes: tuple[ast.AST, ...]) -> Iterator[_Value]:
        """What a scope assigns to a name, or runs it over."""
        for node in _inside(scope):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    yield node.value, scopes
            elif isinstance(node, Loop):
                yield from self._run_over(name, node, scopes)

    def _run_over(self, name: str, loop: Loop, scopes: tuple[ast.AST, ...]) -> Iterator[_Value]:
        """What stands in a name's place in each of the tuples that a loop runs over, counted from their ends."""
        targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        places = [place for place, each in enumerate(targets) if isinstance(each, ast.Name) and each.id == name]
        for place in places:
            for rows in self.of(loop.iter, scopes):
                if not isinstance(rows, ast.Tuple | ast.List):
                    yield rows, scopes
                    continue
                for row in rows.elts:
                    parts = row.elts if isinstance(loop.target, ast.Tuple) and isinstance(row, ast.Tuple) else None
                    yield (row if parts is None else parts[place - len(targets)]), scopes

    def passed(self, name: str, scope: ast.AST, _: tuple[ast.AST, ...]) -> Iterator[_Value]:
        """What the file gives to a function's parameter."""
        if not isinstance(scope, Function):
            return
        names = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args)]
        keywords = [each.arg for each in scope.args.kwonlyargs]
        for call, around in _calls(self.tree, scope.name, (self.tree,)) if name in (*names, *keywords) else ():
            yield from ((each.value, around) for each in call.keywords if each.arg == name)
            if name in names:
                yield from ((value, around) for value in call.args[names.index(name) :][:1])


_Value = tuple[ast.expr, tuple[ast.AST, ...]]


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """Everything in a scope that is in no function of its own."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, Function):
            yield node
            yield from _inside(node)


def _calls(node: ast.AST, name: str, scopes: tuple[ast.AST, ...]) -> Iterator[tuple[ast.Call, tuple[ast.AST, ...]]]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == name:
            yield inner, scopes
        yield from _calls(inner, name, (inner, *scopes) if isinstance(inner, Function) else scopes)


def _is_ours(origin: ast.expr) -> bool:
    """The glossary's own, what a knob or measure carries, or nothing; a text of one's own handed to it is not."""
    if isinstance(origin, ast.Constant):
        return not isinstance(origin.value, str) or not origin.value
    if isinstance(origin, ast.Attribute) and origin.attr == CARRIED:
        return True
    return _root(origin) == "glossary" and not any(
        isinstance(given, ast.JoinedStr | ast.BinOp)
        or (isinstance(given, ast.Constant) and isinstance(given.value, str))
        for call in ast.walk(origin)
        if isinstance(call, ast.Call)
        for given in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_tooltip_comes_from_the_glossary(file: Path) -> None:
    assert strangers(ast.parse(file.read_text(encoding="utf-8"))) == []


OFFENCES = {
    "text": "st.metric('a', help='a text')",
    "own name": "TEXT = 'a text'\nst.metric('a', help=TEXT)",
    "local name": "def f():\n  text = 'a text'\n  st.metric('a', help=text)",
    "built": "st.metric('a', help=f'{x}')",
    "added": "st.metric('a', help='a' + x)",
    "of another": "st.metric('a', help=measure.words)",
    "made": "st.metric('a', help=words())",
    "unknown": "st.metric('a', help=x)",
    "either": "st.metric('a', help=glossary.X if y else 'a text')",
    "in a tuple": "rows = (('a', glossary.X), ('b', *more, 'a text'))\nfor y, x in rows:\n  st.metric(y, help=x)",
    "in a row": "for label, x in (('a', 'a text'),):\n  st.metric(label, help=x)",
    "of a dictionary": "TEXTS = {'a': 'a text'}\n[st.metric(label, help=x) for label, x in TEXTS.items()]",
    "passed": "def f(label, x):\n  st.metric(label, help=x)\nf('a', 'a text')",
    "passed by name": "def f(*, x):\n  st.metric('a', help=x)\nf(x='a text')",
    "carried": "A = Knob('a', 'A', ('x',), 'x', 'a text')",
    "carried by name": "A = Measure(explained='a text')",
    "carried through": "def f(x):\n  return Measure('a', 'b', 'c', x)\nf('a text')",
    "above buttons": "A = Heading('A', 60, 'a text')",
    "in options": "st.metric('a', **{'help': 'a text'})",
    "handed over": "st.metric('a', help=glossary.check('a text'))",
}  # fmt: skip
INNOCENT = {
    "entry": "st.metric('a', help=glossary.X)",
    "made there": "st.metric('a', help=glossary.top_changed(5))",
    "of none": "st.metric('a', help=knob.explained or None)",
    "in a tuple": "def f():\n  rows = (('a text', *z, glossary.X),)\n  for y, x in rows:\n    st.metric(y, help=x)",
    "of its parts": "[st.metric(label, help=x) for label, x in glossary.PARTS.items()]",
    "passed": "def f(label, x):\n  st.metric(label, help=x)\nf('a text', glossary.X)",
    "carried": "A = Knob('a', 'A text', ('x',), 'x', glossary.X)",
    "not carried": "A = Knob('a', 'A text', ('x',), 'x')",
    "another's name": "def f():\n  x = 'a text'\ndef g():\n  x = glossary.X\n  st.metric('a', help=x)",
}  # fmt: skip


@pytest.mark.parametrize("code", OFFENCES.values(), ids=OFFENCES)
def test_the_rule_sees_each_offence(code: str) -> None:
    assert strangers(ast.parse(code))


@pytest.mark.parametrize("code", INNOCENT.values(), ids=INNOCENT)
def test_the_rule_sees_no_other(code: str) -> None:
    assert strangers(ast.parse(code)) == []


TERMS = {
    "Canonical", "Chained", "Diameter", "Flips", "Flips / 100", "Flips per 100", "Log coverage", "RBO", "Set apart",
    "Top 5 changed",
}  # fmt: skip


def unexplained(tree: ast.Module) -> list[str]:
    """Terms that head a column or a figure, and have no tooltip."""
    return [
        str(call.args[0].value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)
        if call.args[0].value in TERMS
        if _made(call).endswith("Column") or _made(call) in CARRIERS
        if not any(each.arg in ("help", CARRIED) for each in call.keywords)
        if len(call.args) <= CARRIERS.get(_made(call), len(call.args))
    ]


def _made(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("column_config.TextColumn('RBO', width=60)", ["RBO"]),
        ("Heading('RBO', 60); Figure('RBO', '1')", ["RBO", "RBO"]),
        ("TextColumn('RBO', help=glossary.RBO); Heading('RBO', 60, glossary.RBO); st.text('RBO')", []),
    ],
)
def test_the_reader_sees_a_term_without_a_tooltip(code: str, found: list[str]) -> None:
    assert unexplained(ast.parse(code)) == found


def test_every_term_above_a_column_or_a_figure_is_explained() -> None:
    found = {str(file): unexplained(ast.parse(file.read_text(encoding="utf-8"))) for file in FILES}
    assert {name: terms for name, terms in found.items() if terms} == {}


def test_every_entry_is_a_sentence_and_shown_somewhere() -> None:
    written = vars(glossary) | vars(of_corroboration) | vars(of_inspector)
    entries = {name: text for name, text in written.items() if name.isupper() and isinstance(text, str)}
    entries |= glossary.SEVERITY_PARTS
    assert len(entries) > 100
    assert [text for text in entries.values() if not (text[0].isupper() or text[0].isdigit()) or text[-1] != "."] == []
    assert len(set(entries.values())) == len(entries)
    shown = {
        node.attr
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "glossary"
    }
    words = {name for name in entries if name.isupper()} | {"SEVERITY_PARTS"}
    assert words - shown == {"TAU"}  # said only as a part of others


def test_a_number_that_is_a_constant_is_the_constant() -> None:
    assert f"longer than {DEFAULT_STALE} days" in glossary.OVERRIDE_AGE
    assert f"above {CLIP:g} and counts as {CLIP:g}" in glossary.CLIPPED
    assert f"newest {LIMIT:,}." in of_corroboration.CORROBORATED
    assert glossary.LAMBDA.endswith(f"documents {DEFAULT_LAMBDA:g}.")
    good, fair = f"{100 * GOOD_RATE:.0f}", f"{100 * FAIR_RATE:.0f}"
    bands = (f"Above {good} % nearly", f"; {fair} to {good} % is usual", f"; below {fair} % the")
    assert all(band in glossary.INJECTION_RATE for band in bands)
    assert all(str(budget) in glossary.BLOCK_BUDGET for budget in (*BUDGETS.values(), OTHER_BUDGET))
    source = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "controls" / "glossary").glob("*.py"))
    written = [number for number in ("90 days", "above 50", "10,000", "0.78", "0.94", "750") if number in source]
    assert written == []

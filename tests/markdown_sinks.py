"""Which expressions reach a place where Streamlit reads Markdown, and which parts of them are not our own words."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
SINKS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    **dict.fromkeys(
        ("markdown", "write", "caption", "error", "warning", "info", "success", "title", "header", "subheader", "toast",
         "badge", "latex", "exception", "spinner", "status"),
        ((0,), ("body", "text", "label")),
    ),
    **dict.fromkeys(
        ("button", "download_button", "form_submit_button", "link_button", "checkbox", "toggle", "selectbox",
         "expander", "multiselect", "text_input", "text_area", "number_input", "date_input", "time_input", "slider",
         "popover", "select_slider", "color_picker", "file_uploader", "chat_message", "chat_input", "dialog"),
        ((0,), ("label", "title")),
    ),
    **dict.fromkeys(
        ("radio", "pills", "segmented_control"), ((0, 1), ("label", "options", "format_func", "captions")),
    ),
    "metric": ((0, 1, 2), ("label", "value", "delta", "delta_description")),
    "tabs": ((0,), ("tabs",)),
    "page_link": ((), ("label",)),
    "progress": ((1,), ("text",)),
    "draw": ((), ("format_func", "captions")),  # a knob draws the widget that it is given
}  # fmt: skip
# What they are made with is drawn by st.metric or st.markdown elsewhere, of which nothing can be seen there.
CARRIERS = {
    "Figure": ((0, 1, 2, 3), ("label", "value", "beside", "explained")),
    "Advice": ((0, 1, 2), ("what", "beside", "todo")),
}
# What these give is a number, a date or words of our own, whatever goes in.
NUMBERS = {
    "number",
    "counted",
    "digits",
    "percent",
    "len",
    "int",
    "float",
    "sum",
    "min",
    "max",
    "round",
    "range",
    "bool",
    "window_before",
    "lasting",
    "unknown_outcomes",
}
KEPT = {"items", "join", "strip", "removeprefix", "removesuffix", "capitalize", "lower", "upper", "replace"}
GATHERED = {"list", "tuple", "enumerate", "zip", "dict"}
GROWN = ("append", "extend", "insert", "add", "update")
PUT_TOGETHER = (
    ast.JoinedStr, ast.BoolOp, ast.BinOp, ast.IfExp, ast.Tuple, ast.List, ast.Set, ast.Starred, ast.Subscript,
    ast.GeneratorExp, ast.ListComp, ast.Lambda,
)  # fmt: skip
NUMERIC = re.compile(r"[+ ]?(,|,?(\.\d+)?[dfge%])|%.*")  # formats that refuse a text, and those of dates


def called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def reaching(tree: ast.Module, rooms: set[str]) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Every expression that some call gives to a Markdown sink; ``rooms`` are modules, which have functions alike."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg == "help":
                yield node, keyword.value
        function = node.func
        if isinstance(function, ast.Call) and any(map(is_sink, function.args)):
            yield from ((node, argument) for argument in node.args)  # one of several sinks, by a dictionary's get
        name = called(function)
        carries = isinstance(function, ast.Name) and name in CARRIERS
        sinks = isinstance(function, ast.Attribute) and name in SINKS and ast.unparse(function.value) not in rooms
        if not carries and not sinks:
            continue
        places, names = CARRIERS[name] if carries else SINKS[name]
        yield from ((node, argument) for place, argument in enumerate(node.args) if place in places)
        yield from ((node, keyword.value) for keyword in node.keywords if keyword.arg in names)


def is_sink(expression: ast.AST) -> bool:
    return isinstance(expression, ast.Attribute) and expression.attr in SINKS and ast.unparse(expression.value) == "st"


def handed_on(tree: ast.Module) -> list[str]:
    """Sinks that are not called where they stand: what reaches them later cannot be seen here."""
    spoken = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    spoken |= {id(one) for node in ast.walk(tree) for one in getattr(node, "decorator_list", ())}
    found = [ast.unparse(node) for node in ast.walk(tree) if is_sink(node) and id(node) not in spoken]
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "streamlit"]
    return found + [alias.name for node in imported for alias in node.names if alias.name in SINKS]


def modules(tree: ast.Module) -> set[str]:
    """Names under which a file holds modules of the project, whose functions may be called like a sink."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    named = [(ROOT.joinpath(*str(node.module).split(".")), alias) for node in found for alias in node.names]
    ours = {alias.asname or alias.name for place, alias in named if (place / f"{alias.name}.py").exists()}
    return ours | {"log", "super()"}


class Reading:
    """One file: what of an expression is neither a constant of ours nor a number."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        every = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]  # outer ones first
        self.inside = {node: function for function in every for node in ast.walk(function)}
        self.asked: set[tuple[str, str]] = set()

    def reaching(self) -> Iterator[tuple[int, str]]:
        """Line and expression of every part of a text at a sink that is not known to be ours."""
        for call, expression in reaching(self.tree, modules(self.tree)):
            for part in sorted(set(self.foreign(expression, self.inside.get(call)))):
                yield call.lineno, part

    def foreign(self, expression: ast.expr, function: ast.FunctionDef | None) -> list[str]:
        """The parts that are not known to be ours."""
        if isinstance(expression, ast.Constant | ast.Compare):
            return []
        if isinstance(expression, ast.FormattedValue):
            spec = "" if expression.format_spec is None else ast.unparse(expression.format_spec)[2:-1]
            return [] if NUMERIC.fullmatch(spec) else self.foreign(expression.value, function)
        if isinstance(expression, ast.Call):
            return self._call(expression, function)
        if isinstance(expression, ast.Name):
            return self._name(expression, function)
        if isinstance(expression, ast.Attribute) and _constant(expression.attr):
            return []
        inner = _parts(expression)
        return [ast.unparse(expression)] if inner is None else self._all(inner, function)

    def _all(self, expressions: Iterable[ast.expr], function: ast.FunctionDef | None) -> list[str]:
        return [part for each in expressions for part in self.foreign(each, function)]

    def _call(self, expression: ast.Call, function: ast.FunctionDef | None) -> list[str]:
        name = called(expression.func)
        if name in NUMBERS:
            return []
        if name in KEPT and isinstance(expression.func, ast.Attribute):
            return self._all((expression.func.value, *expression.args), function)
        if name in GATHERED or ast.unparse(expression.func).startswith("glossary."):
            return self._all(expression.args, function)
        inner = self.functions.get(name) if isinstance(expression.func, ast.Name) else None
        if inner is not None and ("()", name) not in self.asked:
            self.asked.add(("()", name))
            returned = [node.value for node in ast.walk(inner) if isinstance(node, ast.Return) and node.value]
            found = self._all(returned, inner)
            self.asked.discard(("()", name))
            return [f"{name}(): {part}" for part in found]
        return [ast.unparse(expression)]

    def _name(self, expression: ast.Name, function: ast.FunctionDef | None) -> list[str]:
        name = expression.id
        if _constant(name):
            return []
        if function is None:
            return [name]
        if (function.name, name) in self.asked:
            return []  # it is being looked at
        self.asked.add((function.name, name))
        given = [value for node in ast.walk(function) for value in _given(node, name)]
        found = self._all(given, function)
        self.asked.discard((function.name, name))
        parameters = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
        return [*found, name] if name in parameters or not given else found


def _parts(expression: ast.expr) -> list[ast.expr] | None:
    """What an expression is put together of; None where that cannot be told."""
    looked_up = isinstance(expression, ast.Attribute) and expression.attr == "__getitem__"
    if not looked_up and not isinstance(expression, PUT_TOGETHER):
        return None
    inner: list[ast.expr] = []
    for name in ("values", "elts", "left", "right", "body", "orelse", "value", "elt"):
        found = getattr(expression, name, [])
        inner += found if isinstance(found, list) else [found]
    return inner


def _constant(name: str) -> bool:
    return name.lstrip("_").isupper()


def _given(node: ast.AST, name: str) -> list[ast.expr]:
    """What a statement or a loop binds to a name."""
    if isinstance(node, ast.Assign):
        found = []
        for target in node.targets:
            found += _bound(target, node.value, name)
        return found
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        return [] if node.value is None else _bound(node.target, node.value, name)
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {f"{name}.{way}" for way in GROWN}:
        return list(node.args)
    if isinstance(node, ast.For | ast.comprehension):
        return _bound(node.target, node.iter, name)
    return []


def _bound(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    if isinstance(target, ast.Name):
        return [value] if target.id == name else []
    if isinstance(target, ast.Tuple):
        pairs = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
        values = value.elts if pairs and isinstance(value, ast.Tuple) else [value] * len(target.elts)
        return [found for one, other in zip(target.elts, values, strict=True) for found in _bound(one, other, name)]
    return []

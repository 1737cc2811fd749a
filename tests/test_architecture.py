"""Who may import whom, and which calls may stand nowhere."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = {
    "app",
    "settings",
    "pages",
    "controls",
    "jobs",
    "reports",
    "analysis",
    "retrieval",
    "charts",
    "queries",
    "ranking",
    "benchmarks",
    "tests",
}

# Folder → what its files may import, beside the standard library and the folder itself.
MAY_IMPORT = {
    "app": {
        "settings",
        "controls.downloads",
        "controls.identity",
        "controls.wire",
        "jobs.care",
        "streamlit",
        "starlette",
    },
    "settings": set(),
    "pages": {"controls", "charts", "analysis", "queries", "ranking", "retrieval", "reports", "streamlit"},
    "controls": {
        "analysis",
        "charts",
        "jobs.worker_pool",
        "queries",
        "ranking",
        "reports",
        "retrieval",
        "settings",
        "streamlit",
        "google.protobuf",
        "pandas",
    },
    "jobs": {"reports", "analysis", "retrieval", "queries", "ranking", "settings", "numpy", "wordllama"},
    "reports": {"analysis", "charts", "pypdf", "typst"},
    "analysis": {"retrieval", "queries", "ranking", "numpy", "sklearn"},
    "retrieval": {"queries", "ranking", "numpy", "onnxruntime", "tokenizers", "wordllama", "httpx"},
    "charts": {"numpy", "pandas", "plotly"},
    "queries": {"ranking.candidates", "numpy", "sqlalchemy", "psycopg", "alembic", "pandas", "pgvector", "psutil"},
    "ranking": {"numpy", "scipy", "pyarrow"},
}

VERSION_FLOORS = {
    "streamlit": (1, 67),
    "starlette": (1, 1),
    "sqlalchemy": (2, 1),
    "psycopg": (3, 3),
    "pandas": (3, 1),
    "plotly": (7, 1),
    "numpy": (2, 4),
}


def sources(*folders: str) -> list[Path]:
    """Every Python file of these folders, or of the whole project without its tests."""
    places = [ROOT / name for name in (folders or sorted(MAY_IMPORT))]
    files = [
        f
        for place in places
        for f in ([place.with_suffix(".py")] if place.with_suffix(".py").exists() else place.rglob("*.py"))
    ]
    return sorted(f for f in files if f.exists())


def imports(file: Path) -> set[str]:
    """What a file imports as it runs; a type from a library may be named anywhere, our own rooms may not."""
    found: set[str] = set()
    tree = ast.parse(file.read_text())
    guards = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for_types = {id(inner) for node in guards for inner in ast.walk(node) if _module(inner) not in OURS}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # "from queries import embedded" names a module, "from queries.engine import Store" a thing inside one.
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside if node.module in OURS else {node.module}
    return found


def _module(node: ast.AST) -> str:
    return (getattr(node, "module", None) or "").split(".")[0]


def room(file: Path) -> str:
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", sources(), ids=lambda f: str(f.relative_to(ROOT)))
def test_a_file_imports_only_what_its_room_may(file: Path) -> None:
    allowed = MAY_IMPORT[room(file)] | {room(file)}
    if "migrations" in file.parts:
        allowed = {"alembic"}
    strangers = {
        name
        for name in imports(file)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not any(name == known or name.startswith(f"{known}.") for known in allowed)
    }
    assert not strangers


def test_the_documented_table_says_the_same() -> None:
    documented = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .* \|([^|]*)\|$", documented, re.MULTILINE)
    assert {room: set(filter(None, names.strip().split(", "))) for room, names in rows} == MAY_IMPORT


def test_every_room_of_the_project_is_in_the_table() -> None:
    folders = {p.parent.name for p in ROOT.glob("*/*.py")} | {p.stem for p in ROOT.glob("*.py")}
    assert folders - {"tests", "benchmarks"} <= set(MAY_IMPORT)


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "core", "base"])
def test_no_room_without_a_subject(name: str) -> None:
    found = [p for p in ROOT.glob(f"**/{name}*") if p.suffix in ("", ".py")]
    assert not [p for p in found if not {".venv", ".git", ".rankscope"} & set(p.parts)]


def test_a_file_has_at_most_300_lines_tests_too_and_a_page_90() -> None:
    lines = {file: file.read_text().count("\n") for file in (*sources(), *sources("benchmarks", "tests"))}
    longer = {file: count for file, count in lines.items() if count > (90 if room(file) == "pages" else 300)}
    assert {str(file.relative_to(ROOT)): count for file, count in longer.items()} == {}


def test_every_table_shows_its_texts_in_one_way() -> None:
    drawn = [file for file in sources("controls", "pages") if "st.dataframe(" in file.read_text()]
    assert drawn == [ROOT / "controls" / "grid.py"]


FORBIDDEN_NAMES = {
    "unsafe_allow_html", "ImageColumn", "LinkColumn", "MarkdownColumn", "components", "iframe",
    "read_sql", "read_sql_query", "exec_driver_sql",
}  # fmt: skip
FORBIDDEN_CALLS = {"st.html", "st.table", "st.write"}
OWN_STYLE = re.compile(r"st\.html\(Path\(__file__\)\.with_name\('\w+\.css'\)\)")  # a file of ours, no text of anyone's
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}


def offences(tree: ast.AST) -> list[str]:
    """Calls through which tenant text could become markup or SQL."""
    found = []
    own_files = {
        node.func for node in ast.walk(tree) if isinstance(node, ast.Call) and OWN_STYLE.fullmatch(ast.unparse(node))
    }
    for node in ast.walk(tree):
        if node in own_files:
            continue
        if isinstance(node, ast.keyword) and node.arg in FORBIDDEN_NAMES:
            found.append(f"keyword {node.arg}")
        if isinstance(node, ast.Attribute) and (node.attr in FORBIDDEN_NAMES or ast.unparse(node) in FORBIDDEN_CALLS):
            found.append(f"attribute {node.attr}")
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
            found += [f"import {name}" for name in names if name.split(".")[0] in FORBIDDEN_MODULES]
            found += [f"import {name}" for name in names if name in FORBIDDEN_NAMES]
        if isinstance(node, ast.Call):
            name = _name(node.func)
            if name in ("query", "eval"):
                found.append(f"{name}()")
            is_sql = name in ("text", "execute") and ast.unparse(node.func) != "st.text"
            if is_sql and node.args and _is_built(node.args[0]):
                found.append(f"{name}() of a built string")
    return found


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_built(argument: ast.expr) -> bool:
    if isinstance(argument, ast.Call):
        if isinstance(argument.func, ast.Attribute) and argument.func.attr == "format":
            # psycopg's own composition quotes every part
            return not (isinstance(argument.func.value, ast.Call) and _name(argument.func.value.func) == "SQL")
        return any(_is_built(inner) for inner in argument.args)
    return isinstance(argument, ast.JoinedStr | ast.BinOp)


@pytest.mark.parametrize(
    "file", [f for f in sources() if "migrations" not in f.parts], ids=lambda f: str(f.relative_to(ROOT))
)
def test_no_call_through_which_tenant_text_becomes_markup_or_sql(file: Path) -> None:
    """Migrations are apart: they build SQL, from their own constants alone."""
    assert offences(ast.parse(file.read_text())) == []


@pytest.mark.parametrize(
    "code",
    [
        "st.markdown(x, unsafe_allow_html=True)", "st.html(x)", "st.table(frame)", "frame.query(x)", "frame.eval(x)",
        "import pickle", "from pickle import loads", "st.column_config.LinkColumn()", "text(f'select {x}')",
        "connection.execute(text('select ' + x))", "connection.execute('select %s' % x)", "text('{}'.format(x))",
        "pd.read_sql(x, c)", "st.components.v1.html(x)", "st.html(Path(x))", "st.html(Path(__file__).with_name(x))",
        "draw = st.html",
    ],
)  # fmt: skip
def test_the_lint_sees_each_offence(code: str) -> None:
    assert offences(ast.parse(code))


def test_a_style_of_our_own_is_none() -> None:
    assert offences(ast.parse("st.html(Path(__file__).with_name('beyond_theme.css'))")) == []


def cached_functions(tree: ast.AST) -> list[tuple[str, str, ast.FunctionDef]]:
    found = []
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", ()):
            name = _name(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if isinstance(node, ast.FunctionDef) and name in ("cache_data", "cache_resource"):
                found.append((name, ast.unparse(decorator), node))
    return found


def cache_faults(tree: ast.AST) -> list[str]:
    """Streamlit hashes a sample of a large frame, so a frame as key can return another caller's answer."""
    faults = []
    for kind, decorator, function in cached_functions(tree):
        keys = [argument for argument in function.args.args if not argument.arg.startswith("_")]
        hints = " ".join(ast.unparse(argument.annotation) for argument in keys if argument.annotation)
        if re.search(r"DataFrame|ndarray|Series", hints):
            faults.append(f"{function.name} takes a frame or an array as key")
        one = kind == "cache_resource" and not keys  # of the process, whoever asks
        if not one and (not keys or keys[0].arg != "scope_key"):
            faults.append(f"{function.name} does not take scope_key first")
        if not one and not ("ttl" in decorator and "max_entries" in decorator):
            faults.append(f"{function.name} is kept without limit")
    return faults


@pytest.mark.parametrize("file", sources(), ids=lambda f: str(f.relative_to(ROOT)))
def test_a_cache_is_keyed_by_reach_and_scalars(file: Path) -> None:
    tree = ast.parse(file.read_text())
    assert cache_faults(tree) == []
    assert not cached_functions(tree) or file == ROOT / "controls" / "loading.py"


@pytest.mark.parametrize(
    "code",
    [
        "@st.cache_data(ttl=1, max_entries=1)\ndef f(scope_key: str, frame: pd.DataFrame): ...",
        "@st.cache_data(ttl=1, max_entries=1)\ndef f(org: str): ...",
        "@st.cache_data\ndef f(scope_key: str): ...",
        "@st.cache_resource\ndef f(org: str): ...",
        "@st.cache_resource\ndef f(scope_key: str): ...",
        "@st.cache_resource(ttl=1, max_entries=1)\ndef f(org: str): ...",
    ],
)
def test_the_cache_lint_sees_each_fault(code: str) -> None:
    assert cache_faults(ast.parse(code))


@pytest.mark.parametrize("package", VERSION_FLOORS)
def test_a_dependency_is_as_new_as_what_was_tried(package: str) -> None:
    found = tuple(int(part) for part in version(package).split(".")[:2])
    assert found >= VERSION_FLOORS[package]


def test_what_runs_is_pinned_exactly() -> None:
    lines = [line.split("#")[0].strip() for line in (ROOT / "requirements.txt").read_text().splitlines()]
    assert all("==" in line for line in lines if line)


def test_every_lint_ignore_has_a_reason() -> None:
    for line in (
        (ROOT / "pyproject.toml")
        .read_text()
        .split("[tool.ruff.lint]")[1]
        .split("[tool.ruff.lint.pydocstyle]")[0]
        .splitlines()
    ):
        if re.match(r'\s*"[A-Z]+\d*",', line):
            assert "#" in line, line

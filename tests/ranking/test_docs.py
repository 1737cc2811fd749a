import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import ranking
from ranking import LIVE, PRESETS, STAGES, to_text
from ranking.columns import COLUMNS

TEXT = (Path(__file__).parents[2] / "docs" / "ranking.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*PRESETS, *(stage.__name__ for stage in STAGES)])
def test_every_preset_and_stage_is_described(name: str) -> None:
    assert f"`{name}" in TEXT


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in {"agent", "cluster"}])
def test_every_column_a_stage_reads_is_described(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_the_text_of_a_pipeline_is_the_one_shown() -> None:
    assert f"`{to_text(LIVE)}`" in TEXT


def test_every_function_named_can_be_imported_from_the_library() -> None:
    modules = [import_module(f"ranking.{found.name}") for found in pkgutil.iter_modules(ranking.__path__)]
    made = {name for module in modules for name, _ in inspect.getmembers(module, inspect.isfunction) if name[0] != "_"}
    named = set(re.findall(r"`([a-z]\w*)(?:\([^`]*\))?`", TEXT))
    assert not sorted((made & named) - set(ranking.__all__))

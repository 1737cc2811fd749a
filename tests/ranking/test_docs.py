from pathlib import Path

import pytest

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

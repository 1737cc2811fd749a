"""The three walks of docs/operating.md, click by click on a demo store: whatever they click has to be there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.app_server import ROOT
from tests.browser.pictures import demo_application
from tests.browser.walks import WALKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.conftest import Visit

MANUAL = (ROOT / "docs" / "operating.md").read_text()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with demo_application() as url:
        yield url


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", WALKS)
def test_a_walk_arrives(visit: Visit, url: str, name: str) -> None:
    steps: list[int] = []
    WALKS[name](visit, url, lambda _, step: steps.append(step))
    assert steps == list(range(1, len(steps) + 1))
    assert all(f"images/{name}-{step}.png" in MANUAL for step in steps)


def test_every_picture_of_the_manual_is_there() -> None:
    named = [part.split(")")[0] for part in MANUAL.split("](images/")[1:]]
    assert [name for name in named if not (ROOT / "docs" / "images" / name).is_file()] == []

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.queries.embedded.servers import eventually, processes, start


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's, and in which nothing runs any more after the test."""
    with tempfile.TemporaryDirectory(prefix="rankscope-embedded-") as name:
        place = Path(name).resolve()
        place.chmod(0o755)
        yield place
        assert eventually(lambda: not processes(place), 8), processes(place)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A store that is made once, as initdb takes longer than most of these tests."""
    with tempfile.TemporaryDirectory(prefix="rankscope-embedded-") as name:
        Path(name).chmod(0o755)
        made = Path(name).resolve() / "store"
        start(made).release()
        yield made


@pytest.fixture
def folder(made: Path) -> Iterator[Path]:
    """A store with data in it, to be left as it was, and in which nothing runs any more after the test."""
    yield made
    assert eventually(lambda: not processes(made), 8), processes(made)


@pytest.fixture
def copy(place: Path, made: Path) -> Path:
    """A store with data in it, to be spoilt."""
    subprocess.run(["cp", "-a", made, place / "store"], check=True)
    return place / "store"

"""What names no observation, and what went wrong while one was read: two things that are told apart."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from controls import dossier
from queries.scope import EVERYTHING, Scope

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ANY = Scope.of_days(EVERYTHING, NOW.date(), NOW.date())


@pytest.mark.parametrize("named", ["", "x", "00000000-0000-0000-0000-00000000000", "½" * 32])
def test_what_is_no_id_names_nothing(named: str) -> None:
    assert dossier.dossier(ANY, named) is None


def test_a_fault_inside_is_not_taken_for_an_unknown_id(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise ValueError("zip() argument 2 is longer than argument 1")

    monkeypatch.setattr(dossier, "load", faulty)
    with pytest.raises(ValueError, match="argument 2 is longer"):
        dossier.dossier(ANY, "00000000-0000-0000-0000-000000000000")

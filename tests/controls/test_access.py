"""Writing needs a role for the organization, asked anew each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controls import access
from controls.access import NotAllowedError, Principal, require

if TYPE_CHECKING:
    from queries.principals import Role


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Principal]:
    """Who is asking, as the store says at each call."""
    answers: list[Principal] = []
    monkeypatch.setattr(access, "current_principal", lambda: answers.pop(0))
    return answers


def test_an_operator_of_the_organization_may(asked: list[Principal]) -> None:
    operator = Principal("omar", "operator", frozenset({"org_a"}), "proxy")
    asked.append(operator)
    assert require("operator", "org_a") == operator


@pytest.mark.parametrize(
    ("role", "orgs"), [("viewer", {"org_a"}), ("operator", {"org_b"}), ("operator", set()), ("viewer", None)]
)
def test_nobody_else_may(asked: list[Principal], role: Role, orgs: set[str] | None) -> None:
    asked.append(Principal("someone", role, None if orgs is None else frozenset(orgs), "proxy"))
    with pytest.raises(NotAllowedError, match="needs the role operator"):
        require("operator", "org_a")


def test_a_role_taken_away_ends_at_the_next_write(asked: list[Principal]) -> None:
    asked.append(Principal("omar", "operator", frozenset({"org_a"}), "proxy"))
    asked.append(Principal("omar", "viewer", frozenset({"org_a"}), "proxy"))
    require("operator", "org_a")
    with pytest.raises(NotAllowedError):
        require("operator", "org_a")

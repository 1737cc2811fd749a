"""The link of a saved view stands below wherever the dashboard is served."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st

from controls.saved_views import link

SCRIPTS = {"overview.py", "health.py", "drift_alerts.py"}


@pytest.mark.parametrize(
    ("here", "script", "expected"),
    [
        ("https://memory.example/health", "drift_alerts.py", "https://memory.example/drift_alerts?org=a"),
        ("https://memory.example/", "health.py", "https://memory.example/health?org=a"),
        ("https://memory.example", "overview.py", "https://memory.example/?org=a"),
        ("https://memory.example/rankscope/health", "health.py", "https://memory.example/rankscope/health?org=a"),
        ("https://memory.example/rankscope/health", "overview.py", "https://memory.example/rankscope/?org=a"),
        ("https://memory.example/a/rankscope/", "health.py", "https://memory.example/a/rankscope/health?org=a"),
        ("https://memory.example/rankscope", "health.py", "https://memory.example/rankscope/health?org=a"),
        (None, "health.py", "/health?org=a"),
    ],
)
def test_a_link_keeps_the_path_it_is_served_below(
    monkeypatch: pytest.MonkeyPatch, here: str | None, script: str, expected: str
) -> None:
    monkeypatch.setattr(st, "context", SimpleNamespace(url=here))
    assert link(script, "org=a", SCRIPTS) == expected

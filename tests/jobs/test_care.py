"""Whoever cares for the embedded server goes on after a failure, and starts nothing once it is over."""

from __future__ import annotations

import errno
import logging
import os
from typing import TYPE_CHECKING

import settings
from jobs.care import Care
from queries import embedded

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def care_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Care, list[Path]]:
    """Care for a server that cannot be started for want of room, and what was asked to start."""
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("RANKSCOPE_DATA", str(folder))
    started: list[Path] = []

    def start(asked: Path) -> embedded.Lease:
        started.append(asked)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(embedded, "start", start)
    return Care(settings.now()), started


def test_a_failure_of_the_machine_is_logged_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    care, started = care_of(tmp_path, monkeypatch)
    with caplog.at_level(logging.ERROR, "rankscope.app"):
        care.attend()
        care.attend()
    assert len(started) == 2
    assert [record.message for record in caplog.records] == ["embedded store: No space left on device"] * 2


def test_nothing_is_started_once_it_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    care, started = care_of(tmp_path, monkeypatch)
    care.end()
    care.attend()
    assert started == []

"""``python -m jobs`` as someone would type it, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ("DATABASE_URL", "RANKSCOPE_")


def jobs(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The finished process; settings of whoever runs the tests do not reach it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    command = [sys.executable, "-m", "jobs", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=inherited | settings, capture_output=True, text=True, timeout=120, check=False
    )

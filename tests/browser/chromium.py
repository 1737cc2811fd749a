"""Find a Chromium to test with, or get one: the system's, Playwright's own, or the distribution's package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
HELP = (
    "no Chromium found, and none could be installed. The tests need a real browser. Install one, for example with "
    "`apt-get install chromium` or `playwright install chromium`, and run `make test` again."
)


def find() -> str | None:
    """The path of a Chromium that is already here and starts."""
    here = next(filter(starts, filter(None, map(shutil.which, NAMES))), None)
    return here or next(filter(starts, _playwrights_own()), None)


def starts(path: str) -> bool:
    """Whether it runs at all: a downloaded browser may lack the system's libraries."""
    try:
        return subprocess.run([path, "--version"], check=False, timeout=60, capture_output=True).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _playwrights_own() -> list[str]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - slow to import, and only needed here

    with sync_playwright() as playwright:
        return [playwright.chromium.executable_path]


def install() -> str | None:
    """Get a Chromium by Playwright's download, else as root by the distribution's packages."""
    commands = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        commands += [["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "chromium"]]
    for command in commands:
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, check=False, timeout=600, stdout=sys.stderr)
        if (found := find()) is not None:
            return found
    return None


def main() -> int:
    """Print the path of a Chromium, or say how to get one and fail."""
    found = find() or install()
    sys.stdout.write(f"{found}\n" if found else "")
    sys.stderr.write("" if found else f"{HELP}\n")
    return 0 if found else 1


if __name__ == "__main__":
    raise SystemExit(main())

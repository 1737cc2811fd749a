"""Find a Chromium to test with, or get one: the system's, Playwright's own, or the distribution's package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

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
        commands += [["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]]
    said = []
    for command in commands:
        try:
            run = subprocess.run(command, check=False, timeout=600, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            said.append(f"{' '.join(command)}: no end after 600 s\n")
            continue
        said.append(f"{' '.join(command)}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
        if (found := find()) is not None:
            return found
    sys.stderr.writelines(said)  # of use only where nothing helped
    return None


def main() -> int:
    """Print the path of a Chromium, or say how to get one and fail."""
    if (found := find()) is None:
        sys.stderr.write("installing a Chromium ...\n")
        found = install()
    sys.stdout.write(f"{found}\n" if found else "")
    sys.stderr.write("" if found else f"{HELP}\n")
    return 0 if found else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""The application as a process of its own, as an operator would start it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import requests

ROOT = Path(__file__).parents[1]
OURS = ("DATABASE_URL", "RANKSCOPE_", "STREAMLIT_")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class AppServer:
    """``streamlit run app.py`` with a given environment, on a free loopback port; or a script that shows one panel."""

    def __init__(
        self,
        *,
        script: str = "app.py",
        port: int | None = None,
        wait: bool = True,
        arguments: tuple[str, ...] = (),
        below: str = "",
        **environment: str,
    ) -> None:
        self.health = "healthz" if script == "app.py" else "_stcore/health"
        self.port = port or free_port()
        self.environment = environment
        self.url = f"http://127.0.0.1:{self.port}{below}"
        self.log = Path(tempfile.mkstemp(prefix="rankscope-app-", suffix=".log")[1])
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(self.port), *arguments],
                cwd=ROOT,
                env=inherited | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        if wait:
            try:
                self.wait_until_up()
            except RuntimeError:
                self.stop()
                raise

    def wait_until_up(self, limit: float = 60.0) -> None:
        until = time.monotonic() + limit
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError(f"the application ended: {self.output()}")
            try:
                if requests.get(f"{self.url}/{self.health}", timeout=2).status_code == 200:
                    return
            except requests.RequestException:
                time.sleep(0.05)
        raise RuntimeError(f"the application did not come up: {self.output()}")

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """``kill -9``."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        self.log.unlink(missing_ok=True)

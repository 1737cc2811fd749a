"""A database server that is killed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from tests.conftest import Cluster


def kill_server(cluster: Cluster) -> None:
    postmaster = psutil.Process(cluster.lease.pid)
    for process in (*postmaster.children(), postmaster):
        with suppress(psutil.NoSuchProcess):  # one that ends because another was killed
            process.kill()

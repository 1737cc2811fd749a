"""``python -m jobs.demo.maker``: every other organization of a demo, written out as it is copied."""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import datetime
from typing import TYPE_CHECKING

from jobs.demo.load import made, told
from jobs.demo.makers import END, MADE, MAKERS, ROWS, SAID, write
from jobs.demo.rows import COLUMNS
from jobs.demo.sizes import Size

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Make every other organization and write it out."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever read is gone: nobody is left to be told
    asked = json.loads(arguments[0])
    now, size = datetime.fromisoformat(asked["now"]), Size(**asked["size"])
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no frame
        for number in range(asked["place"], len(told(size)), MAKERS):
            records = made(number, now, size, asked["seed"], lambda step: write(out, SAID, step.encode()))
            write(out, MADE)
            for table in COLUMNS:
                for piece in records.encoded(table):
                    write(out, ROWS, piece)
                write(out, END)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

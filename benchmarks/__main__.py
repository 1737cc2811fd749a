"""``python -m benchmarks NAME [--quick]``: run one named benchmark, print its table, then one line of JSON.

A benchmark is a module of this folder with ``run(quick: bool)`` that returns either a list of rows or a dictionary
whose ``rows`` are the table and whose other keys are figures of the whole run. Whatever in it says ``met`` is held to
that: a run that misses a bar says which and ends with 1.
"""

import argparse
import importlib
import json
import os
import pkgutil
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from benchmarks._bars import missed

FOLDER = Path(__file__).parent
_ALL_DIGITS = 1_000
Row = Mapping[str, object]
Run = Callable[[bool], Mapping[str, object] | Sequence[Row]]


def names() -> list[str]:
    """Every benchmark there is: the modules of this folder whose name does not start with an underscore."""
    return sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]) if not module.name.startswith("_"))


def as_text(rows: Sequence[Row]) -> str:
    """Rows as an aligned table, columns in the order in which they first appear."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [columns, *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= _ALL_DIGITS else f"{value:.4g}"
    return str(value)


def main(arguments: Sequence[str]) -> int:
    """Run the named benchmark; the last line of its output is its result as one JSON object, missed bars go beside."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=names())
    parser.add_argument("--quick", action="store_true", help="small sizes, a few seconds")
    options = parser.parse_args(arguments)
    run = cast("Run", importlib.import_module(f"benchmarks.{options.name}").run)
    answer = run(options.quick)
    body: dict[str, object] = dict(answer) if isinstance(answer, Mapping) else {"rows": list(answer)}
    result = {
        "benchmark": options.name,
        "quick": options.quick,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        **body,
    }
    print(as_text(cast("Sequence[Row]", body.get("rows", []))))
    line = json.dumps(result, default=float)
    # a quick run must not replace the published figures
    target = FOLDER / "results" / f"{options.name}{'.quick' if options.quick else ''}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, default=float, indent=1) + "\n", encoding="utf-8")
    print(line)
    over = list(missed(body))
    for bar in over:
        print(f"missed: {bar}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

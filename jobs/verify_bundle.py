"""``python -m jobs verify-bundle FILE``: whether an evidence bundle is what its manifest says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jobs.terminal import printable

if TYPE_CHECKING:
    import argparse

    from settings import Settings


class VerifyError(Exception):
    """A file that cannot be checked, in one sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", metavar="FILE", help="a bundle, as drift-report or the dashboard wrote it")


def main(args: argparse.Namespace, _settings: Settings) -> int:
    """Say that every member is as the manifest has it, or name what differs and return 1; no store is asked."""
    from reports.texts import counted  # noqa: PLC0415 - other jobs start without waiting for it
    from reports.verifying import BundleError, verify  # noqa: PLC0415

    try:
        with Path(args.file).open("rb") as bundle:
            checked = verify(bundle)
    except BundleError as error:
        raise VerifyError(str(error)) from error
    except OSError as error:
        raise VerifyError(f"cannot read {printable(args.file)}: {(error.strerror or str(error)).lower()}") from error
    for difference in checked.differences:
        print(printable(difference))
    print(f"sha256 {checked.sha256} (the record of exports holds the one that was taken)")
    if checked.differences:
        print(f"NOT as it was made: {counted(len(checked.differences), 'difference')}")
        return 1
    print(f"{checked.members - 1:,} members are as the manifest says; data version {_version(checked.manifest)}")
    return 0


def _version(manifest: dict[str, object]) -> str:
    return printable(str(manifest.get("data_version"))[:100])

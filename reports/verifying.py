"""Whether a bundle is what its manifest says: every member read once, nothing unpacked, nothing trusted."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from reports.bundle import MANIFEST, MEMBERS, README, seal

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_MEMBERS = 64
LARGEST_MANIFEST = 1 << 20
CHUNK = 1 << 16
PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
ENCRYPTED = 0x1
WITHOUT_README = 1  # the format of bundles that were made before they had one
BROKEN = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError)


class BundleError(Exception):
    """A file that cannot be checked at all, in one sentence."""


@dataclass(frozen=True)
class Verified:
    """What was checked and what differs, one sentence a difference; none means that the bundle is whole."""

    sha256: str
    members: int
    manifest: dict[str, object]
    differences: tuple[str, ...]


def verify(bundle: BinaryIO) -> Verified:
    """Check a bundle: its manifest against its seal, every member against the manifest, and that nothing was added."""
    digest = sha256_of(bundle)
    try:
        with zipfile.ZipFile(bundle) as archive:
            names = archive.namelist()
            if len(names) > MOST_MEMBERS:
                raise BundleError(f"expected at most {MOST_MEMBERS} members, found {len(names):,}")
            manifest, content = _manifest(archive)
            differences = tuple(_differences(archive, manifest, content))
    except BROKEN as error:
        raise BundleError("expected a bundle, found a file that is no whole zip archive") from error
    return Verified(digest, len(names), manifest, differences)


def sha256_of(file: BinaryIO) -> str:
    """The digest of a whole file, which is left at its start."""
    digest = hashlib.sha256()
    file.seek(0)
    for chunk in iter(lambda: file.read(CHUNK), b""):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def _manifest(archive: zipfile.ZipFile) -> tuple[dict[str, object], bytes]:
    if archive.namelist().count(MANIFEST) != 1:
        raise BundleError(f"expected one {MANIFEST}, found {archive.namelist().count(MANIFEST)}")
    content = b"".join(_read(archive, MANIFEST, LARGEST_MANIFEST))
    if len(content) > LARGEST_MANIFEST:
        raise BundleError(f"expected a {MANIFEST} of at most {LARGEST_MANIFEST:,} bytes, found a larger one")
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        raise BundleError(f"expected JSON in {MANIFEST}, found something else") from None
    if not isinstance(told, dict) or not isinstance(told.get("members"), dict):
        raise BundleError(f"expected the members' hashes in {MANIFEST}, found none")
    return told, content


def _differences(archive: zipfile.ZipFile, manifest: dict[str, object], content: bytes) -> Iterator[str]:
    if archive.comment != seal(content):
        yield f"{MANIFEST} changed: its hash is not the one that the archive was sealed with"
    stated: dict[str, object] = manifest["members"]  # type: ignore[assignment]
    names = archive.namelist()
    expected = set(MEMBERS) - ({README} if manifest.get("format_version") == WITHOUT_README else set())
    for name in sorted(expected - set(stated)):
        yield f"{name} missing: the manifest does not name it"
    for name in sorted(set(names) - {MANIFEST}):
        if name not in MEMBERS and not PLAIN_NAME.fullmatch(name):
            yield f"{name!r} added: a bundle has no member of such a name"
        elif name not in stated:
            yield f"{name} added: the manifest does not know it"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name!r} is there {names.count(name)} times"
    for name, said in sorted(stated.items()):
        if name not in names:
            yield f"{name!r} missing"
        elif (fault := _fault(archive, name, said)) is not None:
            yield f"{name} changed: {fault}"


def _fault(archive: zipfile.ZipFile, name: str, said: object) -> str | None:
    """What is wrong with a member; read no further than the manifest's length, whatever it would unpack to."""
    size = said.get("bytes") if isinstance(said, dict) else None
    expected = said.get("sha256") if isinstance(said, dict) else None
    if not isinstance(size, int) or not isinstance(expected, str):
        return "the manifest says neither its length nor its hash"
    digest, length = hashlib.sha256(), 0
    try:
        for chunk in _read(archive, name, size):
            digest.update(chunk)
            length += len(chunk)
    except BROKEN:
        return "it cannot be unpacked"
    if length != size:
        return f"expected {size:,} bytes, found {'more' if length > size else f'{length:,}'}"
    found = digest.hexdigest()
    return None if found == expected else f"expected sha256 {expected:.64}, found {found}"


def _read(archive: zipfile.ZipFile, name: str, size: int) -> Iterator[bytes]:
    """The member in chunks, at most one byte more than a size."""
    if archive.getinfo(name).flag_bits & ENCRYPTED:
        raise ValueError("an encrypted member")
    left = size + 1
    with archive.open(name) as member:
        while left > 0 and (chunk := member.read(min(CHUNK, left))):
            left -= len(chunk)
            yield chunk

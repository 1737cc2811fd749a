"""PDF documents joined while they come: each is written at once and none is held, however many pages there are."""

from __future__ import annotations

import hashlib
import io
import re
from array import array
from typing import TYPE_CHECKING, NamedTuple, cast

from pypdf import PdfReader
from pypdf.generic import (
    ArrayObject,
    ByteStringObject,
    DecodedStreamObject,
    DictionaryObject,
    IndirectObject,
    NameObject,
    NumberObject,
    PdfObject,
    TextStringObject,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypdf.generic import StreamObject

    from reports.tables import Out

HEADER = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"  # four bytes that no text has: so says the archive's standard
ARCHIVABLE = b"<pdfaid:part>"
CLAIM = re.compile(rb"<pdfaid:(part|conformance)>[^<]*</pdfaid:\1>")
PAGES = re.compile(rb"(?<=<xmpTPg:NPages>)\d+(?=</xmpTPg:NPages>)")
# Tags of a document belong to it alone, and are five sixths of its size; the archive's level U asks for none.
TAGS = ("/StructParents", "/Tabs")
KEPT = ("/OutputIntents", "/Lang", "/ViewerPreferences")


class Part(NamedTuple):
    """A document that was written into another: its pages, the first of them, how many, and what it is called there."""

    pages: PdfObject
    first: PdfObject
    length: int
    title: str


class Joined:
    """A document of many, in order; the one with the title page comes last and is put in front."""

    def __init__(self, out: Out) -> None:
        self.out = out
        self.at = 0
        self.places = array("Q")  # of each object, from the file's start; 0 until it is written
        self.parts: list[Part] = []
        self.digest = hashlib.sha256()
        self.archivable = True
        self._write(HEADER)
        self.tree = self._number()

    @property
    def count(self) -> int:
        """How many pages there are so far."""
        return sum(part.length for part in self.parts)

    def add(self, document: bytes, title: str) -> None:
        """Append the pages of one more document."""
        with io.BytesIO(document) as held:
            reader = PdfReader(held)
            self.parts.append(self._part(reader, title))
        # a reader refers to itself and waits for the collector; what it holds need not
        reader.xref.clear()
        reader.resolved_objects.clear()
        self.archivable = self.archivable and ARCHIVABLE in document

    def finish(self, front: bytes, title: str) -> None:
        """Put the pages of the last document in front, with what it says of itself, and end the file."""
        reader = PdfReader(io.BytesIO(front))
        first = self._part(reader, title)
        parts = [first, *self.parts]
        count = sum(part.length for part in parts)
        archivable = self.archivable and ARCHIVABLE in front
        kids = ArrayObject(part.pages for part in parts)
        tree: dict[str, PdfObject] = {"/Type": NameObject("/Pages"), "/Kids": kids, "/Count": NumberObject(count)}
        self._object(self.tree, _dictionary(tree))
        root = _root(reader)
        kept = {key: root.raw_get(key) for key in KEPT if key in root}
        told = self._copied(kept) | {
            "/Type": NameObject("/Catalog"),
            "/Pages": self.tree,
            "/Metadata": self._metadata(
                cast("StreamObject", root["/Metadata"]).get_data(), count, archivable=archivable
            ),
            "/Outlines": self._outline(parts),
            "/PageLabels": _dictionary({"/Nums": _labels(first.length)}),
        }
        catalog = self._added(_dictionary(told))
        info = self._copied({"/Info": reader.trailer.raw_get("/Info")})["/Info"]
        self._end(catalog, info)

    def _part(self, reader: PdfReader, title: str) -> Part:
        root = _root(reader)
        node = cast("DictionaryObject", root["/Pages"])
        node[NameObject("/Parent")] = self.tree
        first = cast("ArrayObject", node["/Kids"])[0]
        copied = self._copied({"/Pages": root.raw_get("/Pages"), "/First": first})
        return Part(copied["/Pages"], copied["/First"], cast("NumberObject", node["/Count"]), title)

    def _copied(self, named: dict[str, PdfObject]) -> dict[str, PdfObject]:
        """The same values with this file's numbers; whatever they lead to is written."""
        numbers: dict[int, IndirectObject] = {}
        waiting: list[IndirectObject] = []

        def renumbered(value: PdfObject) -> PdfObject:
            if isinstance(value, IndirectObject):
                if value.pdf is None:
                    return value  # ours already
                if value.idnum not in numbers:
                    numbers[value.idnum] = self._number()
                    waiting.append(value)
                return numbers[value.idnum]
            if isinstance(value, DictionaryObject):
                for key in TAGS:
                    value.pop(key, None)
                for key, held in list(value.items()):
                    value[key] = renumbered(held)
            elif isinstance(value, ArrayObject):
                value[:] = [renumbered(held) for held in value]
            return value

        moved = {key: renumbered(value) for key, value in named.items()}
        while waiting:
            source = waiting.pop()
            self._object(numbers[source.idnum], renumbered(cast("PdfObject", source.get_object())))
        return moved

    def _metadata(self, told: bytes, count: int, *, archivable: bool) -> IndirectObject:
        """What the front says of itself, with the pages of all; a part that is not archivable takes that claim away."""
        told = PAGES.sub(b"%d" % count, told)
        stream = DecodedStreamObject()
        stream.set_data(told if archivable else CLAIM.sub(b"", told))
        stream[NameObject("/Type")] = NameObject("/Metadata")
        stream[NameObject("/Subtype")] = NameObject("/XML")
        return self._added(stream)

    def _outline(self, parts: Sequence[Part]) -> IndirectObject:
        """An entry for each part, leading to its first page."""
        root, entries = self._number(), [self._number() for _ in parts]
        for at, part in enumerate(parts):
            entry: dict[str, PdfObject] = {
                "/Title": TextStringObject(part.title),
                "/Parent": root,
                "/Dest": ArrayObject([part.first, NameObject("/Fit")]),
            }
            entry |= {"/Prev": entries[at - 1]} if at else {}
            entry |= {"/Next": entries[at + 1]} if at + 1 < len(parts) else {}
            self._object(entries[at], _dictionary(entry))
        ends = {"/First": entries[0], "/Last": entries[-1], "/Count": NumberObject(len(parts))}
        self._object(root, _dictionary({"/Type": NameObject("/Outlines"), **ends}))
        return root

    def _number(self) -> IndirectObject:
        """A number for an object that is to be written."""
        self.places.append(0)
        return IndirectObject(len(self.places), 0, None)

    def _added(self, value: PdfObject) -> IndirectObject:
        number = self._number()
        self._object(number, value)
        return number

    def _object(self, number: IndirectObject, value: PdfObject) -> None:
        self.places[number.idnum - 1] = self.at
        held = io.BytesIO()
        value.write_to_stream(held)
        self._write(b"%d 0 obj\n%b\nendobj\n" % (number.idnum, held.getvalue()))

    def _end(self, catalog: PdfObject, info: PdfObject) -> None:
        start, size = self.at, len(self.places) + 1
        name = ByteStringObject(self.digest.digest()[:16])
        ends = {"/Size": NumberObject(size), "/Root": catalog, "/Info": info, "/ID": ArrayObject([name, name])}
        trailer = io.BytesIO()
        _dictionary(ends).write_to_stream(trailer)
        self._write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
        for place in self.places:
            self._write(b"%010d 00000 n \n" % place)
        self._write(b"trailer\n%b\nstartxref\n%d\n%%%%EOF\n" % (trailer.getvalue(), start))

    def _write(self, content: bytes) -> None:
        self.out.write(content)
        self.digest.update(content)
        self.at += len(content)


def _root(reader: PdfReader) -> DictionaryObject:
    return cast("DictionaryObject", reader.trailer["/Root"])


def _dictionary(held: dict[str, PdfObject]) -> DictionaryObject:
    return DictionaryObject({NameObject(key): value for key, value in held.items()})


def _labels(front: int) -> ArrayObject:
    """Page numbers as they are printed: roman in front, then from 1."""
    styles = {0: "/r", front: "/D"}
    return ArrayObject(
        part
        for first, style in styles.items()
        for part in (NumberObject(first), _dictionary({"/S": NameObject(style)}))
    )

"""Reads what OpenDocument files have in common: members, encryption and properties."""

from typing import Self
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata
from kebab.parse.archive import ENCRYPTED, Archive
from kebab.parse.ooxml import build_metadata
from kebab.parse.xml_events import get_local_tag, read_tree

_MIME = "application/vnd.oasis.opendocument."


class OpenDocument:
    """The members of an OpenDocument file."""

    def __init__(self, archive: Archive) -> None:
        """Take an archive.

        Raises:
            ParseFailed: The file is encrypted.
        """
        self.archive = archive
        manifest = archive.find("META-INF/manifest.xml") or b""
        if b"encryption-data" in manifest:
            raise archive.refuse(ENCRYPTED)

    @classmethod
    def open_if_matching(cls, data: bytes, path: str, parser: str) -> Self | None:
        """Return the file, None when it is no OpenDocument file.

        Raises:
            ParseFailed: The file is damaged, encrypted, or expands too much.
        """
        archive = Archive(data, path, parser)
        mime = (archive.find("mimetype") or b"").decode("ascii", "replace")
        return cls(archive) if mime.startswith(_MIME) or archive.find_name("content.xml") else None

    def read_metadata(self) -> Metadata:
        """Return the properties of the file."""
        data = self.archive.find("meta.xml")
        if data is None:
            return Metadata()
        return read_properties(read_tree(data, "meta.xml", self.archive.refuse))


def read_properties(root: Element) -> Metadata:
    """Return the properties within `office:meta`."""
    fields: dict[str, list[str]] = {}
    for element in root.iter():
        fields.setdefault(get_local_tag(element.tag), []).append((element.text or "").strip())

    def first(name: str) -> str:
        return fields.get(name, [""])[0]

    return build_metadata(
        title=first("title"),
        authors=[first("initial-creator") or first("creator")],
        keywords=[word for line in fields.get("keyword", []) for word in line.split(",")],
        lang=first("language"),
        dates=(first("date"), first("creation-date")),
    )

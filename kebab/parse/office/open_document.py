"""Reads what OpenDocument files have in common: members, encryption and properties."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata
from kebab.errors.catalog import ParseFailed
from kebab.parse.archive import ENCRYPTED, Archive
from kebab.parse.office.ooxml import build_metadata
from kebab.parse.xml_events import get_local_tag, read_tree

_MIME = "application/vnd.oasis.opendocument."
_CONTENT = "content.xml"


class OpenDocument:
    """An OpenDocument file: an archive, or one XML file with everything.

    `metadata` of one XML file is set when its properties are read.
    """

    def __init__(self, data: bytes, path: str, parser: str) -> None:
        """Open a file.

        Raises:
            ParseFailed: The file is damaged, encrypted, or expands too much.
        """
        self._path, self._parser, self._data = path, parser, data
        self.metadata = Metadata()
        self.archive: Archive | None = None
        self.content_name = "the file"
        if not data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<"):
            self.archive = Archive(data, path, parser)
            self.content_name = _CONTENT
            self._check_encryption(self.archive)
            self.metadata = self._read_metadata(self.archive)

    @property
    def is_recognized(self) -> bool:
        """Return whether the file says that it is an OpenDocument file."""
        if self.archive is None:
            return True
        mime = (self.archive.find("mimetype") or b"").decode("ascii", "replace")
        return mime.startswith(_MIME) or self.archive.find_name(_CONTENT) is not None

    def refuse(self, cause: str) -> ParseFailed:
        """Return the error for this file."""
        return ParseFailed(path=self._path, parser=self._parser, cause=cause)

    def read_content(self) -> bytes:
        """Return the XML with the body.

        Raises:
            ParseFailed: There is none, or it is damaged.
        """
        return self._data if self.archive is None else self.archive.read(_CONTENT)

    def list_style_roots(self) -> Iterator[Element]:
        """Yield the root of the part with the common styles."""
        data = self.archive.find("styles.xml") if self.archive else None
        if data is not None:
            yield read_tree(data, "styles.xml", self.refuse)

    def find_object(self, address: str) -> Element | None:
        """Return the content of an object in the file, such as a chart."""
        name = f"{address.removeprefix('./').rstrip('/')}/{_CONTENT}"
        data = self.archive.find(name) if self.archive else None
        return None if data is None else read_tree(data, name, self.refuse)

    def _check_encryption(self, archive: Archive) -> None:
        if b"encryption-data" in (archive.find("META-INF/manifest.xml") or b""):
            raise self.refuse(ENCRYPTED)

    def _read_metadata(self, archive: Archive) -> Metadata:
        data = archive.find("meta.xml")
        return (
            Metadata()
            if data is None
            else read_properties(read_tree(data, "meta.xml", self.refuse))
        )


def read_properties(root: Element) -> Metadata:
    """Return the properties within `office:meta`."""
    fields: dict[str, list[str]] = {}
    for element in root.iter():
        fields.setdefault(get_local_tag(element.tag), []).append((element.text or "").strip())

    def first(name: str) -> str:
        return fields.get(name, [""])[0]

    return build_metadata(
        title=first("title"),
        authors=first("initial-creator") or first("creator"),
        keywords="\n".join(fields.get("keyword", [])),
        lang=first("language"),
        dates=(first("date"), first("creation-date")),
    )

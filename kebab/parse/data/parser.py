"""Reads files of data: JSON, YAML, TOML, INI, CSV and XML, along their keys."""

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from kebab.core.documents import BlockKind, ParsedDocument
from kebab.parse.blocks import Span
from kebab.parse.code.parser import build_bounded
from kebab.parse.data.keys import (
    MAX_MEMBERS,
    JsonKeys,
    find_number_runs,
    merge_dropped,
    scan_json,
    scan_sections,
    scan_yaml,
)
from kebab.parse.data.regions import (
    MAX_LINES,
    Bounds,
    Region,
    build_data_document,
    cut_regions,
)
from kebab.parse.data.tables import find_table_spans
from kebab.parse.data.xml_regions import scan_xml
from kebab.parse.encoding import Decoded, decode

_LOCK_FILES = frozenset(
    {
        "composer-lock.json",
        "deno.lock",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "packages.lock.json",
        "pnpm-lock.yaml",
    }
)


class DataParser:
    """Parses one kind of data; its text is the file."""

    version = "data-v1"

    def __init__(self, kind: str) -> None:
        """Parse `json`, `lines` (JSON on each line), `yaml`, `sections`, `table` or `xml`."""
        self._read = _READERS[kind]

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; keys with a value of several lines are headings.

        Raises:
            ParseFailed: The bytes are not text.
        """
        decoded = decode(data, path, self.version)
        if PurePosixPath(path).name.lower() in _LOCK_FILES:
            return build_bounded(decoded, path, "lock file")
        return self._read(decoded, path)


def _read_json(decoded: Decoded, path: str) -> ParsedDocument:
    keys = scan_json(decoded.text)
    lines = decoded.text.split("\n")
    if not keys.is_balanced:
        keys = JsonKeys()
        warnings: tuple[str, ...] = ("brackets do not match: read as text",)
    else:
        warnings = _describe_dropped(keys)
    dropped = merge_dropped(keys.dropped, find_number_runs(lines[:MAX_LINES]))
    spans = cut_regions(keys.regions, len(lines))
    return build_data_document(decoded, path, spans, Bounds(dropped, warnings))


def _describe_dropped(keys: JsonKeys) -> tuple[str, ...]:
    lost = len(keys.dropped)
    return (
        (f"lists of which only the first {MAX_MEMBERS:,} members are searched: {lost}",)
        if lost
        else ()
    )


def _read_lines(decoded: Decoded, path: str) -> ParsedDocument:
    spans = [Span(BlockKind.CODE, 0, decoded.text.count("\n") + 1)]
    return build_data_document(decoded, path, spans)


def _read_yaml(decoded: Decoded, path: str) -> ParsedDocument:
    return _read_regions(decoded, path, scan_yaml)


def _read_sections(decoded: Decoded, path: str) -> ParsedDocument:
    return _read_regions(decoded, path, scan_sections)


def _read_regions(
    decoded: Decoded, path: str, scan: Callable[[list[str]], Iterable[Region]]
) -> ParsedDocument:
    lines = decoded.text.split("\n")
    regions = scan(lines[:MAX_LINES])
    dropped = merge_dropped(find_number_runs(lines[:MAX_LINES]))
    return build_data_document(decoded, path, cut_regions(regions, len(lines)), Bounds(dropped))


def _read_table(decoded: Decoded, path: str) -> ParsedDocument:
    return build_data_document(decoded, path, find_table_spans(decoded.text.split("\n")))


def _read_xml(decoded: Decoded, path: str) -> ParsedDocument:
    found = scan_xml(decoded.text)
    spans = cut_regions(found.regions, decoded.text.count("\n") + 1)
    return build_data_document(decoded, path, spans, Bounds((), found.warnings))


_READERS: dict[str, Callable[[Decoded, str], ParsedDocument]] = {
    "json": _read_json,
    "lines": _read_lines,
    "yaml": _read_yaml,
    "sections": _read_sections,
    "table": _read_table,
    "xml": _read_xml,
}

"""Measures how fast the files of each format are read, beside the library that reads them.

python -m tools.bench.formats FOLDER...
python -m tools.bench.formats FOLDER --only html pdf --turns 5

Prints a row for each format: files, megabytes, megabytes for each second of processor time, the
same for the library alone, and how many times as long as the library kebab takes. The library does
what any reader has to do: it parses HTML, gets the text of each page of a PDF, or parses the XML of
an archive. Library and kebab take turns, and the shortest time of each counts. Files that cannot
be read count with their time.
"""

import argparse
import csv
import io
import json
import sys
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import fromstring

from kebab.core.media import detect_media_type, get_media_type
from kebab.core.ports import Parser
from kebab.errors.signal import Signal
from kebab.parse.registry import PARSERS, convert_exceptions

_MEGABYTE = 1e6
_LARGEST = 20_000_000
"""Larger files are left out; the default of the settings does the same."""


class Row(NamedTuple):
    """The figures of one format; the times are in seconds of processor time."""

    name: str
    files: int
    failed: int
    size: int
    kebab: float
    library: float | None


def read_html(data: bytes) -> None:
    """Parse a page."""
    from selectolax.lexbor import LexborHTMLParser

    LexborHTMLParser(data)


def read_pdf(data: bytes) -> None:
    """Get the text of each page."""
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    for page in document:
        text = page.get_textpage()
        text.get_text_range()
        text.close()
        page.close()
    document.close()


def read_archive(data: bytes) -> None:
    """Parse the XML of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            data = archive.read(name) if name.endswith((".xml", ".xhtml", ".rels")) else b""
            if data:
                fromstring(data)  # noqa: S314 - files of the developer


def read_rows(data: bytes) -> None:
    """Read the rows of a table."""
    for _ in csv.reader(io.StringIO(data.decode("utf-8", "replace"))):
        pass


def read_markdown(data: bytes) -> None:
    """Parse Markdown."""
    from pyromark import Markdown

    Markdown().events_with_range(data.decode("utf-8", "replace"))


LIBRARIES: Mapping[str, Callable[[bytes], object]] = {
    "html": read_html,
    "pdf": read_pdf,
    **dict.fromkeys(("docx", "pptx", "xlsx", "odt", "odp", "ods", "epub"), read_archive),
    **dict.fromkeys(("ipynb", "json"), json.loads),
    "csv": read_rows,
    "md": read_markdown,
}
"""By the first suffix of a format, what reads its files without kebab."""


def find_files(folders: Sequence[str]) -> dict[str, list[tuple[str, bytes]]]:
    """Return the files of each media type that kebab reads."""
    found: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    paths = (path for folder in folders for path in sorted(Path(folder).rglob("*")))
    for path in paths:
        media = detect_media_type(path.name)
        if (
            media is not None
            and media in PARSERS
            and path.is_file()
            and 0 < path.stat().st_size <= _LARGEST
        ):
            found[media].append((str(path), path.read_bytes()))
    return found


def measure_format(
    name: str, parser: Parser, files: Sequence[tuple[str, bytes]], turns: int
) -> Row:
    """Return the figures of the files of one format."""
    library = LIBRARIES.get(name)
    times: dict[str, list[float]] = defaultdict(list)
    failed = 0
    for _ in range(turns):
        if library is not None:
            began = time.process_time()
            for _path, data in files:
                with suppress(Exception):  # damaged files fail in many ways
                    library(data)
            times["library"].append(time.process_time() - began)
        failed = 0
        began = time.process_time()
        for path, data in files:
            try:
                with convert_exceptions(path, parser.version):
                    parser.parse(data, path)
            except Signal:
                failed += 1
        times["kebab"].append(time.process_time() - began)
    size = sum(len(data) for _, data in files)
    least = min(times["library"]) if library else None
    return Row(name, len(files), failed, size, min(times["kebab"]), least)


def format_rows(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| format | files | not read | MB | MB/s | library alone, MB/s | times the library |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        size = row.size / _MEGABYTE
        cells = [row.name, row.files, row.failed, f"{size:.1f}", f"{size / row.kebab:.1f}"]
        if row.library:
            cells += [f"{size / row.library:.1f}", f"{row.kebab / row.library:.1f}"]
        else:
            cells += ["", ""]
        yield f"| {' | '.join(map(str, cells))} |"


def main(arguments: Sequence[str]) -> int:
    """Print the table of the files in some folders."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--only", nargs="+", metavar="FORMAT", help="e.g. html pdf")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args(arguments)
    found = find_files(options.folders)
    named = {media: (get_media_type(media).suffixes or (f".{media}",))[0][1:] for media in found}
    rows = [
        measure_format(named[media], PARSERS[media], files, options.turns)
        for media, files in found.items()
        if not options.only or named[media] in options.only
    ]
    rows.sort(key=lambda row: row.size / row.kebab)
    sys.stdout.write("\n".join(format_rows(rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Compares the text that kebab reads of files with what other libraries read of them.

python -m tools.format_recall FOLDER...
python -m tools.format_recall FOLDER --only docx pptx --worst 5 --workers 4

Prints a row for each format: files that are read, read without text, and refused; the share of the
words of the reference that kebab has (recall), and the share of its pairs of neighbouring words
(order), both counted with repetitions as in ROUGE-1 and ROUGE-2; and the places (pages, slides,
cells) that another library finds with the same words. The reference of PDF files is `pdftotext`,
that of HTML the text between its tags, that of all other formats kreuzberg. Files that the
reference cannot read count for neither. Files are read at once by several workers; none takes
longer than a minute in kebab and ten seconds in the reference.

kreuzberg, python-pptx and openpyxl are imported when they are installed; they are no dependencies
of kebab. Words are runs of letters and digits in NFKC and lower case.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import fromstring

from kebab.core.documents import ParsedDocument
from kebab.core.media import get_media_type
from kebab.errors.signal import Signal
from kebab.limits.deadline import limit_time
from kebab.parse.registry import PARSERS, convert_exceptions
from tools.bench.formats import find_files

_DEADLINE_S = 60
_REFERENCE_DEADLINE_S = 10
_WORD = re.compile(r"\w+")
_TAG = re.compile(r"<[^<>]*>")
_HIDDEN = re.compile(r"<!--.*?-->|<(head|script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"^# Slide \d+$|^> Notes:|^Chart:|^(?:> )?Comment (?:by|on) .*$", re.MULTILINE)
"""What kebab writes into a text by itself, and comments, which the other readers leave out."""

_SAME_PLACE = 0.9
"""The share of the words of a place that the other library must have at the same place."""


class FileResult(NamedTuple):
    """What one file gave. `recall` and `order` are None without a reference of more than a word."""

    path: str
    media: str
    words: int
    seconds: float
    failure: str = ""
    recall: float | None = None
    order: float | None = None
    places: int = 0
    right_places: int = 0


def list_words(text: str) -> list[str]:
    """Return the words of a text in NFKC and lower case."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def read_with_kreuzberg(data: bytes, media: str) -> str:
    """Return the text of a file as kreuzberg extracts it."""
    from kreuzberg import extract_bytes_sync

    return str(extract_bytes_sync(data, media).content)


def read_between_tags(data: bytes) -> str:
    """Return the text of a page of HTML, also of its menus; kreuzberg writes some tables twice."""
    page = _HIDDEN.sub(" ", data.decode("utf-8", "replace"))
    return unescape(_TAG.sub(" ", page))


def read_pages(data: bytes) -> dict[str, str]:
    """Return the text of each page of a PDF file by its number, as poppler extracts it."""
    command = [shutil.which("pdftotext") or "pdftotext", "-", "-"]
    done = subprocess.run(  # noqa: S603 - files of the developer
        command, input=data, capture_output=True, check=True, timeout=_REFERENCE_DEADLINE_S
    )
    pages = done.stdout.decode("utf-8", "replace").split("\f")
    return {str(number): page for number, page in enumerate(pages, 1)}


def read_slides(data: bytes) -> dict[str, str]:
    """Return the text of each slide by its number: all paragraphs of its XML, and of its notes."""
    from pptx import Presentation

    paragraph = "{http://schemas.openxmlformats.org/drawingml/2006/main}p"
    slides = {}
    for number, slide in enumerate(Presentation(io.BytesIO(data)).slides, 1):
        parts = [slide.element]
        if slide.has_notes_slide:
            parts.append(slide.notes_slide.element)
        lines = [one.text for part in parts for one in part.iter(paragraph)]
        charts = [shape.chart.part.blob for shape in slide.shapes if shape.has_chart]
        lines += [" ".join(fromstring(chart).itertext()) for chart in charts]  # noqa: S314
        slides[str(number)] = "\n".join(lines)
    return slides


def read_sheets(data: bytes) -> dict[str, str]:
    """Return the text of all cells of each sheet by its name."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), data_only=True)
    return {
        sheet.title: " ".join(
            str(cell.value) for row in sheet.iter_rows() for cell in row if cell.value is not None
        )
        for sheet in book.worksheets
    }


PLACES: Mapping[str, Callable[[bytes], dict[str, str]]] = {
    "pdf": read_pages,
    "pptx": read_slides,
    "xlsx": read_sheets,
}
"""By format, what reads its places without kebab."""


def measure_overlap(ours: Sequence[str], reference: Sequence[str]) -> tuple[float, float]:
    """Return the shares of the words, and of the pairs of neighbours, that `ours` has."""
    words, pairs = Counter(reference), Counter(pairwise(reference))
    recall = (Counter(ours) & words).total() / max(words.total(), 1)
    return recall, (Counter(pairwise(ours)) & pairs).total() / max(pairs.total(), 1)


def count_right_places(
    document: ParsedDocument, name: str, reference: Mapping[str, str]
) -> tuple[int, int]:
    """Return how many places have words, and how many of them the reference has there as well."""
    checked = right = 0
    ends = [place.start for place in document.places[1:]] + [len(document.text)]
    for place, end in zip(document.places, ends, strict=True):
        words = list_words(_LABEL.sub("", document.text[place.start : end]))
        if not words:
            continue
        key = place.label if name == "xlsx" else str(place.number)
        checked += 1
        right += measure_overlap(list_words(reference.get(key, "")), words)[0] >= _SAME_PLACE
    return checked, right


def compare_file(name: str, media: str, path: str) -> FileResult:
    """Read a file with kebab and with the reference, and compare them."""
    data = Path(path).read_bytes()
    began = time.process_time()
    try:
        with limit_time(_DEADLINE_S, path), convert_exceptions(path, name):
            document = PARSERS[media].parse(data, path)
    except Signal as refused:
        spent = time.process_time() - began
        return FileResult(path, media, 0, spent, str(getattr(refused, "cause", refused)))
    words = list_words(document.text)
    result = FileResult(path, media, len(words), time.process_time() - began)
    try:
        with limit_time(_REFERENCE_DEADLINE_S, path):
            places = PLACES[name](data) if name in PLACES else {}
            if name == "pdf":
                whole = " ".join(places.values())
            else:
                whole = (
                    read_between_tags(data) if name == "html" else read_with_kreuzberg(data, media)
                )
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - libraries fail in many ways, those of Rust by a panic
        return result
    reference = list_words(whole)
    if len(reference) > 1:
        recall, order = measure_overlap(words, reference)
        result = result._replace(recall=recall, order=order)
    if places and document.places:
        checked, right = count_right_places(document, name, places)
        result = result._replace(places=checked, right_places=right)
    return result


def format_row(name: str, results: Sequence[FileResult]) -> str:
    """Return the row of a format in Markdown."""
    read = [one for one in results if not one.failure]
    compared = [one for one in read if one.recall is not None]
    shares = ["", ""]
    if compared:
        shares = [
            f"{sum(one.recall or 0 for one in compared) / len(compared):.3f}",
            f"{sum(one.order or 0 for one in compared) / len(compared):.3f}",
        ]
    places = sum(one.places for one in results)
    right = f"{sum(one.right_places for one in results)} of {places}" if places else ""
    spent = sum(one.seconds for one in results) / len(results)
    empty = sum(1 for one in read if not one.words)
    cells = [name, len(read) - empty, empty, len(results) - len(read), len(compared), *shares]
    return f"| {' | '.join(map(str, [*cells, right, f'{1000 * spent:.0f} ms']))} |"


def list_lines(results: Mapping[str, Sequence[FileResult]], worst: int) -> Iterator[str]:
    """Yield the table, then for each format the files of least recall and those without text."""
    yield "| format | read | without text | refused | compared | recall | order | places | time |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, group in sorted(results.items()):
        yield format_row(name, group)
    for name, group in sorted(results.items()) if worst else ():
        low = sorted(
            (one.recall, one.order or 0, one.path) for one in group if one.recall is not None
        )
        for recall, order, path in low[:worst]:
            yield f"{name}: recall {recall:.3f}, order {order:.3f}: {path}"
        for one in group:
            if one.failure or not one.words:
                yield f"{name}: {one.failure or 'no text'}: {one.path}"


def main(arguments: Sequence[str]) -> int:
    """Print the table of the files in some folders."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--only", nargs="+", metavar="FORMAT", help="e.g. docx pdf")
    parser.add_argument("--worst", type=int, default=0, help="files with the least recall to name")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="files read at once")
    options = parser.parse_args(arguments)
    if shutil.which("pdftotext") is None:
        sys.stderr.write("pdftotext is not installed: PDF files are not compared\n")
    results: dict[str, list[FileResult]] = defaultdict(list)
    with ProcessPoolExecutor(options.workers) as workers:
        waiting = [
            (name, workers.submit(compare_file, name, media, path))
            for media, files in find_files(options.folders).items()
            for name in [(get_media_type(media).suffixes or (f".{media}",))[0][1:]]
            if not options.only or name in options.only
            for path, _ in files
        ]
        for name, result in waiting:
            results[name].append(result.result())
    sys.stdout.write("\n".join(list_lines(results, options.worst)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

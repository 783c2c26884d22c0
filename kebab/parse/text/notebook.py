"""Reads Jupyter notebooks: cells of Markdown and code, with their outputs as text."""

import re
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any

from kebab.core.chunks import Place
from kebab.core.documents import Metadata, ParsedDocument
from kebab.limits.deadline import build_refusal
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.parse.text.data import get_text, list_records, load_json
from kebab.parse.text.markdown import MarkdownParser

_MAX_CELLS = 20_000
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_TEXT_TYPES = ("text/markdown", "text/plain", "text/latex", "text")
_TAG = re.compile(r"<[^<>]{0,1000}>")


class NotebookParser:
    """Parses notebooks of the formats 3, which has sheets of cells, and 4."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; each cell is a place."""
        text = decode(data).text
        content = load_json(text)
        (record,) = list_records([content]) or [{}]
        sheets = list_records(record.get("worksheets")) or [record]
        lists = [one["cells"] for one in sheets if isinstance(one.get("cells"), list)]
        if not lists:
            cause = "damaged: not JSON" if content is None else "no notebook: it has no cells"
            raise build_refusal(cause)
        return _NotebookReader(content, path).read([cell for cells in lists for cell in cells])


class _NotebookReader:
    def __init__(self, content: Mapping[str, Any], path: str) -> None:
        found = content.get("metadata")
        self._metadata: Mapping[str, Any] = found if isinstance(found, dict) else {}
        self._path = path
        self._builder = TextBuilder()
        self._links: list[str] = []
        self._front = Metadata()
        self._shortened = 0
        self._others: list[str] = []
        kernel = (("language_info", "name"), ("kernelspec", "language"))
        languages = (get_text(self._metadata.get(part), key) for part, key in kernel)
        self._language = next((one for one in languages if one and one.isprintable()), "")

    def read(self, cells: list[Any]) -> ParsedDocument:
        """Return the document."""
        for number, cell in enumerate(cells[:_MAX_CELLS]):
            if isinstance(cell, dict):
                self._builder.begin_place(Place(0, number))
                kind = cell.get("cell_type")
                source = _join(cell.get("source", cell.get("input")))
                if kind == "code":
                    self._builder.add_code(source, self._language)
                    for output in list_records(cell.get("outputs")):
                        text = _ANSI.sub("", _read_output(output)).strip("\n")
                        self._others += _list_other_forms(output)
                        lines = text[:4_000].split("\n")[:40]
                        short = "\n".join(lines)
                        if len(short) < len(text):
                            self._shortened += 1
                            self._builder.leave_out("ends of long outputs", text[len(short) :])
                            short += "\n\u2026"
                        self._builder.add_code(short, "text")
                elif kind == "heading":
                    level = cell.get("level")
                    self._builder.add_heading(level if isinstance(level, int) else 1, source)
                elif kind == "markdown" or source.startswith("---\n"):
                    document = MarkdownParser().parse(source.encode("utf-8", "replace"), self._path)
                    self._builder.add_blocks(document)
                    self._links += document.links
                    if self._front == Metadata():
                        self._front = document.metadata
                else:
                    self._builder.add_code(source)
        self._builder.leave_out_unknown("other forms of outputs", self._others)
        warnings = []
        if len(cells) > _MAX_CELLS:
            warnings.append(f"only the first {_MAX_CELLS:,} of {len(cells):,} cells are searched")
        if self._shortened:
            warnings.append(f"long outputs are shortened: {self._shortened}")
        authors = list_records(self._metadata.get("authors"))
        names = filter(None, (get_text(author, "name") for author in authors))
        metadata = self._front._replace(
            title=self._front.title or get_text(self._metadata, "title") or None,
            authors=self._front.authors or tuple(names),
        )
        return self._builder.build(self._path, metadata, warnings=warnings, links=self._links)


def _read_output(output: Mapping[str, Any]) -> str:
    """Return the text of an output; images have none."""
    if output.get("output_type") == "error":
        return f"{output.get('ename', 'error')}: {output.get('evalue', '')}"
    data = output.get("data")
    shown: Mapping[str, Any] = data if isinstance(data, dict) else output
    # The plain text of a picture is the name of a class.
    is_picture = any(str(kind).startswith(("image/", "application/pdf")) for kind in shown)
    kinds = _TEXT_TYPES[::2] if is_picture else _TEXT_TYPES
    return next((text for kind in kinds if (text := _join(shown.get(kind)))), "")


def _list_other_forms(output: Mapping[str, Any]) -> list[str]:
    """Return the text of an output in HTML, and the traceback of an error."""
    data = output.get("data")
    page = _join(data.get("text/html")) if isinstance(data, dict) else ""
    return [unescape(_TAG.sub(" ", page)), _ANSI.sub("", _join(output.get("traceback")))]


def _join(text: object) -> str:
    """Return a text that is a string or a list of lines."""
    lines: Iterable[object] = text if isinstance(text, list) else [text]
    return "".join(line for line in lines if isinstance(line, str))

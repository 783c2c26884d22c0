"""Builds an evaluation set of questions on the rows of Markdown tables; no model is needed.

A question joins the header of a column with the first cell of a row, as a person asks for a value:
`Default of max_connections`. The row is the answer. `python -m tools.quality` measures the set.

    python -m tools.table_questions DOCS OUT [--limit N]
"""

import argparse
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from kebab.core.documents import BlockKind
from kebab.errors.catalog import ParseFailed
from kebab.parse.markdown import MarkdownParser

_MIN_ROWS = 3
_PER_TABLE = 6
"""The most questions on one table, so that no large table outweighs the others."""

_MARKUP = re.compile(r"<[^>]*>|!?\[([^\]]*)\]\([^)]*\)|[`*|]|\{\{.*?\}\}|\\")
_RULE = re.compile(r"[\s|:-]+\Z")
_HAS_WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class Row:
    """A question and the line of its answer."""

    id: str
    query: str
    doc: str
    line_start: int
    line_end: int


def split_cells(line: str) -> list[str]:
    """Return the plain text of the cells of a row."""
    inner = line.strip().removeprefix("|").removesuffix("|").replace("\\|", "\0")
    cells = (_MARKUP.sub(r"\1", cell).replace("\0", "|") for cell in inner.split("|"))
    return [" ".join(cell.split()) for cell in cells]


def list_questions(text: str, doc: str) -> Iterator[Row]:
    """Yield the questions on the tables of one document."""
    parsed = MarkdownParser().parse(text.encode(), doc)
    for block in parsed.blocks:
        if block.kind is not BlockKind.TABLE:
            continue
        first = parsed.text.count("\n", 0, block.start) + 1
        lines = parsed.text[block.start : block.end].split("\n")
        yield from _list_table_questions(lines, first, doc)


def _list_table_questions(lines: list[str], first: int, doc: str) -> Iterator[Row]:
    header, rows = split_cells(lines[0]), lines[2:]
    if len(rows) < _MIN_ROWS or len(header) < 2 or not _RULE.match(lines[1]):  # noqa: PLR2004 - a name and a value
        return
    step = max(1, len(rows) // _PER_TABLE)
    for number in range(0, len(rows), step):
        cells = split_cells(rows[number])
        column = 1 + number % (len(header) - 1)
        if len(cells) != len(header) or not _is_asked_for(cells[0], header[column], cells[column]):
            continue
        line = first + 2 + number
        yield Row(f"{doc}:{line}", _ask(cells[0], header[column]), doc, line, line)


def _ask(name: str, column: str) -> str:
    """Return the question; other languages than English get the bare words."""
    both = (column, name)
    return " of ".join(both) if "".join(both).isascii() else f"{name} {column}"


def _is_asked_for(name: str, column: str, value: str) -> bool:
    """Return whether a person can ask for the value by these words."""
    return all(_HAS_WORD.search(text) for text in (name, column)) and bool(value) and len(name) < 80  # noqa: PLR2004 - longer cells are text


def build_set(docs: Path, out: Path, limit: int) -> int:
    """Copy the documents that have questions to `out/docs`; return the number of questions.

    A question that several rows would answer is left out.
    """
    found: list[Row] = []
    for path in sorted(docs.rglob("*.md")):
        try:
            text = path.read_text(encoding="utf-8")
            found += list_questions(text, path.relative_to(docs).as_posix())
        except (ParseFailed, UnicodeDecodeError, OSError):
            continue
    counts = Counter(row.query.casefold() for row in found)
    rows = [row for row in found if counts[row.query.casefold()] == 1]
    rows = rows[:: max(1, len(rows) // limit)][:limit]
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(docs.rglob("*.md")):
        target = out / "docs" / path.relative_to(docs)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    lines = (json.dumps(asdict(row), ensure_ascii=False) for row in rows)
    (out / "queries.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(rows)


def main() -> None:
    """Read the arguments and build the set."""
    parser = argparse.ArgumentParser(description="Build questions on the rows of Markdown tables.")
    parser.add_argument("docs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=int, default=400)
    arguments = parser.parse_args()
    count = build_set(arguments.docs, arguments.out, arguments.limit)
    print(f"{count} questions: {arguments.out}")  # noqa: T201 - the output of the program


if __name__ == "__main__":
    main()

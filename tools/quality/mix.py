"""Builds evaluation sets whose documents are in several languages from parallel sets.

Run from a checkout: `python -m tools.quality.mix FOLDER OUT --share en 50 --share es 50`. FOLDER
has one set for each language, `en/` and `es/`, with the same documents and question ids. Each
document is taken in one language; the shares are spread evenly over the documents by name. The new
set has a file of questions for each pair of languages: `queries-es-en.jsonl` holds the Spanish
questions on English documents, `queries.jsonl` all questions in the language of their document. A
single share of 100 gives the set to compare with.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tools.quality.sets import QUERY_FILES

Row: TypeAlias = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Write a set; return 0."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.quality.mix", description="Build a set in several languages."
    )
    parser.add_argument("folder", type=Path, help="a folder with one set for each language")
    parser.add_argument("out", type=Path, help="the folder of the new set")
    parser.add_argument("--share", nargs=2, action="append", required=True, metavar=("LANG", "%"))
    parser.add_argument("--documents", type=int, help="take only so many documents")
    parser.add_argument("--paragraphs", type=int, help="take only so many of each document")
    chosen = parser.parse_args(arguments)
    shares = {language: float(share) for language, share in chosen.share}
    names = sorted(path.name for path in (chosen.folder / next(iter(shares)) / "docs").iterdir())
    languages = assign_languages(names[: chosen.documents], shares)
    last = {
        name: copy_document(chosen.folder / language / "docs" / name, chosen.out, chosen.paragraphs)
        for name, language in languages.items()
    }
    write_questions(chosen.folder, chosen.out, languages, last)
    return 0


def assign_languages(names: Sequence[str], shares: Mapping[str, float]) -> dict[str, str]:
    """Return the language of each document, the one that lags most behind its share."""
    taken = dict.fromkeys(shares, 0)
    languages: dict[str, str] = {}
    for name in names:
        languages[name] = max(
            shares, key=lambda one: shares[one] * (len(languages) + 1) - 100 * taken[one]
        )
        taken[languages[name]] += 1
    return languages


def copy_document(source: Path, out: Path, paragraphs: int | None) -> int:
    """Copy the heading and the first paragraphs of a document; return its last line."""
    lines = source.read_text(encoding="utf-8").split("\n")
    filled = [number for number, line in enumerate(lines, 1) if line.strip()]
    last = filled[: None if paragraphs is None else paragraphs + 1][-1]
    target = out / "docs" / source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines[:last]) + "\n", encoding="utf-8")
    return last


def write_questions(
    folder: Path, out: Path, languages: Mapping[str, str], last: Mapping[str, int]
) -> None:
    """Write the questions of every language on the documents of every language."""
    paths = [path for path in sorted(folder.glob(f"*/{QUERY_FILES}")) if path.stem != "queries"]
    asked = {path.stem.partition("-")[2]: _read_rows(path) for path in paths}
    asked |= {path.parent.name: _read_rows(path) for path in folder.glob("*/queries.jsonl")}
    within: list[Row] = []
    for language in sorted(set(languages.values())):
        rows = [
            row
            for row in asked[language].values()
            if languages.get(row["doc"]) == language and row["line_end"] <= last[row["doc"]]
        ]
        within += rows
        for name, questions in asked.items():
            known = [row for row in rows if str(row["id"]) in questions]
            worded = [row | {"query": questions[str(row["id"])]["query"]} for row in known]
            _write_rows(out / f"queries-{name}-{language}.jsonl", worded)
    _write_rows(out / "queries.jsonl", within)


def _write_rows(path: Path, rows: Sequence[Row]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def _read_rows(path: Path) -> dict[str, Row]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line)
    return {str(row["id"]): row for row in rows}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

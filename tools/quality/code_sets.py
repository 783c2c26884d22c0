"""Builds evaluation sets of questions on the files of source packages; no model is needed.

Each package gives one set with two kinds of questions:

- `queries`: the first sentence of the documentation of a symbol, for its file. The name of the
  symbol is left out, and the documentation is deleted from the copy that is searched.
- `queries-symbols`: a name, for the files that define it.
"""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from kebab.core.media import detect_media_type, is_code

_MODIFIERS = (
    r"(?:(?:export|default|declare|pub(?:\([^)]*\))?|public|private|protected|internal|static|final"
    r"|abstract|async|unsafe|inline|override|open|sealed|data|local|virtual|const)\s+)*"
)
_KEYWORDS = (
    "def|defp|class|fn|func|function|fun|struct|enum|trait|interface|type|module|sub|object|package"
)
_DEFINITION = re.compile(
    rf"^\s*{_MODIFIERS}(?:{_KEYWORDS})\s+(?:\([^)]*\)\s*)?(?:[\w.]*[.:])?(\w+)"
)
_CALL_SHAPE = re.compile(r"^[\w\s<>\[\],.*&:?]*?(\w+)\s*\([^;]*$")
_COMMENT = re.compile(r"^\s*(?:///?|//!|#(?!\[|!|include|define|if|end|else)|--)\s?(.*)$")
_DOC_STRING = re.compile(r'^\s*[rRuU]?"""')
_MARKUP = re.compile(r"\{@\w+\s+([^}]*)\}|<[^>]*>|[`*]|:\w+:")
_SENTENCE_END = re.compile(r"(?<=[a-z0-9)])[.:](?:\s|$)|\s@\w+|\n\s*\n")
_TEST_FILE = re.compile(r"^(?:test_(.+)|(.+?)(?:_test|\.test|\.spec|_spec|Test|-test))$")
_TEST_FOLDER = re.compile(r"(^|/)(tests?|specs?|__tests__|t|benches|benchmarks?|examples?)/")
_IS_NAME = re.compile(r"[a-z][A-Z]|[^_]_[^_]|^[A-Z][a-z]{3}|^[a-z]{6}")
"""A name, and no word of a comment that happens to follow a keyword."""
_FEWEST_WORDS, _MOST_WORDS = 5, 24


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the files that answer it, and the lines [start, end) to delete from a file."""

    query: str
    files: tuple[str, ...]
    cut: tuple[int, int] | None = None


Files: TypeAlias = dict[str, list[str]]
"""The files of code of one package, as lines, by their paths."""


def _is_test(path: str) -> bool:
    """Return whether a file is a test, an example or a benchmark."""
    return bool(_TEST_FOLDER.search(path) or _TEST_FILE.match(PurePosixPath(path).stem))


def read_package(folder: Path) -> Files:
    """Return the code of a package."""
    package: Files = {}
    for path in sorted(folder.rglob("*")):
        media = detect_media_type(path.name) if path.is_file() else None
        if media is not None and is_code(media):
            with suppress(UnicodeDecodeError):
                name = path.relative_to(folder).as_posix()
                package[name] = path.read_text(encoding="utf-8").split("\n")
    return package


def find_name(line: str) -> str | None:
    """Return the name that a line of code defines."""
    found = _DEFINITION.match(line) or _CALL_SHAPE.match(line)
    return found[1] if found else None


def list_comments(lines: Sequence[str]) -> Iterator[tuple[int, int, str, str]]:
    """Yield the documentation of symbols: its first line, the line after it, its text, the name."""
    at = 0
    while at < len(lines):
        start, text = at, []
        if lines[at].lstrip().startswith("/**"):
            while at < len(lines) and "*/" not in lines[at]:
                at += 1
            text = [line.strip(" \t*/") for line in lines[start : at + 1]]
            at += 1
        elif _DOC_STRING.match(lines[at]) and start and (name := _find_name_above(lines, start)):
            at += 0 if lines[at].count('"""') > 1 else 1
            while at < len(lines) and '"""' not in lines[at]:
                at += 1
            at += 1
            yield start, at, "\n".join(one.strip(' \t"') for one in lines[start:at]), name
            continue
        else:
            while at < len(lines) and (found := _COMMENT.match(lines[at])):
                text.append(found[1].strip())
                at += 1
        if text and at < len(lines):
            following = at
            while following < len(lines) - 1 and re.match(r"\s*[@#]\[?\w", lines[following]):
                following += 1  # attributes and annotations
            if name := find_name(lines[following]):
                yield start, at, "\n".join(text), name
        at = max(at, start + 1)


def _find_name_above(lines: Sequence[str], at: int) -> str | None:
    for line in reversed(lines[max(0, at - 6) : at]):
        if found := _DEFINITION.match(line):
            return found[1]
    return None


def ask_by_description(text: str, name: str) -> str | None:
    """Return the first sentence of a documentation without the name, None when it is too short."""
    plain = _MARKUP.sub(r"\1", text).strip().removeprefix('r"""')
    sentence = " ".join(_SENTENCE_END.split(plain, maxsplit=1)[0].split())
    sentence = re.sub(rf"\b{re.escape(name)}\b", "", sentence).strip(" .:,-")
    words = sentence.split()
    if not _FEWEST_WORDS <= len(words) <= _MOST_WORDS or not sentence.isascii():
        return None
    if re.search(
        r"[={}();]|https?:|copyright|licen[sc]e|TODO|FIXME|nolint", sentence, re.IGNORECASE
    ):
        return None
    return " ".join(words)


def list_descriptions(package: Files) -> Iterator[Asked]:
    """Yield the questions by the documentation of symbols."""
    for path, lines in package.items():
        if _is_test(path):
            continue
        for start, end, text, name in list_comments(lines):
            if query := ask_by_description(text, name):
                yield Asked(query, (path,), (start, end))


def list_symbols(package: Files) -> Iterator[Asked]:
    """Yield the names that few files define and others use."""
    defined: defaultdict[str, set[str]] = defaultdict(set)
    for path, lines in package.items():
        if not _is_test(path):
            for line in lines:
                if (found := _DEFINITION.match(line)) and _IS_NAME.search(found[1]):
                    defined[found[1]].add(path)
    texts = {path: "\n".join(lines) for path, lines in package.items()}
    for name, files in defined.items():
        if len(files) > 2 or name.startswith("_"):  # noqa: PLR2004 - a definition and a declaration
            continue
        used = sum(bool(re.search(rf"\b{re.escape(name)}\b", text)) for text in texts.values())
        if used > len(files) + 1:
            yield Asked(name, tuple(sorted(files)))


def sample(asked: Iterable[Asked], limit: int) -> list[Asked]:
    """Return about `limit` questions, evenly over the files; equal questions are left out."""
    every = list(asked)
    counts: defaultdict[str, int] = defaultdict(int)
    for one in every:
        counts[one.query.casefold()] += 1
    unique = [one for one in every if counts[one.query.casefold()] == 1]
    step = max(1.0, len(unique) / limit)
    return [unique[int(at * step)] for at in range(min(limit, len(unique)))]


_KINDS = {
    "queries": list_descriptions,
    "queries-symbols": list_symbols,
}


def build_set(folder: Path, out: Path, limit: int) -> int:
    """Build the set of one package; return the number of questions."""
    package = read_package(folder)
    shutil.copytree(folder, out / "docs", dirs_exist_ok=True)
    cuts: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    judgements: list[str] = []
    for kind, list_asked in _KINDS.items():
        rows = []
        for number, one in enumerate(sample(list_asked(package), limit)):
            name = f"{kind}-{number}"
            rows.append(json.dumps({"id": name, "query": one.query, "doc": one.files[0]}))
            judgements += [f"{name}\t{path}\t1" for path in one.files]
            if one.cut:
                cuts[one.files[0]].append(one.cut)
        if rows or kind == "queries":
            (out / f"{kind}.jsonl").write_text("".join(f"{row}\n" for row in rows), "utf-8")
    (out / "qrels.tsv").write_text("".join(f"{line}\n" for line in judgements), "utf-8")
    for path, spans in cuts.items():
        lines = package[path].copy()
        for start, end in sorted(spans, reverse=True):
            del lines[start:end]
        (out / "docs" / path).write_text("\n".join(lines), "utf-8")
    return len({line.split("\t")[0] for line in judgements})


def build_sets(packages: Path, out: Path, limit: int) -> Iterator[str]:
    """Build a set for each package, and yield a line on each."""
    for folder in sorted(path for path in packages.iterdir() if path.is_dir()):
        count = build_set(folder, out / folder.name, limit)
        yield f"{count} questions: {out / folder.name}"

"""Builds evaluation sets of questions on the files of source packages; no model is needed.

Each package gives one set, which `python -m tools.quality` measures, with four kinds of questions:

- `queries`: the first sentence of the documentation of a symbol, for its file. The name of the
  symbol is left out, and the documentation is deleted from the copy that is searched.
- `queries-tests`: the name of a test in words, for the file that the test file is named after.
- `queries-symbols`: a name, for the files that define it.
- `queries-docs`: the heading of a section of the documentation, for its file. The heading is
  deleted from the copy.

    python -m tools.code_questions PACKAGES OUT [--limit N]
"""

import argparse
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

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
_TEST_NAME = re.compile(
    r"""\b(?:def\s+test_(\w+)|func\s+Test(\w+)|function\s+test(\w+)|void\s+test(\w+)"""
    r"""|(?:it|test|describe|subtest)\s*\(?\s*['"]([\w ,-]{12,90})['"])"""
)
_TEST_FILE = re.compile(r"^(?:test_(.+)|(.+?)(?:_test|\.test|\.spec|_spec|Test|-test))$")
_TEST_FOLDER = re.compile(r"(^|/)(tests?|specs?|__tests__|t|benches|benchmarks?|examples?)/")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_HEADING = re.compile(r"^#{1,4}\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"^([=\-~^\"'+*])\1{3,}\s*$")
_IS_NAME = re.compile(r"[a-z][A-Z]|[^_]_[^_]|^[A-Z][a-z]{3}|^[a-z]{6}")
"""A name, and no word of a comment that happens to follow a keyword."""
_DOCS = frozenset({".md", ".rst"})
_FEWEST_WORDS, _MOST_WORDS = 5, 24
_FEWEST_HEADING_WORDS = 3
_SHORTEST_DOCS = 2_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the files that answer it, and the lines [start, end) to delete from a file."""

    query: str
    files: tuple[str, ...]
    cut: tuple[int, int] | None = None


@dataclass(slots=True)
class Package:
    """The files of one package, as lines, by their paths."""

    code: dict[str, list[str]] = field(default_factory=dict)
    docs: dict[str, list[str]] = field(default_factory=dict)

    def is_test(self, path: str) -> bool:
        """Return whether a file is a test, an example or a benchmark."""
        stem = PurePosixPath(path).stem
        return bool(_TEST_FOLDER.search(path) or _TEST_FILE.match(stem))


def read_package(folder: Path) -> Package:
    """Return the code and the documentation of a package."""
    package = Package()
    for path in sorted(folder.rglob("*")):
        media = detect_media_type(path.name) if path.is_file() else None
        if media is None:
            continue
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError:
            continue
        name = path.relative_to(folder).as_posix()
        if is_code(media):
            package.code[name] = lines
        elif path.suffix in _DOCS:
            package.docs[name] = lines
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


def split_name(name: str) -> list[str]:
    """Return the words of a name, in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


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


def list_descriptions(package: Package) -> Iterator[Asked]:
    """Yield the questions by the documentation of symbols."""
    for path, lines in package.code.items():
        if package.is_test(path):
            continue
        for start, end, text, name in list_comments(lines):
            if query := ask_by_description(text, name):
                yield Asked(query, (path,), (start, end))


def list_tests(package: Package) -> Iterator[Asked]:
    """Yield the names of tests in words, for the one file that the test file is named after."""
    stems: defaultdict[str, list[str]] = defaultdict(list)
    for path in package.code:
        if not package.is_test(path):
            stems[PurePosixPath(path).stem.lower()].append(path)
    for path, lines in package.code.items():
        tested = _TEST_FILE.match(PurePosixPath(path).stem)
        stem = next(filter(None, tested.groups()), "").lower() if tested else ""
        if len(stems.get(stem, ())) != 1:
            continue
        for found in _TEST_NAME.finditer("\n".join(lines)):
            *names, sentence = found.groups()
            words = sentence.split() if sentence else split_name(next(filter(None, names), ""))
            own = set(split_name(stem))
            kept = [word for word in words if word.lower() not in own]
            if _FEWEST_WORDS - 1 <= len(kept) <= _MOST_WORDS:
                yield Asked(" ".join(kept), tuple(stems[stem]))


def list_symbols(package: Package) -> Iterator[Asked]:
    """Yield the names that few files define and others use."""
    defined: defaultdict[str, set[str]] = defaultdict(set)
    for path, lines in package.code.items():
        if not package.is_test(path):
            for line in lines:
                if (found := _DEFINITION.match(line)) and _IS_NAME.search(found[1]):
                    defined[found[1]].add(path)
    texts = {path: "\n".join(lines) for path, lines in (package.code | package.docs).items()}
    for name, files in defined.items():
        if len(files) > 2 or name.startswith("_"):  # noqa: PLR2004 - a definition and a declaration
            continue
        used = sum(bool(re.search(rf"\b{re.escape(name)}\b", text)) for text in texts.values())
        if used > len(files) + 1:
            yield Asked(name, tuple(sorted(files)))


def list_sections(package: Package) -> Iterator[Asked]:
    """Yield the headings of sections of longer documents."""
    for path, lines in package.docs.items():
        if sum(map(len, lines)) < _SHORTEST_DOCS or re.search(
            "(?i)change|history|release|conduct|contribut|security", path
        ):
            continue
        for number, line in enumerate(lines[:-1]):
            end = number + 1
            found = _HEADING.match(line)
            text = found[1] if found else ""
            if not found and _UNDERLINE.match(lines[end]) and len(line.strip()) > 1:
                text, end = line, end + 1
            plain = " ".join(_MARKUP.sub(r"\1", text).split())
            if len(plain.split()) >= _FEWEST_HEADING_WORDS and re.fullmatch(r"[\w ,'?-]+", plain):
                yield Asked(plain, (path,), (number, end))


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
    "queries-tests": list_tests,
    "queries-symbols": list_symbols,
    "queries-docs": list_sections,
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
        lines = (package.code.get(path) or package.docs[path]).copy()
        for start, end in sorted(spans, reverse=True):
            del lines[start:end]
        (out / "docs" / path).write_text("\n".join(lines), "utf-8")
    return len({line.split("\t")[0] for line in judgements})


def main() -> None:
    """Read the arguments and build a set for each package."""
    parser = argparse.ArgumentParser(description="Build questions on the files of packages.")
    parser.add_argument("packages", type=Path, help="a folder with one folder for each package")
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=int, default=40, help="the most questions of a kind")
    arguments = parser.parse_args()
    for folder in sorted(path for path in arguments.packages.iterdir() if path.is_dir()):
        count = build_set(folder, arguments.out / folder.name, arguments.limit)
        print(f"{count} questions: {arguments.out / folder.name}")  # noqa: T201 - the output


if __name__ == "__main__":
    main()

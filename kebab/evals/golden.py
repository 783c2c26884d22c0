"""Reads and writes golden sets: questions, relevance judgements, and the reports on them."""

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from kebab.errors.catalog import InvalidInput
from kebab.errors.system import build_read_error, translate_os_errors
from kebab.wire.evals import EvalReport, GoldenQuery
from kebab.wire.record import decode_request, encode_json

Judgements: TypeAlias = Mapping[str, Mapping[str, int]]
"""The grades of documents, by the id of the question."""

_BOM = b"\xef\xbb\xbf"
_BEIR, _TREC = 3, 4
"""The number of columns of a judgement; TREC has an iteration after the query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question. `lines` is first and last, inclusive; None means anywhere in `doc`."""

    id: str
    text: str
    doc: str | None = None
    lines: tuple[int, int] | None = None
    relevant: Mapping[str, int] = field(default_factory=dict)
    answerable: bool = True

    @property
    def documents(self) -> list[str]:
        """The relevant documents."""
        graded = [doc for doc, grade in self.relevant.items() if grade > 0]
        return graded if self.doc is None else [self.doc, *graded]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenFiles:
    """The files of a golden set."""

    queries: Path
    unanswerable: Path | None = None
    qrels: Path | None = None


def load_questions(files: GoldenFiles) -> list[Question]:
    """Return every question of a golden set.

    Raises:
        InvalidInput: A line is invalid, or there is none; `field` is the file and the line.
        IoError: A file cannot be read.
    """
    judged = read_qrels(files.qrels) if files.qrels else {}
    questions = list(_read_questions(files.queries, judged))
    if files.unanswerable:
        questions += _read_questions(files.unanswerable, {}, none_answers=True)
    if not questions:
        raise InvalidInput(field=str(files.queries), cause="it holds no question")
    if files.qrels and judged.keys().isdisjoint(question.id for question in questions):
        raise InvalidInput(field=str(files.qrels), cause="it judges none of the questions")
    return questions


def compute_digest(questions: Sequence[Question]) -> str:
    """Return a hash of questions and their answers that does not depend on file names."""
    rows = [
        [
            question.id,
            question.text,
            question.doc,
            question.lines,
            sorted(question.relevant.items()),
            question.answerable,
        ]
        for question in questions
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def read_qrels(path: Path) -> Judgements:
    """Return the relevance judgements of a file in BEIR or TREC format.

    Raises:
        InvalidInput: A line is no judgement.
        IoError: The file cannot be read.
    """
    judgements: dict[str, dict[str, int]] = {}
    for number, raw in _read_lines(path):
        line = raw.decode("utf-8", "replace")
        columns = line.strip().split("\t" if "\t" in line else None)
        try:
            query, doc, grade = columns[0], columns[-2], int(columns[-1])
        except (ValueError, IndexError) as fault:
            if number == 1 and len(columns) == _BEIR:
                continue  # the header
            cause = "not a judgement: query, document and a whole number"
            raise InvalidInput(field=f"{path}:{number}", cause=cause) from fault
        if len(columns) not in (_BEIR, _TREC):
            cause = f"{len(columns)} columns, not {_BEIR} or {_TREC}"
            raise InvalidInput(field=f"{path}:{number}", cause=cause)
        judgements.setdefault(query, {})[doc] = grade
    return judgements


def _read_questions(
    path: Path, judged: Judgements, *, none_answers: bool = False
) -> Iterator[Question]:
    first_lines: dict[str, int] = {}
    for number, line in _read_lines(path):
        position = f"{path}:{number}"
        golden = _decode_query(line, position)
        prefix = "unanswerable " if none_answers else ""
        name = f"{prefix}{number if golden.id is None else golden.id}"
        if name in first_lines:
            cause = f"the id of line {first_lines[name]}, too: {name}"
            raise InvalidInput(field=position, cause=cause)
        first_lines[name] = number
        if not golden.query.strip():
            raise InvalidInput(field=position, cause="`query` is blank")
        if golden.answerable and not none_answers:
            relevant = {**golden.relevant, **judged.get(name, {})}
            yield _build_question(golden, name, relevant, position)
        else:
            yield Question(id=name, text=golden.query, answerable=False)


def _build_question(
    golden: GoldenQuery, name: str, relevant: dict[str, int], position: str
) -> Question:
    lines = _find_line_range(golden, position)
    question = Question(
        id=name, text=golden.query, doc=golden.doc or None, lines=lines, relevant=relevant
    )
    if not question.documents:
        cause = "neither `doc` nor a grade above 0 says what answers; or say `answerable: false`"
        raise InvalidInput(field=position, cause=cause)
    return question


def _find_line_range(golden: GoldenQuery, position: str) -> tuple[int, int] | None:
    if golden.line_start is None and golden.line_end is None:
        return None
    if golden.line_start is None or not golden.doc:
        missing = "line_start" if golden.line_start is None else "doc"
        raise InvalidInput(field=position, cause=f"lines without `{missing}`")
    last = golden.line_start if golden.line_end is None else golden.line_end
    if last < golden.line_start:
        raise InvalidInput(field=position, cause="`line_end` is before `line_start`")
    return golden.line_start, last


def _decode_query(line: bytes, position: str) -> GoldenQuery:
    try:
        golden: GoldenQuery = decode_request(line, GoldenQuery)
    except InvalidInput as fault:
        where = "" if fault.field == "$" else f" at `{fault.field}`"
        raise InvalidInput(field=position, cause=f"{fault.cause}{where}") from fault
    return golden


def _read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield every line that is not blank, with its number."""
    with translate_os_errors(path, "read"):
        raw = path.read_bytes()
    for number, line in enumerate(raw.removeprefix(_BOM).split(b"\n"), 1):
        if line.strip():
            yield number, line


def check_output_path(path: Path) -> None:
    """Check that a file can be created, before a long run rather than after it.

    Raises:
        IoError: The folder does not exist, or the path is a folder.
    """
    with translate_os_errors(path, "create"):
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder")
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")


def encode_queries(queries: Iterable[GoldenQuery]) -> bytes:
    """Return golden questions as JSONL."""
    return b"".join(encode_json(query) + b"\n" for query in queries)


def write_file(path: Path, data: bytes) -> None:
    """Write a file atomically; the old content stays until the new one is complete.

    Raises:
        IoError: The file system refused.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with translate_os_errors(path, "write"):
            temporary.write_bytes(data)
            temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def read_report(path: Path) -> EvalReport:
    """Return a report that `kebab eval run --out` wrote.

    Raises:
        InvalidInput: The file is no report.
        IoError: It cannot be read.
    """
    if path.is_dir():
        raise build_read_error(path, "it is a folder")
    with translate_os_errors(path, "read"):
        raw = path.read_bytes()
    try:
        report: EvalReport = decode_request(raw, EvalReport)
    except InvalidInput as fault:
        cause = f"not an `eval_report.v1`: {fault.cause}"
        raise InvalidInput(field=str(path), cause=cause) from fault
    return report

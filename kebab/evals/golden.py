"""Reads and writes golden sets."""

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
from kebab.errors.system import refused, unfit
from kebab.wire.evals import EvalReport
from kebab.wire.golden import GoldenQuery
from kebab.wire.record import decode_request, encode


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
        """Every document that answers."""
        graded = [doc for doc, grade in self.relevant.items() if grade > 0]
        return graded if self.doc is None else [self.doc, *graded]


Judgements: TypeAlias = Mapping[str, Mapping[str, int]]

_BOM = b"\xef\xbb\xbf"
_BEIR, _TREC = 3, 4
"""How many columns a judgement has; what TREC has more is an iteration after the query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenFiles:
    """The files of a golden set."""

    queries: Path
    unanswerable: Path | None = None
    qrels: Path | None = None


def load_questions(sources: GoldenFiles) -> list[Question]:
    """Return every question of a golden set.

    Raises:
        InvalidInput: A line cannot be used, or there is none; `field` is the file and the line.
        IoError: A file cannot be read.
    """
    judged = read_qrels(sources.qrels) if sources.qrels else {}
    questions = list(_questions(sources.queries, judged))
    if sources.unanswerable:
        questions += _questions(sources.unanswerable, {}, none_answers=True)
    if not questions:
        raise InvalidInput(field=str(sources.queries), cause="it holds no question")
    if sources.qrels and judged.keys().isdisjoint(one.id for one in questions):
        raise InvalidInput(field=str(sources.qrels), cause="it judges none of the questions")
    return questions


def compute_digest(questions: Sequence[Question]) -> str:
    """Return a hash of questions with what answers them, whatever files they came from."""
    told = [
        [one.id, one.text, one.doc, one.lines, sorted(one.relevant.items()), one.answerable]
        for one in questions
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def read_qrels(path: Path) -> Judgements:
    """Return the grades of documents by question.

    Raises:
        InvalidInput: A line is no judgement.
        IoError: The file cannot be read.
    """
    found: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        columns = _columns(line.decode("utf-8", "replace"))
        try:
            query, doc, grade = columns[0], columns[-2], int(columns[-1])
        except (ValueError, IndexError) as fault:
            if number == 1 and len(columns) == _BEIR:
                continue  # the head
            cause = "not a judgement: query, document and a whole number"
            raise InvalidInput(field=f"{path}:{number}", cause=cause) from fault
        if len(columns) not in (_BEIR, _TREC):
            cause = f"{len(columns)} columns, not {_BEIR} or {_TREC}"
            raise InvalidInput(field=f"{path}:{number}", cause=cause)
        found.setdefault(query, {})[doc] = grade
    return found


def _columns(line: str) -> list[str]:
    return line.strip().split("\t") if "\t" in line else line.split()


def _questions(path: Path, judged: Judgements, *, none_answers: bool = False) -> Iterator[Question]:
    seen: dict[str, int] = {}
    for number, line in _lines(path):
        place = f"{path}:{number}"
        golden = _decoded(line, place)
        prefix = "unanswerable " if none_answers else ""
        name = f"{prefix}{number if golden.id is None else golden.id}"
        if name in seen:
            cause = f"the id of line {seen[name]}, too: {name}"
            raise InvalidInput(field=place, cause=cause)
        seen[name] = number
        relevant = {**golden.relevant, **judged.get(name, {})}
        answerable = golden.answerable and not none_answers
        yield _question(golden, name, relevant, place, answerable=answerable)


def _question(
    golden: GoldenQuery, name: str, relevant: dict[str, int], place: str, *, answerable: bool
) -> Question:
    if not golden.query.strip():
        raise InvalidInput(field=place, cause="`query` is blank")
    if not answerable:
        return Question(id=name, text=golden.query, answerable=False)
    lines = _range(golden, place)
    found = Question(
        id=name, text=golden.query, doc=golden.doc or None, lines=lines, relevant=relevant
    )
    if not found.documents:
        cause = "neither `doc` nor a grade above 0 says what answers; or say `answerable: false`"
        raise InvalidInput(field=place, cause=cause)
    return found


def _range(golden: GoldenQuery, place: str) -> tuple[int, int] | None:
    if golden.line_start is None and golden.line_end is None:
        return None
    if golden.line_start is None or not golden.doc:
        missing = "line_start" if golden.line_start is None else "doc"
        raise InvalidInput(field=place, cause=f"lines without `{missing}`")
    last = golden.line_start if golden.line_end is None else golden.line_end
    if last < golden.line_start:
        raise InvalidInput(field=place, cause="`line_end` is before `line_start`")
    return golden.line_start, last


def _decoded(line: bytes, place: str) -> GoldenQuery:
    try:
        golden: GoldenQuery = decode_request(line, GoldenQuery)
    except InvalidInput as fault:
        where = "" if fault.field == "$" else f" at `{fault.field}`"
        raise InvalidInput(field=place, cause=f"{fault.cause}{where}") from fault
    return golden


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield every line that is not blank, with its number."""
    with refused(path, "read"):
        raw = path.read_bytes()
    for number, line in enumerate(raw.removeprefix(_BOM).split(b"\n"), 1):
        if line.strip():
            yield number, line


def check_output_path(path: Path) -> None:
    """Refuse a place before long work, rather than after it.

    Raises:
        IoError: There is no such folder, or a folder is there.
    """
    with refused(path, "create"):
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder")
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")


def encode_queries(queries: Iterable[GoldenQuery]) -> bytes:
    """Return golden questions as JSONL."""
    return b"".join(encode(one) + b"\n" for one in queries)


def write_file(path: Path, data: bytes) -> None:
    """Write a file; until all of it is written, what was there stays.

    Raises:
        IoError: The file system refused.
    """
    place = Path(os.path.realpath(path))
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with refused(path, "write"):
            draft.write_bytes(data)
            draft.replace(place)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def read_report(path: Path) -> EvalReport:
    """Return a report that was kept.

    Raises:
        InvalidInput: The file is no report.
        IoError: It cannot be read.
    """
    if path.is_dir():
        raise unfit(path, "it is a folder")
    with refused(path, "read"):
        raw = path.read_bytes()
    try:
        report: EvalReport = decode_request(raw, EvalReport)
    except InvalidInput as fault:
        cause = f"not an `eval_report.v1`: {fault.cause}"
        raise InvalidInput(field=str(path), cause=cause) from fault
    return report

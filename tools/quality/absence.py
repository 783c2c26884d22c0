"""Asks questions with and without an answer, and counts refusals and doubts by kind of question.

A set may have questions without an answer in `unanswerable.jsonl` (`query`, `near_doc`). More are
made from answerable ones by a swap of one name or number, which is found by capitals and digits
alone, not by the code that is measured: a `name` or a `number` that occurs nowhere in the notes,
and a name from `elsewhere`, of a question about another document.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from kebab.app.facade import Kebab
from kebab.wire.ask import Answer, AskRequest
from tools.quality.sets import DataSet, build_base, open_base

Kind: TypeAlias = Literal["answerable", "unanswerable", "name", "number", "elsewhere"]

_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'-]+(?: [A-Z][\w'-]+)*|[ァ-\u30faー]{3,}")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,.]*\d(?![\w-])")
_NAMES = (
    "Brixworth, Ottoline Farquhar, Quezaltepeque, Ndjamena Harbour, Velimir Zograf, Tarkwell,"
    " Ysolde Penhaligon, Oxbarrow, Grimwade Institute, Zephyrine Cole, Umtata Ridge, Kowloon Bay,"
    " Lake Baringo, Fjordheim, Professor Thackeray, Mount Quillabamba, Sir Peregrine Holt"
)
_EASTERN_NAMES = "ブリクスワース, クェザルテペク, ヴェリミール, タルクウェル"
_YEARS, _NUMBERS = (1000, 2100), (10_000, 1_000_000)
_YEAR_DIGITS = 4
_SEED = 7


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one kind about a document."""

    kind: Kind
    text: str
    document: str


def measure_absence(one: DataSet, chosen: argparse.Namespace) -> Iterator[str]:
    """Yield a table of how the questions of a set are answered with quoted sentences."""
    data_dir = chosen.bases / chosen.model / one.name
    build_base(data_dir, one.list_documents(), one.docs, chosen.model)
    with open_base(data_dir, chosen.model) as kebab:
        counts = count_answers(kebab, list_questions(one)[:: chosen.every], chosen.modes[0])
    columns = ("gate", "flagged")
    yield f"{one.name:14}{'all':>6}" + "".join(f"{name:>9}" for name in (*columns, "together"))
    for kind, counter in counts.items():
        shares = [counter[name] / counter["all"] for name in columns]
        cells = "".join(f"{share:9.3f}" for share in (*shares, sum(shares)))
        yield f"{kind:14}{counter['all']:6}{cells}"


def list_questions(one: DataSet) -> list[Question]:
    """Return the questions of a set: with an answer, without one, and swapped."""
    notes = "\n".join(path.read_text("utf-8", "replace") for path in one.list_documents())
    rows = _read_lines(one.folder / "queries.jsonl")
    answerable = [Question("answerable", row["query"], row["doc"]) for row in rows]
    rows = _read_lines(one.folder / "unanswerable.jsonl")
    without = [Question("unanswerable", row["query"], row["near_doc"]) for row in rows]
    return [*answerable, *without, *make_swaps(answerable, notes)]


def _read_lines(path: Path) -> list[dict[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    return [json.loads(line) for line in lines if line]


def count_answers(
    kebab: Kebab, questions: Sequence[Question], mode: str
) -> dict[str, Counter[str]]:
    """Return the counts by kind: all, refused by the gate, flagged."""
    counts: dict[str, Counter[str]] = {}
    for one in questions:
        request = AskRequest(question=one.text, extractive=True, mode=mode)  # type: ignore[arg-type]
        counts.setdefault(one.kind, Counter()).update(("all", *_judge(kebab.run(request))))
    return counts


def _judge(reply: Answer) -> Iterator[str]:
    if reply.refusal_reason is not None:
        yield "gate"
    elif reply.answers_question == "uncertain":
        yield "flagged"


def make_swaps(questions: Sequence[Question], notes: str) -> Iterator[Question]:
    """Yield the swaps of answerable questions, always the same ones; `notes` is all their text."""
    dice = random.Random(_SEED)  # noqa: S311 - a repeatable choice, not a secret
    lower = notes.lower()
    for one in questions:
        if names := list(_NAME.finditer(one.text)):
            span = dice.choice(names)
            listed = (_NAMES if span[0][0].isascii() else _EASTERN_NAMES).split(", ")
            absent = [name for name in listed if name.lower() not in lower]
            if absent:
                yield _replace(one, span, dice.choice(absent), "name")
            for other in dice.sample(questions, min(len(questions), 20)):
                found = _NAME.search(other.text)
                if found and other.document != one.document and found[0] not in one.text:
                    yield _replace(one, span, found[0], "elsewhere")
                    break
        if numbers := list(_NUMBER.finditer(one.text)):
            span = dice.choice(numbers)
            is_year = sum(map(str.isdigit, span[0])) == _YEAR_DIGITS
            tried = (str(dice.randrange(*(_YEARS if is_year else _NUMBERS))) for _ in range(1000))
            yield _replace(one, span, next(one for one in tried if one not in lower), "number")


def _replace(one: Question, span: re.Match[str], text: str, kind: Kind) -> Question:
    swapped = one.text[: span.start()] + text + one.text[span.end() :]
    return Question(kind, swapped, one.document)

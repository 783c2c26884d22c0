"""A language model that knows some misspelled words, and answers with the faults of small models.

    model = HostileModel(["cut", "honest"])

Each request is answered in the way of the next name in the script, the last of which stays. What
the model means is always the same: the misspelled words of the sentences that it is shown. So the
items of a review are those of `HONEST` wherever a fault leaves the meaning readable.
"""

import itertools
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from kebab.core.answers import Completion, JsonSchema, Message
from kebab.wire.record import FinishName
from tests.fakes.language_model import Told

TYPOS = {"teh": "the", "recieve": "receive", "wich": "which", "안되요": "안 돼요"}
"""What the model finds, and what it writes instead."""
_TYPO = re.compile("|".join(TYPOS))
_SENTENCE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_PIECE_CHARS = 17
_CHARS_PER_TOKEN = 4


class Answer(NamedTuple):
    """What the model writes, and how it ends."""

    text: str
    finish: FinishName = "stop"


Entries = list[dict[str, Any]]
Fault = Callable[[Entries, random.Random], Answer]
Step = str | Fault | BaseException


def write(entries: Sequence[Any]) -> str:
    """Return the answer that was asked for."""
    return json.dumps({"items": entries}, ensure_ascii=False)


def cut_at(length: int) -> Fault:
    """Return the fault of an answer that is cut off after so many characters."""
    return lambda entries, _: Answer(write(entries)[:length], "length")


def _cut(entries: Entries, chance: random.Random) -> Answer:
    text = write(entries)
    return Answer(text[: chance.randrange(len(text))], "length")


def _repeat(entries: Entries, chance: random.Random) -> Answer:
    text = write(entries)[:-2]
    return Answer(text + (', {"sentence": 1, "words": "teh' * 3_000), "length")


def _add_broken(entries: Entries, chance: random.Random) -> Answer:
    first = entries[0] if entries else {}
    broken = [
        {**first, "invented": 1},
        {**first, "words": "words that stand nowhere at all"},
        {**first, "words": ""},
        {**first, "words": None},
        {**first, "words": ["teh"]},
        {**first, "kind": "astrology"},
        {"sentence": 1},
        {},
    ]
    chance.shuffle(broken)
    return Answer(write([*broken[:4], *entries, *broken[4:]]))


def _misplace(entries: Entries, chance: random.Random) -> Answer:
    wrong = [0, -3, 99, None, 1.5, True, 10**30]
    return Answer(write([{**one, "sentence": chance.choice(wrong)} for one in entries]))


def _lengthen(entries: Entries, chance: random.Random) -> Answer:
    long = "\U0001f469\u200d\U0001f467 a\u0301 long reason \x00\x1b[31m\u202e\n" * 20
    return Answer(write([{**one, "reason": long[:900], "severity": "fatal"} for one in entries]))


READABLE: dict[str, Fault] = {
    "honest": lambda entries, chance: Answer(write(entries)),
    "in a fence": lambda entries, chance: Answer(f"Sure!\n```json\n{write(entries)}\n```\nDone."),
    "a list only": lambda entries, chance: Answer(json.dumps(entries)),
    "with a comma": lambda entries, chance: Answer(write(entries).replace("}]}", "},]}")),
    "without its end": lambda entries, chance: Answer(write(entries)[:-1]),
    "doubled": lambda entries, chance: Answer(write(entries * 2)),
    "with broken ones": _add_broken,
    "misplaced": _misplace,
    "too long": _lengthen,
}
"""Answers whose meaning can be read without asking again."""
CUT: dict[str, Fault] = {"cut": _cut, "repeating": _repeat}
"""Answers that did not end, so that it is asked again."""
UNREADABLE: dict[str, Fault] = {
    "empty": lambda entries, chance: Answer(""),
    "blank": lambda entries, chance: Answer(" \n\t"),
    "prose": lambda entries, chance: Answer("The text looks fine to me. 文章没有问题。"),
    "nothing": lambda entries, chance: Answer("null"),
    "a number": lambda entries, chance: Answer("42"),
    "another object": lambda entries, chance: Answer('{"error": {"items": 3}, "items": "none"}'),
    "deeply nested": lambda entries, chance: Answer("[" * 5_000),
    "half a surrogate": lambda entries, chance: Answer(
        '{"items": [{"sentence": 1, "words": "\\ud800", "kind": "spelling", "fix": "\\udc00",'
        ' "reason": "\\ud83d", "severity": "error"}]}'
    ),
    "huge": lambda entries, chance: Answer('{"items": [{"words": "' + "x" * 50_000, "length"),
    "too many": lambda entries, chance: Answer(write(entries * 200)),
    "wrong quotes": lambda entries, chance: Answer(write(entries).replace('"', "'")),
}
"""Answers that may lose findings, but never an item that is wrong."""
FAULTS: dict[str, Fault] = {**READABLE, **CUT, **UNREADABLE}


def find_typos(messages: Sequence[Message], schema: JsonSchema | None) -> Entries:
    """Return the findings in the last message."""
    assert schema is not None, "a request of a review has a schema"
    return [
        {
            "sentence": int(number),
            "words": word,
            "kind": "spelling",
            "fix": TYPOS[word],
            "reason": "misspelled",
            "severity": "error",
        }
        for number, sentence in _SENTENCE.findall(messages[-1].content)
        for word in _TYPO.findall(sentence)
    ]


class HostileModel:
    """Answers by a script of names of `FAULTS`, faults or exceptions; the last one stays."""

    def __init__(self, script: Iterable[Step] = ("honest",), seed: int = 0) -> None:
        names = list(script)
        self._script = itertools.chain(names, itertools.repeat(names[-1]))
        self._chance = random.Random(seed)
        self.told: list[Told] = []
        """Every request."""

    name = "hostile:latest"
    context_tokens = 8192

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        told = Told(tuple(messages), max_tokens, schema)
        self.told.append(told)
        step = next(self._script)
        if isinstance(step, BaseException):
            raise step
        fault = FAULTS[step] if isinstance(step, str) else step
        answer = fault(find_typos(messages, schema), self._chance)
        most = max_tokens * _CHARS_PER_TOKEN
        text = answer.text[:most]
        for start in range(0, len(text), _PIECE_CHARS):
            on_text(text[start : start + _PIECE_CHARS])
        return Completion(
            text=text,
            finish="length" if len(answer.text) > most else answer.finish,
            prompt_tokens=len(told.text) // _CHARS_PER_TOKEN,
            completion_tokens=len(text) // _CHARS_PER_TOKEN,
        )

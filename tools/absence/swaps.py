"""Makes questions without an answer from answerable ones, by a swap of one name or number.

The replaced words are found by capitals and digits alone, not by the code that is measured. Four
kinds: a `name`, a lower-case `product` or a `number` that occurs nowhere in the notes, and a name
from `elsewhere`: of a question about another document.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["answerable", "unanswerable", "name", "product", "number", "elsewhere"]

_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'-]+(?: [A-Z][\w'-]+)*|[ァ-\u30faー]{3,}")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,.]*\d(?![\w-])")
_NAMES = (
    "Brixworth, Ottoline Farquhar, Quezaltepeque, Ndjamena Harbour, Velimir Zograf, Tarkwell,"
    " Ysolde Penhaligon, Oxbarrow, Grimwade Institute, Zephyrine Cole, Umtata Ridge, Kowloon Bay,"
    " Lake Baringo, Fjordheim, Professor Thackeray, Mount Quillabamba, Sir Peregrine Holt,"
    " Vancouverton, Treaty of Brumath, Xanthia, Radoslav Petkov, Jodhpur Gate, Hokitika,"
    " Wollstonebury, Castle Ardvreck, Mirzapur, Count Ludovico, Pangkor, Zwickendorf, Yarrowby"
)
_EASTERN_NAMES = (
    "ブリクスワース, クェザルテペク, ヴェリミール, タルクウェル, フィヨルドハイム, ミルザプール"
)
_PRODUCTS = (
    "traefik, opentofu, clickhouse, memgraph, logstash, keycloak, redpanda, minio, terraform,"
    " kubeflow, rabbitmq, couchbase, vaultwarden, snowflake-cli, haproxy, metallb, grafana"
)
_LARGE, _YEARS = 3, (1000, 2100)
"""A number with more digits than this is replaced by a year or a larger number."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one kind about a document; `replaced` is what a swap put in."""

    kind: Kind
    text: str
    document: str
    replaced: str = ""


def make_swaps(questions: Sequence[Question], notes: str, seed: int = 7) -> list[Question]:
    """Return the swaps of answerable questions; the same seed gives the same ones.

    Args:
        questions: Answerable questions.
        notes: All text of the notes, to know what occurs in them.
        seed: The seed of the choice.
    """
    dice = random.Random(seed)  # noqa: S311 - a repeatable choice, not a secret
    lower = notes.lower()
    made: list[Question] = []
    for one in questions:
        names, numbers = list(_NAME.finditer(one.text)), list(_NUMBER.finditer(one.text))
        if names:
            span = dice.choice(names)
            made += _swap_name(one, span, lower, dice)
            made += _swap_elsewhere(one, span, questions, dice)
        if numbers:
            made.append(_swap_number(one, dice.choice(numbers), lower, dice))
    return made


def _swap_name(
    one: Question, span: re.Match[str], notes: str, dice: random.Random
) -> Iterator[Question]:
    eastern = not span[0][0].isascii()
    names = _select_absent(_EASTERN_NAMES if eastern else _NAMES, notes)
    if names:
        yield _replace(one, span, dice.choice(names), "name")
    products = [] if eastern else _select_absent(_PRODUCTS, notes)
    if products:
        yield _replace(one, span, dice.choice(products), "product")


def _select_absent(listed: str, notes: str) -> list[str]:
    """Return the listed names of which no word occurs in the notes as a whole."""
    return [name for name in listed.split(", ") if name.lower() not in notes]


def _swap_elsewhere(
    one: Question, span: re.Match[str], questions: Sequence[Question], dice: random.Random
) -> Iterator[Question]:
    """Yield a question with a name of another document's question."""
    for other in dice.sample(questions, min(len(questions), 20)):
        found = _NAME.search(other.text)
        if found and other.document != one.document and found[0] not in one.text:
            yield _replace(one, span, found[0], "elsewhere")
            return


def _swap_number(one: Question, span: re.Match[str], notes: str, dice: random.Random) -> Question:
    """Return a question with a number of as many digits that does not occur in the notes."""
    digits = sum(map(str.isdigit, span[0]))
    low, high = _YEARS if digits == len(str(_YEARS[0])) else (10 ** (digits - 1), 10**digits)
    number = str(dice.randrange(low, high))
    for _ in range(1000):
        if not re.search(rf"(?<!\d){number}(?!\d)", notes):
            break
        number = str(dice.randrange(low, high * (1 if digits > _LARGE else 100)))
    return _replace(one, span, number, "number")


def _replace(one: Question, span: re.Match[str], text: str, kind: Kind) -> Question:
    swapped = one.text[: span.start()] + text + one.text[span.end() :]
    return Question(kind, swapped, one.document, text)

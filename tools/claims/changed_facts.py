"""Measures how many sentences with one changed fact the check of answers marks.

`python -m tools.claims.changed_facts ENGLISH OTHER` reads two evaluation sets with Wikipedia
articles. Right sentences are made of questions with their answers, of sentences of the paragraph,
and of rows of a table. Each gets a twin with one changed fact: a number, a date, a name, a negation
or the value of another column. Half of the new values stand in the same paragraph. The articles are
divided into two halves; `--half` chooses the one that is measured.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from kebab.rag.claims import check_answer
from kebab.rag.prompt import Evidence
from tests.fakes.evidence import stored

_DIGITS = re.compile(r"(?<![\w.,])\d[\d.,]*\d|(?<![\w.,])\d(?![\w])")
_YEAR = re.compile(r"\b1[0-9]\d\d\b|\b20\d\d\b")
_NAME = re.compile(r"(?<=[a-zà-ÿ,] )[A-ZÀ-Þ][a-zà-ÿ]{2,}(?: [A-ZÀ-Þ][a-zà-ÿ]{2,})*")
_SENTENCE = re.compile(r"(?<=[a-z)\d][.]) (?=[A-Z])")
_NEGATED = re.compile(r" (?:not|never|no|nunca)(?= )")
_VERB = {
    "en": re.compile(r" (?:is|was|are|were|can|will|has|had|could|would)(?= )"),
    "es": re.compile(r" (?=(?:es|fue|era|son|fueron|está|tiene|puede|había|ha|se) )"),
}
_SUBJECT = {
    "en": re.compile(r"(?:Who|What) ((?:is|was|were|are|\w+ed|\w+s|led|won|made|gave) .+)\?"),
    "es": re.compile(r"¿(?:Quién|Quiénes|Qué|Cuál|Cuáles) ((?:es|fue|era|son|fueron|\w+ó) .+)\?"),
}
_END = {
    "en": re.compile(r"(?:When|In (?:what|which) year|Where) (?:was|were|did|is|are) (.+)\?"),
    "es": re.compile(r"¿(?:Cuándo|En qué año|Dónde) (.+)\?"),
}
_COLUMNS = {
    "en": ("Place", {"population": 9000, "area": 800, "founded": 1990, "height": 70}),
    "es": ("Lugar", {"población": 9000, "superficie": 800, "fundación": 1990, "altitud": 70}),
}
_ROW_CLAIM = {"en": "The {column} of {place} is {value}", "es": "La {column} de {place} es {value}"}
_AND = {"en": "and", "es": "y"}
_OPEN = re.compile("[?:]")
_ROWS, _HALF = 5, 0.5
_MOST_WORDS = 45
KINDS = ("number", "date", "name", "negation", "column")


class Case(NamedTuple):
    """A right sentence with its changed twin, and the paragraphs that are shown."""

    kind: str
    source: str
    right: str
    changed: str
    paragraphs: tuple[str, ...]
    title: str


def list_cases(folder: Path, language: str, half: int) -> Iterator[Case]:
    """Yield the cases of the articles of one half of an evaluation set."""
    rows = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    articles = defaultdict(list)
    for row in rows:
        if sha256(row["doc"].encode()).digest()[0] % 2 == half:
            articles[row["doc"]].append(row)
    for name, questions in sorted(articles.items()):
        dice = random.Random(name)  # noqa: S311 - a repeatable choice, not a secret
        texts = list(dict.fromkeys(row["paragraph"].strip("\ufeff") for row in questions))
        title = name.removesuffix(".md").replace("_", " ")
        for row in questions:
            text = row["paragraph"].strip("\ufeff")
            others = [one for one in texts if one != text]
            shown = (text, *dice.sample(others, min(2, len(others))))
            for source, right in _make_statements(row, text, language, dice):
                for kind in KINDS[:-1]:
                    changed = _change(right, kind, text, language, dice)
                    if changed and changed != right:
                        yield Case(kind, source, right, changed, shown, title)
        yield from _make_rows(title, texts, language, dice)


def _make_statements(
    row: Mapping[str, Any], text: str, language: str, dice: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield a statement of the question and its answer, and a sentence of the paragraph."""
    answer = row["answers"][0]
    if found := _SUBJECT[language].fullmatch(row["query"].strip()):
        yield "question", f"{answer[:1].upper()}{answer[1:]} {found[1]}"
    if found := _END[language].fullmatch(row["query"].strip()):
        yield "question", f"{found[1][:1].upper()}{found[1][1:]} in {answer}"
    sentences = [one.rstrip(".") for one in _SENTENCE.split(text)]
    at = dice.randrange(len(sentences))
    sentence = sentences[at]
    if (
        len(f"{sentence} {sentences[at - 1]}".split()) <= _MOST_WORDS
        and at
        and not _OPEN.search(sentence)
    ):
        rest = f"{sentence[:1].lower()}{sentence[1:]}"
        yield "joined", f"{sentences[at - 1]}, {_AND[language]} {rest}"
    elif len(sentence.split()) <= _MOST_WORDS and not _OPEN.search(sentence):
        first, comma, rest = sentence.partition(", ")
        if comma and dice.random() < _HALF and rest[:1].islower():
            sentence = f"{rest[:1].upper()}{rest[1:]}, {first}"
        yield "sentence", sentence


def _change(right: str, kind: str, text: str, language: str, dice: random.Random) -> str:
    """Return a statement with one changed fact of a kind; empty when it has none."""
    if kind == "negation":
        pattern = _NEGATED if _NEGATED.search(right) else _VERB[language]
        verb = pattern.search(right)
        if verb is None:
            return ""
        word = "" if pattern is _NEGATED else " no " if language == "es" else f"{verb[0]} not"
        return right[: verb.start()] + word + right[verb.end() :]
    pattern = {"number": _DIGITS, "date": _YEAR, "name": _NAME}[kind]
    found = list(pattern.finditer(right))
    if kind == "number":
        found = [one for one in found if not _YEAR.fullmatch(one[0])]
    if not found:
        return ""
    one = dice.choice(found)
    every: list[str] = pattern.findall(text)
    near = [other for other in every if other not in right and right not in other]
    if kind == "number":
        near = [other for other in near if not _YEAR.fullmatch(other)]
    if near and (kind == "name" or dice.random() < _HALF):
        new = dice.choice(near)
    elif kind == "name":
        return ""
    else:
        digit = dice.choice([sign for sign in "123456789" if sign != one[0][-1]])
        new = one[0][:-1] + digit
    return right[: one.start()] + new + right[one.end() :]


def _make_rows(
    title: str, texts: Sequence[str], language: str, dice: random.Random
) -> Iterator[Case]:
    """Yield cases about a table of made-up values of places that the article names."""
    places = sorted({name for text in texts for name in _NAME.findall(text)})
    dice.shuffle(places)
    head, scales = _COLUMNS[language]
    rows = {
        place: [str(dice.randrange(scale // 2, scale)) for scale in scales.values()]
        for place in places[:_ROWS]
    }
    lines = ["| " + " | ".join([head, *scales]) + " |", "|---" * (len(scales) + 1) + "|"]
    lines += [f"| {place} | " + " | ".join(values) + " |" for place, values in rows.items()]
    for place, values in rows.items():
        at, other = dice.sample(range(len(values)), 2)
        column = list(scales)[at]
        rest = [one for one in rows if one != place]
        wrong = values[other] if dice.random() < _HALF or not rest else rows[dice.choice(rest)][at]
        sentence = _ROW_CLAIM[language]
        right = sentence.format(column=column, place=place, value=values[at])
        changed = sentence.format(column=column, place=place, value=wrong)
        if wrong != values[at]:
            yield Case("column", "table", right, changed, ("\n".join(lines), *texts[:2]), title)


def is_marked(sentence: str, case: Case) -> bool:
    """Return whether the check marks a sentence that cites the first paragraph."""
    passages = [
        Evidence(marker=number, chunk=stored(text, number, title=case.title), text=text)
        for number, text in enumerate(case.paragraphs, 1)
    ]
    return check_answer(f"{sentence} [1].", passages, "mark").unsupported > 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program, and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.claims.changed_facts")
    add = parser.add_argument
    add("english", type=Path)
    add("other", type=Path, help="a set in Spanish")
    add("--half", type=int, choices=(0, 1), default=0)
    add("--each", type=int, default=20, help="cases of a kind and a language")
    chosen = parser.parse_args(arguments)
    counts: Counter[tuple[str, str]] = Counter()
    say = sys.stdout.write
    for folder, language in ((chosen.english, "en"), (chosen.other, "es")):
        cases = list(list_cases(folder, language, chosen.half))
        random.Random(chosen.half).shuffle(cases)  # noqa: S311 - a repeatable choice
        for kind in KINDS:
            for case in [one for one in cases if one.kind == kind][: chosen.each]:
                judged = (is_marked(case.changed, case), is_marked(case.right, case))
                for group in ("all", language, kind, case.source):
                    counts[group, "cases"] += 1
                    counts[group, "found"] += judged[0]
                    counts[group, "false"] += judged[1]
    for group in ("all", "en", "es", *KINDS, "question", "sentence", "joined", "table"):
        total = counts[group, "cases"]
        found, false = counts[group, "found"], counts[group, "false"]
        say(f"{group:9} {total:4} cases: {found / total:.3f} of the changed, ")
        say(f"{false / total:.3f} of the right ones are marked\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

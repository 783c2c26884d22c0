"""Plants mistakes into real pages, one of a kind in each copy, and counts what tools find.

A mistake is found when a tool names one of its lines and did not name the same text before. Each
tool runs over the pages without mistakes too. The other tools are commands that print `PATH:LINE`
for what they find; `{}` is where the folder of the pages stands in the command.

    python -m tools.planted_mistakes FOLDER OUT [--pages N] [--seed S] [--tool NAME=COMMAND …]
"""

import argparse
import random
import re
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from kebab.review.rules.registry import RULES
from tools.review_rules import review_folder

Plant: TypeAlias = Callable[[list[str], random.Random], "Planted | None"]

_MISSPELLED = (  # noqa: SIM905 - one list of words
    "accomodate acheive accross agressive apparantly appearence arguement begining belive"
    " calender catagory comming commited completly concious definately dependancy embarass"
    " enviroment existance familar finaly foriegn goverment happend immediatly independant"
    " knowlege neccessary noticable occassion occured persistant posession prefered publically"
    " recieve recomend refered seperate sucessful tommorow tendancy truely unfortunatly untill"
).split()
"""Misspellings that guides to English list."""

_CONTRACTIONS = ("doesnt", "isnt", "didnt", "couldnt", "wouldnt", "shouldnt", "hasnt", "wasnt")
_OTHER = "# Garden\n\n## Budget rules of the garden\n\nThe rules are simple.\n"
_WORD = re.compile(r"(?<= )[a-z]{7,12}(?= )")
_PROSE = re.compile(r"[A-Z][a-z][^|<>{}`\[\]*_]{50,}")


class Planted(NamedTuple):
    """The lines of a page with a mistake, and the numbers of its lines, from 1."""

    lines: list[str]
    numbers: range


def _find_lines(lines: Sequence[str], pattern: re.Pattern[str]) -> list[int]:
    """Return the indexes of lines that match outside of code blocks and front matter."""
    found, fence, start = [], "", 0
    if lines and lines[0] == "---":
        start = next((at for at, line in enumerate(lines[1:], 2) if line == "---"), 0)
    for at, line in enumerate(lines[start:], start):
        mark = re.match(r"[ \t>]*(`{3,}|~{3,})", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and pattern.match(line):
            found.append(at)
    return found


def _find_gap(lines: Sequence[str], rng: random.Random) -> int | None:
    """Return the index of an empty line between two paragraphs."""
    gaps = [
        at
        for at in _find_lines(lines, re.compile(r"$"))
        if 0 < at < len(lines) - 1 and _PROSE.match(lines[at - 1]) and _PROSE.match(lines[at + 1])
    ]
    return rng.choice(gaps) if gaps else None


def insert(*block: str, marked: range | None = None) -> Plant:
    """Return what puts lines between two paragraphs; the mistake is in the `marked` ones."""

    def plant(lines: list[str], rng: random.Random) -> Planted | None:
        gap = _find_gap(lines, rng)
        if gap is None:
            return None
        marks = marked or range(len(block))
        new = [*lines[: gap + 1], *block, "", *lines[gap + 1 :]]
        return Planted(new, range(gap + 2 + marks.start, gap + 2 + marks.stop))

    return plant


def swap(pattern: str, change: Callable[[str, random.Random], str]) -> Plant:
    """Return what changes a word of a line that matches a pattern."""

    def plant(lines: list[str], rng: random.Random) -> Planted | None:
        chosen = _find_lines(lines, re.compile(pattern))
        chosen = [at for at in chosen if _WORD.search(lines[at])]
        if not chosen:
            return None
        at = rng.choice(chosen)
        word = rng.choice(list(_WORD.finditer(lines[at])))
        new = change(word[0], rng)
        line = lines[at][: word.start()] + new + lines[at][word.end() :]
        return Planted([*lines[:at], line, *lines[at + 1 :]], range(at + 1, at + 2))

    return plant


def choose_misspelling(_word: str, rng: random.Random) -> str:
    """Return a common misspelling."""
    return rng.choice(_MISSPELLED)


def slip(word: str, rng: random.Random) -> str:
    """Return a word with a letter lost, doubled, or swapped with the next one."""
    at = rng.randrange(2, len(word) - 2)
    forms = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )
    return rng.choice([form for form in forms if form != word])


def insert_word(template: str, words: Sequence[str]) -> Plant:
    """Return what inserts lines with one of the words in the place of `{}`."""

    def plant(lines: list[str], rng: random.Random) -> Planted | None:
        block = template.replace("{}", rng.choice(words)).split("\n")
        at = next(i for i, line in enumerate(template.split("\n")) if "{}" in line)
        return insert(*block, marked=range(at, at + 1))(lines, rng)

    return plant


def change_front_matter(*added: str) -> Plant:
    """Return what puts lines behind the first line of the front matter, or makes one."""

    def plant(lines: list[str], _rng: random.Random) -> Planted | None:
        if lines[0] == "---":
            return None  # its own fields may be anything
        front = ["---", "title: Plan", *added, "---", ""]
        return Planted([*front, *lines], range(1, len(front)))

    return plant


_CAPITALISED = [word.capitalize() for word in _MISSPELLED]
_TABLE = ("| name | age |", "| --- | --- |", "| Kim | 7 |", "| Lee | 8 |", "| Ann | 9 |")
KINDS: dict[str, Plant] = {
    "misspelling in prose": swap(_PROSE.pattern, choose_misspelling),
    "misspelling at the start of a sentence": insert_word(
        "{} is what the page says.", _CAPITALISED
    ),
    "misspelling in capitals": insert_word(
        "It is {} that counts here.", [one.upper() for one in _MISSPELLED]
    ),
    "misspelling in a heading": insert_word("## What is {} now\n\nText of it.", _MISSPELLED),
    "misspelling in a list": insert_word("- the first one\n- a {} one", _MISSPELLED),
    "misspelling in a table": insert_word("| a | b |\n| - | - |\n| so {} it | 1 |", _MISSPELLED),
    "misspelling in a comment of code": insert_word(
        "```python\nrun()  # it is {} for this\n```", _MISSPELLED
    ),
    "misspelling in the text of a link": insert_word(
        "See [the {} page](https://example.org/) first.", _MISSPELLED
    ),
    "contraction without apostrophe": insert_word("The page {} say so.", _CONTRACTIONS),
    "slip of a letter": swap(_PROSE.pattern, slip),
    "word twice in a line": swap(_PROSE.pattern, lambda word, _: f"{word} {word}"),
    "word twice over a line end": insert(
        "This is the longest line of the whole text, and so the", "the next line goes on."
    ),
    "link to a missing file": insert("Read the [manual](missing/manual-7.md) first."),
    "missing image": insert("![The garden](missing/garden-7.png)"),
    "link to a missing heading": insert("Read the [end of it](#the-end-of-all-costs) first."),
    "link to a moved heading": insert("See [budget rules](#budget-rules-of-the-garden) there."),
    "undefined reference": insert(
        "Read [the manual][manul] or [the plan][plan].",
        "",
        "[plan]: https://example.org/plan",
        marked=range(1),
    ),
    "unused link definition": insert("[manual-7]: https://example.org/manual"),
    "reversed link": insert("Read (the manual)[https://example.org/manual] first."),
    "link without address": insert("Read the [manual]() first."),
    "link without text": insert("Read this first: [](https://example.org/manual)."),
    "heading twice": insert("## Costs", "", "They are 5.", "", "## Costs", "", "They are 7.",
        marked=range(4, 5)),
    "heading level left out": insert("## Costs", "", "They are 5.", "", "#### Time", "", "A week.",
        marked=range(4, 5)),
    "empty section": insert("## Costs", "", "## Time", "", "A week.", marked=range(1)),
    "heading without a blank": insert("##Costs of it", "", "They are 5."),
    "code block without end": insert("```python", "run()", marked=range(1)),
    "bold text without end": insert("The **costs are 5 for a week."),
    "blanks inside bold marks": insert("The ** costs ** are 5 for a week."),
    "table row with too many cells": insert(
        *_TABLE[:3], "| Lee | 8 | lost |", *_TABLE[4:], marked=range(3, 4)
    ),
    "table row with too few cells": insert(*_TABLE[:3], "| Lee 8 |", *_TABLE[4:],
        marked=range(3, 4)),
    "merge conflict": insert("<<<<<<< HEAD", "It costs 5.", "=======", "It costs 7.",
        ">>>>>>> main"),
    "field of front matter twice": change_front_matter("date: 2026-01-02", "title: Costs"),
    "damaged front matter": change_front_matter("summary: Plan: the costs"),
    "undefined footnote": insert("It costs 5.[^price]", "", "[^time]: A week.[^time]",
        marked=range(1)),
    "unused footnote": insert("[^unused]: As of May, it costs 5."),
    "bracket without end": insert("The costs (in May are 5 for a week."),
}  # fmt: skip
"""What plants each kind of mistake."""


class Case(NamedTuple):
    """A page with a mistake: its kind, the lines of the mistake, and where they are."""

    kind: str
    folder: str
    numbers: range


def write_cases(source: Path, out: Path, pages: int, seed: int) -> Iterator[Case]:
    """Write the copies of real pages with mistakes, and the pages themselves as `base`."""
    rng = random.Random(seed)  # noqa: S311 - a choice that can be repeated
    texts = [
        path.read_text("utf-8", "replace").split("\n")
        for path in sorted(source.rglob("*.md*"))
        if path.is_file()
    ]
    texts = [lines for lines in texts if _find_gap(lines, rng) is not None]
    for number, kind in enumerate(KINDS):
        done = 0
        for lines in rng.sample(texts, len(texts)):
            planted = KINDS[kind](lines, rng)
            if planted is None or done == pages:
                continue
            done += 1
            folder = f"{number:02}/{done:02}"
            for name, written in ((folder, planted.lines), (f"base/{folder}", lines)):
                (out / name).mkdir(parents=True)
                (out / name / "page.md").write_text("\n".join(written), "utf-8")
                (out / name / "garden.md").write_text(_OTHER, "utf-8")
            yield Case(kind, folder, planted.numbers)


_PLACE = re.compile(r"((?:base/)?\d\d/\d\d)/page\.md:(\d+)")


def count_found(output: str, cases: Sequence[Case], out: Path) -> Counter[str]:
    """Return how many mistakes of each kind the places in an output find."""
    places: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for folder, line in _PLACE.findall(output):
        lines = (out / folder / "page.md").read_text("utf-8").split("\n")
        places[folder][f"{line}" if int(line) > len(lines) else lines[int(line) - 1]] += 1
    found: Counter[str] = Counter()
    for case in cases:
        lines = (out / case.folder / "page.md").read_text("utf-8").split("\n")
        marked = {lines[number - 1] for number in case.numbers} - {""}
        before = places[f"base/{case.folder}"]
        found[case.kind] += any(places[case.folder][one] > before[one] for one in marked)
    return found


def run_kebab(cases: Sequence[Case], out: Path) -> str:
    """Return the places of the findings of every rule; each page is a folder of its own."""
    places = []
    for case in cases:
        for folder in (case.folder, f"base/{case.folder}"):
            sample = review_folder(out / folder, RULES, keep=True).sample
            places += [f"{folder}/{place}" for place, _ in sample]
    return "\n".join(places)


def main(arguments: Sequence[str]) -> int:
    """Print a table of the mistakes that each tool finds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path, help="a folder that does not exist yet")
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND")
    given = parser.parse_args(arguments)
    out = given.out.resolve()
    cases = list(write_cases(given.source, out, given.pages, given.seed))
    found = {"kebab": count_found(run_kebab(cases, out), cases, out)}
    for name, command in (tool.split("=", 1) for tool in given.tool):
        words = [word.replace("{}", ".") for word in shlex.split(command)]
        run = subprocess.run(words, cwd=out, capture_output=True, text=True, check=False)  # noqa: S603 - the caller's tools
        found[name] = count_found(run.stdout + run.stderr, cases, out)
    planted = Counter(case.kind for case in cases)
    sys.stdout.write(f"| mistake | planted | {' | '.join(found)} |\n")
    sys.stdout.write(f"| --- | ---: |{' ---: |' * len(found)}\n")
    for kind in (*KINDS, "all"):
        counts = [one.total() if kind == "all" else one[kind] for one in (planted, *found.values())]
        sys.stdout.write(f"| {kind} | {' | '.join(map(str, counts))} |\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Runs situations whose truth is known, and counts false and withheld statements.

`python -m tools.claims` runs 200 situations: each kind with each corpus in turn. With `--models`
the notes get vectors. It exits with 1 when a statement is false, or when more than 2 % of the true
ones are withheld.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

from tools.claims.corpora import LANGUAGES, Corpus, copy_corpus, write_corpus
from tools.claims.situations import NEEDS_QUESTIONS, SITUATIONS, Situation
from tools.claims.stage import Runner, Stage, Statement, run_process

_SAMPLES = Path(__file__).parents[2] / "samples"
_FOLDERS = {"notes": _SAMPLES / "notes", "code": _SAMPLES / "formats" / "code"}
_DOCUMENTS = 24
MOST_WITHHELD = 0.02
"""The largest share of true statements that may be withheld."""


def list_situations(count: int, seed: int) -> Iterator[tuple[Situation, str, int]]:
    """Yield situations with the name of a corpus and a seed, each kind as often as the others."""
    corpora = (*LANGUAGES, *_FOLDERS)
    pairs = [
        (situation, corpora[(at + step) % len(corpora)])
        for step in range(len(corpora))
        for at, situation in enumerate(SITUATIONS)
        if situation not in NEEDS_QUESTIONS or corpora[(at + step) % len(corpora)] in LANGUAGES
    ]
    for number, (situation, corpus) in enumerate(islice(cycle(pairs), count)):
        yield situation, corpus, seed + number


def run_situation(
    situation: Situation,
    corpus: str,
    seed: int,
    folder: Path,
    models: Path | None = None,
    runner: Runner = run_process,
) -> list[Statement]:
    """Return the statements of one situation in an empty folder."""
    dice = random.Random(seed)  # noqa: S311 - a repeatable choice, not a secret
    (folder / "run").mkdir(parents=True, mode=0o700)
    stage = Stage(
        f"{situation.__name__}/{corpus}/{seed}",
        folder,
        _build_corpus(corpus, folder / "notes", dice),
        dice,
        models,
        runner,
    )
    situation(stage)
    return stage.statements


def _build_corpus(name: str, folder: Path, dice: random.Random) -> Corpus:
    if name in LANGUAGES:
        return write_corpus(name, folder, _DOCUMENTS, dice)
    return copy_corpus(name, _FOLDERS[name], folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program, and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.claims", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="the number of situations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only situations whose name has this text")
    parser.add_argument("--models", type=Path, help="a folder of embedding models")
    chosen = parser.parse_args(arguments)
    statements: list[Statement] = []
    count = 0
    say = sys.stdout.write
    with tempfile.TemporaryDirectory() as place:
        for situation, corpus, seed in list_situations(chosen.count, chosen.seed):
            if chosen.only not in situation.__name__:
                continue
            folder = Path(place) / str(count)
            made = run_situation(situation, corpus, seed, folder, chosen.models)
            count += 1
            statements += made
            for one in made:
                if one.is_false or one.is_withheld:
                    word = "false" if one.is_false else "withheld"
                    say(f"{word}: {one.situation}: {one.text}\n")
    true = sum(one.true for one in statements)
    false = sum(one.is_false for one in statements)
    withheld = sum(one.is_withheld for one in statements)
    say(f"{count} situations, {len(statements)} statements: {false} false, ")
    say(f"{withheld} of {true} true ones withheld ({withheld / max(true, 1):.1%})\n")
    return int(false > 0 or withheld > MOST_WITHHELD * true)

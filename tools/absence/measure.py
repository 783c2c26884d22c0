"""Asks the questions of a data set, and counts refusals and doubts by kind of question.

Run from a checkout: `python -m tools.absence DATASET`. A data set is a folder with `docs/`, with
`queries.jsonl` (`query`, `doc`) and, if there are such questions, `unanswerable.jsonl` (`query`,
`near_doc`).
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.wire.ask import AskRequest
from kebab.wire.ingest import IngestRequest
from tools.absence.fit import FEATURES, Outcome, fit_weights, measure_curve
from tools.absence.swaps import Kind, Question, make_swaps

_FITTED: tuple[Kind, ...] = ("answerable", "unanswerable", "elsewhere")
"""Absent terms are decided by a rule, so their questions fit nothing."""

Counts = dict[str, Counter[str]]


def main(arguments: list[str]) -> int:
    """Print the counts, and with `--fit` the weights; return 0."""
    chosen = _build_parser().parse_args(arguments)
    settings = load_settings(None)
    with TemporaryDirectory(prefix="kebab-absence-") as folder:
        data = chosen.data_dir or folder
        settings = replace(settings, data_dir=str(data))
        with Kebab(settings, config_path=Path(folder) / "config.toml") as kebab:
            if chosen.data_dir is None:
                kebab.run(IngestRequest(paths=[str(chosen.dataset / "docs")]))
            questions = list(load_questions(chosen.dataset))[:: chosen.every]
            outcomes = [ask(kebab, one, chosen.mode) for one in questions]
    sys.stdout.writelines(f"{line}\n" for line in render_counts(count_outcomes(outcomes)))
    if chosen.fit:
        fitted = [one for one in outcomes if one.question.kind in _FITTED and not one.refusal]
        sys.stdout.writelines(f"{line}\n" for line in render_fit(fitted))
    return 0


def load_questions(dataset: Path) -> Iterator[Question]:
    """Yield the questions of a data set: with an answer, without one, and swapped."""
    notes = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(dataset.glob("docs/**/*.md"))
    )
    rows = _read_lines(dataset / "queries.jsonl")
    answerable = [Question("answerable", row["query"], row["doc"]) for row in rows]
    yield from answerable
    for row in _read_lines(dataset / "unanswerable.jsonl"):
        yield Question("unanswerable", row["query"], row["near_doc"])
    yield from make_swaps(answerable, notes)


def _read_lines(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def ask(kebab: Kebab, question: Question, mode: str) -> Outcome:
    """Return how a question is answered with quoted sentences."""
    request = AskRequest(question=question.text, extractive=True, mode=mode)  # type: ignore[arg-type]
    reply = kebab.run(request)
    return Outcome(
        question,
        reply.refusal_reason,
        reply.answers_question == "uncertain",
        frozenset(warning.code for warning in reply.warnings),
        reply.retrieval.top_score,
    )


def count_outcomes(outcomes: Sequence[Outcome]) -> Counts:
    """Return the counts by kind: all, refused by the gate, refused as absent, flagged."""
    counts: Counts = {}
    for one in outcomes:
        counter = counts.setdefault(one.question.kind, Counter())
        counter["all"] += 1
        if one.refusal:
            counter["absent" if one.refusal == "absent_terms" else "gate"] += 1
        elif one.uncertain:
            counter["flagged"] += 1
            counter.update(one.doubts)
    return counts


def render_counts(counts: Counts) -> Iterator[str]:
    """Yield a table of shares, and the doubts of flagged answers."""
    columns = ("gate", "absent", "flagged")
    yield f"{'kind':14}{'all':>6}" + "".join(f"{name:>9}" for name in (*columns, "together"))
    for kind, counter in counts.items():
        shares = [counter[name] / counter["all"] for name in columns]
        cells = "".join(f"{share:9.3f}" for share in (*shares, sum(shares)))
        yield f"{kind:14}{counter['all']:6}{cells}"
    for kind, counter in counts.items():
        doubts = [f"{name} {number}" for name, number in counter.items() if "_" in name]
        if doubts:
            yield f"{kind}: {', '.join(doubts)}"


def render_fit(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the curve on documents left out, and the weights fitted on all of them."""
    yield "flagged with an answer / without, on documents left out:"
    yield "  ".join(f"{rate:.2f} / {share:.3f}" for rate, share in measure_curve(outcomes))
    start, *weights = fit_weights(outcomes)
    yield f"start {start:.2f}, answerability {weights.pop():.2f}"
    yield from (f"{kind} {weight:.2f}" for kind, weight in zip(FEATURES, weights, strict=True))


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.absence", description="Measure questions without an answer."
    )
    add = parser.add_argument
    add("dataset", type=Path, help="a folder with docs/ and queries.jsonl")
    add("--data-dir", type=Path, help="a knowledge base of these documents; default a new one")
    add("--mode", choices=("hybrid", "lexical"), default="hybrid", help="the channels searched")
    add("--every", type=int, default=1, help="ask every Nth question only")
    add("--fit", action="store_true", help="also fit the weights of the doubts")
    return parser

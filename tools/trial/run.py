"""Runs the trial, and prints one line for each tool; `--json` prints every question."""

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean

from tools.trial.agents import Attempt, KebabAgent, Question, RipgrepAgent, answer
from tools.trial.corpus import prepare_corpus

_QUESTIONS = Path(__file__).with_name("questions.toml")


def load_questions(path: Path = _QUESTIONS) -> list[Question]:
    """Return the questions of a file."""
    return [Question(**fields) for fields in tomllib.loads(path.read_text("utf-8"))["question"]]


def summarise(questions: Sequence[Question], attempts: Sequence[Attempt]) -> dict[str, float]:
    """Return calls and bytes for each question, and shares of complete answers."""
    pairs = list(zip(questions, attempts, strict=True))
    one = [attempt for question, attempt in pairs if question.needs and len(question.queries) == 1]
    two = [attempt for question, attempt in pairs if question.needs and len(question.queries) > 1]
    absent = [attempt for question, attempt in pairs if not question.needs]
    return {
        "calls": mean(attempt.calls for attempt in attempts),
        "bytes": mean(attempt.bytes for attempt in attempts),
        "processor_seconds": sum(attempt.processor_seconds for attempt in attempts),
        "answered": mean(attempt.answered for attempt in one + two),
        "one_part_first_reply": mean(attempt.first_reply for attempt in one),
        "two_part_first_reply": mean(attempt.first_reply for attempt in two),
        "absent_calls": mean(attempt.calls for attempt in absent),
    }


def list_grounded(questions: Sequence[Question], data_dir: Path) -> list[str]:
    """Return the questions without an answer that `ask --extractive` answers without a doubt."""
    grounded = []
    for question in questions:
        if question.needs:
            continue
        command = [sys.executable, "-m", "kebab", "--data-dir", str(data_dir), "ask"]
        done = subprocess.run(  # noqa: S603 - kebab itself
            [*command, "--extractive", "--json", question.text], capture_output=True, check=False
        )
        reply = json.loads(done.stdout)
        if reply["answers_question"] == "likely":
            grounded.append(question.text)
    return grounded


def main() -> int:
    """Run the trial; the exit status is 1 when an absent answer is reported as grounded."""
    parser = argparse.ArgumentParser(prog="python -m tools.trial", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the documents and the index are kept")
    parser.add_argument("--rg", default=shutil.which("rg"), help="the program ripgrep")
    parser.add_argument("--json", action="store_true", help="print every question as JSON")
    options = parser.parse_args()
    folder = options.folder.resolve()
    docs, data_dir = prepare_corpus(folder), folder / "index"
    subprocess.run(  # noqa: S603 - kebab itself
        [sys.executable, "-m", "kebab", "--data-dir", str(data_dir), "ingest", str(docs)],
        stdout=sys.stderr,
        check=True,
    )
    questions = load_questions()
    agents = {"kebab": KebabAgent(docs, data_dir)} | (
        {"ripgrep": RipgrepAgent(docs, options.rg)} if options.rg else {}
    )
    attempts = {
        name: [answer(question, agent.ask(question)) for question in questions]
        for name, agent in agents.items()
    }
    grounded = list_grounded(questions, data_dir)
    if options.json:
        print(json.dumps(_describe(questions, attempts, grounded), ensure_ascii=False))  # noqa: T201 - the report
    else:
        for name, done in attempts.items():
            figures = summarise(questions, done).items()
            print(name, *(f"{key}={value:.2f}" for key, value in figures), sep="  ")  # noqa: T201 - the report
        print(f"absent but grounded: {len(grounded)}")  # noqa: T201 - the report
    return 1 if grounded else 0


def _describe(
    questions: Sequence[Question], attempts: dict[str, list[Attempt]], grounded: list[str]
) -> dict[str, object]:
    """Return the summary of each tool and every attempt without the text that was read."""
    tools = {
        name: {
            "summary": summarise(questions, done),
            "questions": [
                {"text": question.text} | asdict(attempt) | {"read": None}
                for question, attempt in zip(questions, done, strict=True)
            ],
        }
        for name, done in attempts.items()
    }
    return {"tools": tools, "grounded": grounded}

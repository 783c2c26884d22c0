"""Asks a model server questions about a folder, and prints what is wrong in its answers.

Run from a checkout: `python -m tools.answers FOLDER QUESTIONS`. QUESTIONS is a file with one
question per line. The server has the OpenAI-compatible API.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec
from msgspec.structs import asdict, replace

from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.config.settings import Llm, Settings
from kebab.errors.signal import Signal
from kebab.wire.ask import Answer, AnswerEvent, AskRequest
from kebab.wire.ingest import IngestRequest
from kebab.wire.library import ChunkInspection, InspectChunkRequest
from tools.answers.judge import Verdict, judge_answer


def main(arguments: list[str]) -> int:
    """Print the counts, and write each answer to a file if one is named; return 0."""
    chosen = _build_parser().parse_args(arguments)
    questions = chosen.questions.read_text(encoding="utf-8").splitlines()
    with TemporaryDirectory(prefix="kebab-answers-") as folder:
        settings = _build_settings(chosen, chosen.data_dir or folder)
        with Kebab(settings, config_path=Path(folder) / "config.toml") as kebab:
            if chosen.data_dir is None:
                kebab.run(IngestRequest(paths=[str(chosen.folder)]))
            verdicts = [ask(kebab, one.strip(), chosen.log) for one in questions if one.strip()]
    sys.stdout.writelines(f"{line}\n" for line in render_counts(verdicts))
    return 0


def ask(kebab: Kebab, question: str, log: Path | None) -> Verdict:
    """Return the verdict on the answer to a question."""
    events: list[AnswerEvent] = []
    started = time.monotonic()
    try:
        reply = kebab.run(AskRequest(question=question), report=events.append)
    except Signal as signal:
        verdict = Verdict(question=question, error=signal.code)
        answer = None
    else:
        seconds = time.monotonic() - started
        answer = msgspec.to_builtins(reply)
        passages = list(read_passages(kebab, reply))
        verdict = judge_answer(answer, events, passages, seconds)
    if log is not None:
        with log.open("a", encoding="utf-8") as file:
            row = {"verdict": msgspec.to_builtins(verdict), "answer": answer}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return verdict


def read_passages(kebab: Kebab, reply: Answer) -> Iterator[str]:
    """Yield the texts of the cited passages."""
    for one in dict.fromkeys(citation.chunk_id for citation in reply.citations):
        found = kebab.run(InspectChunkRequest(name=one))
        if isinstance(found, ChunkInspection):
            yield found.text


def render_counts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield one line per count."""
    ends = Counter(one.error or one.refusal or "grounded" for one in verdicts)
    yield f"questions: {len(verdicts)}"
    yield from (f"  {name}: {number}" for name, number in ends.most_common())
    yield f"truncated: {sum(one.truncated for one in verdicts)}"
    yield f"asked again after a part of the answer: {sum(one.asked_again for one in verdicts)}"
    yield f"asked again before any answer: {sum(one.overflows for one in verdicts)}"
    yield f"frame in the answer: {sum(one.frame_in_answer for one in verdicts)}"
    yield f"frame in the stream: {sum(one.frame_in_stream for one in verdicts)}"
    yield f"code blocks: {sum(one.blocks for one in verdicts)}"
    yield f"  unsupported and marked: {sum(one.marked for one in verdicts)}"
    yield f"  unsupported and not marked: {sum(len(one.unmarked) for one in verdicts)}"
    for one in verdicts:
        yield from (f"    {one.question} -> {tokens}" for tokens in one.unmarked)
    yield from _render_times("seconds", [one.seconds for one in verdicts if not one.error])
    firsts = [one.first_token_s for one in verdicts if one.first_token_s is not None]
    yield from _render_times("seconds to the first token", firsts)


def _render_times(label: str, times: Sequence[float]) -> Iterator[str]:
    if times:
        yield f"{label}: median {median(times):.1f}, most {max(times):.1f}"


def _build_settings(chosen: argparse.Namespace, data_dir: str | Path) -> Settings:
    settings = load_settings(None)
    given = {"endpoint": chosen.endpoint, "model": chosen.model, "provider": "openai"}
    if chosen.context_tokens is not None:
        given["context_tokens"] = chosen.context_tokens
    llm = Llm(**{**asdict(settings.models.llm), **given})
    models = replace(settings.models, llm=llm)
    return replace(settings, data_dir=str(data_dir), models=models)


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.answers", description="Count what is wrong in answers of a model."
    )
    add = parser.add_argument
    add("folder", type=Path, help="the folder to ask about")
    add("questions", type=Path, help="a file with one question per line")
    add("--endpoint", default="http://127.0.0.1:8080/v1", help="the model server")
    add("--model", default="smollm2", help="the name of the model")
    add("--context-tokens", type=int, help="the window to assume; default that of the settings")
    add("--data-dir", type=Path, help="a knowledge base of this folder; default a new one")
    add("--log", type=Path, help="append every answer with its verdict to this file")
    return parser

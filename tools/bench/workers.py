"""The programs that run in a process of their own: `index`, `latency` and `memory`.

`memory` must stay small, because the system counts the memory of the parent as part of the peak
memory of a new process. Everything of kebab is therefore imported inside functions.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kebab.app.context import AppContext

TOKENIZER, ESTIMATE = "tokenizer", "estimate"
"""What counts the tokens of a chunk in `index`."""

_WARM_UP, _FIRST, _NEXT = 5, 100, 200
_HITS = 10
_CONFIG = Path("absent.toml")
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def index_folder(folder: str, version: str, counter: str) -> int:
    """Index a folder with synthetic vectors by the real pipeline, and print the counts."""
    from kebab.embed.registry import find_model
    from kebab.ingest.job import IngestJob, IngestPorts, LoadedModel
    from kebab.ingest.run import run_ingest
    from kebab.parse.registry import PARSERS, guard_parser
    from kebab.source.walk import FolderScanner
    from tools.bench.synthetic_vectors import SyntheticEmbedder

    context = _build_app_context()
    tokenizer = context.embedders.load_installed(version) if counter == TOKENIZER else None
    request = IngestJob(paths=(folder,), chunker=context.chunker_version)
    embedder = SyntheticEmbedder(version, find_model(version).dimension)
    started = time.perf_counter()
    with context.open_writer("ingest") as library:
        ports = IngestPorts(
            library=library,
            vectors=context.open_vector_table,
            embedder=lambda _: LoadedModel(embedder),
            scanner=FolderScanner(),
            parsers=PARSERS,
            guard=guard_parser,
            budget=lambda: context.build_budget(tokenizer),
            clock=context.clock,
            batch=library.batch,
        )
        report = run_ingest(request, ports).report
    return _print_reply(
        {
            "new": report.new,
            "errors": report.errors,
            "chunks": sum(item.chunk_count for item in report.items),
            "embedded": report.embedding.embedded + report.embedding.reused,
            "seconds": time.perf_counter() - started,
        }
    )


def measure_latency(mode: str, count: str, seed: str) -> int:
    """Ask many questions in one process, and print the milliseconds of searches and their parts.

    The first questions contain words that are new to the process, and its memory grows with them.
    The parts are the lookup of words by SQLite alone, and the embedding of the question.
    """
    from kebab.app.facade import Kebab
    from kebab.bench.sandbox import build_questions
    from kebab.config.load import load_settings
    from kebab.wire.search import SearchRequest

    questions = build_questions(_WARM_UP + _FIRST + _NEXT + int(count), int(seed) + 1)
    with Kebab(load_settings(None), config_path=_CONFIG) as kebab:

        def search(text: str) -> object:
            lexical = mode == "lexical"
            return kebab.run(SearchRequest(query=text, mode="lexical" if lexical else "hybrid"))

        times = time_calls(search, questions)
    last = questions[-int(count) - _WARM_UP :]
    part = "words" if mode == "lexical" else "embedding"
    measure_part = _time_word_index if mode == "lexical" else _time_embedding
    searches = {"first": times[:_FIRST], "search": times[_FIRST + _NEXT :]}
    return _print_reply({**searches, part: measure_part(last)})


def time_calls(call: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    """Return the milliseconds of each call; the first few calls are a warm-up."""
    times = []
    for text in texts:
        started = time.perf_counter()
        call(text)
        times.append((time.perf_counter() - started) * 1000)
    return times[_WARM_UP:]


def _time_word_index(texts: Sequence[str]) -> list[float]:
    """Return the times of the word index of SQLite alone for the same words."""
    from kebab.core.queries import Filters
    from kebab.search.lexical import build_match_expression
    from kebab.text.tokenizer import build_query_terms

    def search_words(text: str) -> object:
        match = build_match_expression(build_query_terms(text), (), ())
        return reader.search_lexical(match, Filters(), _HITS) if match else []

    with _build_app_context().open_reader() as reader:
        return time_calls(search_words, texts)


def _time_embedding(texts: Sequence[str]) -> list[float]:
    """Return the times of the model alone for questions that are in no cache."""
    from kebab.app.search import load_query_embedder

    context = _build_app_context()
    with context.open_reader() as reader:
        embedder = load_query_embedder(context, reader)
        return time_calls(lambda text: embedder.embed_query(f"{text} again"), texts)


def measure_memory(*command: str) -> int:
    """Run a command, print its peak memory in bytes, and return its status."""
    status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode  # noqa: S603 - the benchmark's own command
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _RSS_UNIT
    _print_reply({"peak_bytes": peak})
    return status


def _build_app_context() -> "AppContext":
    from kebab.app.context import AppContext
    from kebab.config.load import load_settings

    return AppContext(load_settings(None), config_path=_CONFIG)


def _print_reply(reply: object) -> int:
    print(json.dumps(reply))  # noqa: T201 - the parent reads it
    return 0


PROGRAMS: dict[str, Callable[..., int]] = {
    "index": index_folder,
    "latency": measure_latency,
    "memory": measure_memory,
}


if __name__ == "__main__":
    sys.exit(PROGRAMS[sys.argv[1]](*sys.argv[2:]))

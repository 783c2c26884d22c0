"""The program of the process that stays open and asks many questions, one after the other.

Its first questions are in words that are new to it; what it holds in memory grows with them. Beside
the searches it times what they cannot do without: the words looked up in the index by SQLite alone,
and the vector of a question made by the model.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kebab.app.context import AppContext
from kebab.app.facade import Kebab
from kebab.app.search import load_query_embedder
from kebab.bench.corpus import queries
from kebab.config.load import load
from kebab.core.query import Filters
from kebab.search import expression
from kebab.text.tokenizer import build_query_terms
from kebab.wire.search import SearchRequest

_WARM_UP, _FIRST, _NEXT = 5, 100, 200
_SHOWN = 10


def main(mode: str, count: str, seed: str) -> None:
    """Print how long searches and their parts took, in milliseconds, as one line of JSON."""
    asked = queries(_WARM_UP + _FIRST + _NEXT + int(count), int(seed) + 1)
    with Kebab(load(None), config_path=Path("absent.toml")) as kebab:
        times = timed(lambda text: kebab.search(_request(text, mode)), asked)
    told = {"first": times[:_FIRST], "search": times[_FIRST + _NEXT :]}
    last = asked[-int(count) - _WARM_UP :]
    told |= {"words": _words(last)} if mode == "lexical" else {"embedding": _embedding(last)}
    print(json.dumps(told))  # noqa: T201 - the parent reads it


def timed(work: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    """Return how many milliseconds the work took for each text but the first few."""
    found = []
    for text in texts:
        started = time.perf_counter()
        work(text)
        found.append((time.perf_counter() - started) * 1000)
    return found[_WARM_UP:]


def _request(text: str, mode: str) -> SearchRequest:
    return SearchRequest(query=text, mode="lexical" if mode == "lexical" else "hybrid")


def _context() -> AppContext:
    return AppContext(load(None), config_path=Path("absent.toml"))


def _words(texts: Sequence[str]) -> list[float]:
    """Return the times of SQLite's word index alone, asked for the same words."""

    def look(text: str) -> object:
        match = expression.match(build_query_terms(text), (), ())
        return reader.lexical(match, Filters(), _SHOWN) if match else []

    with _context().reader() as reader:
        return timed(look, texts)


def _embedding(texts: Sequence[str]) -> list[float]:
    """Return the times of the model alone, on questions that nothing remembers."""
    context = _context()
    with context.reader() as reader:
        embedder = load_query_embedder(context, reader)
        return timed(lambda text: embedder.embed_query(f"{text} again"), texts)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Asks the questions of evaluation sets, and keeps the signals of each search.

With every second document left out, the questions about the others are related to the notes and
not answered by them. Questions of sets without a common document are unrelated.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from kebab.app.context import AppContext
from kebab.app.facade import Kebab
from kebab.app.search import build_query, prepare_vector_search
from kebab.search.answerability import AnswerSignals, is_across_languages, read_signals
from kebab.search.rerank import rerank_candidates
from kebab.search.retrieval import Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever
from kebab.wire.search import ModeName, SearchRequest
from tools.quality.run import remove_answers, sample_unrelated, search_item
from tools.quality.sets import DataSet, Item, build_base, build_settings

Kind: TypeAlias = Literal["own", "related", "unrelated"]
MODES: tuple[ModeName, ...] = ("hybrid", "vector", "lexical")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The signals of one search; `rank` is that of the right hit among the first ten."""

    dataset: str
    questions: str
    mode: ModeName
    kind: Kind
    rank: int | None
    signals: AnswerSignals

    @property
    def foreign(self) -> bool:
        """Whether the questions are in another language than the documents."""
        return "-" in self.questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Collects the cases of one model; `bases` keeps its knowledge bases."""

    model: str
    bases: Path
    every: int
    modes: Sequence[ModeName] = MODES
    whole: Sequence[str] = ()
    """The sets that are only asked with all documents, because their documents repeat another."""

    def collect(self, one: DataSet, sets: Sequence[DataSet]) -> Iterator[Case]:
        """Yield the cases of a set: with all documents, and with every second one."""
        documents = one.list_documents()
        others = [item for other in sets for item in sample_unrelated(one, other)]
        yield from self._ask(one, "whole", documents, others)
        if one.name not in self.whole:
            yield from self._ask(one, "half", documents[::2], ())

    def _ask(
        self, one: DataSet, base: str, documents: Sequence[Path], others: Sequence[Item]
    ) -> Iterator[Case]:
        data_dir = self.bases / f"{self.model}-{base}" / one.name
        build_base(data_dir, documents, one.docs, self.model)
        kept = {str(path.relative_to(one.docs)) for path in documents}
        settings, config = build_settings(data_dir, self.model), data_dir / "config.toml"
        with Kebab(settings, config_path=config) as kebab:
            context = AppContext(settings, config_path=config)
            for path in one.list_query_files():
                items = one.load_items(path)[:: self.every]
                for kind, item in _sort_items(items, kept, others if "-" not in path.stem else ()):
                    for mode in self.modes:
                        signals = _read_signals(context, item.question.text, mode)
                        if signals is None:
                            continue
                        rank = search_item(kebab, item, mode).rank if kind == "own" else None
                        yield Case(
                            dataset=one.name,
                            questions=path.stem,
                            mode=mode,
                            kind=kind,
                            rank=rank,
                            signals=signals,
                        )
            context.close()


def _sort_items(
    items: Sequence[Item], kept: set[str], others: Sequence[Item]
) -> Iterator[tuple[Kind, Item]]:
    """Yield questions with their kinds; one with only some of its documents is left out."""
    for item in items:
        if kept.issuperset(item.question.documents):
            yield "own", item
        elif kept.isdisjoint(item.question.documents):
            yield "related", remove_answers([item])[0]
    for item in remove_answers(others):
        yield "unrelated", item


def _read_signals(context: AppContext, text: str, mode: ModeName) -> AnswerSignals | None:
    """Return the signals of a search, None when it finds nothing."""
    with context.open_reader() as reader:
        vectors, embedder = prepare_vector_search(context, reader)
        retriever = VectorRetriever(
            library=reader, vectors=vectors, embedder=embedder, cache=context.cache
        )
        passages = PassageCache(reader)
        query = build_query(SearchRequest(query=text, mode=mode), context.clock.now())
        found = Ranker(reader, retriever).rank(query, StageTimer(time.perf_counter), passages)
        if mode != "lexical" and is_across_languages(found, passages):
            timer = StageTimer(time.perf_counter)
            found = rerank_candidates(found, embedder, passages, timer, asked_for=False)
        return read_signals(found, passages) if found.ranked else None


def save_cases(path: Path, cases: Sequence[Case]) -> None:
    """Append cases to a file, one JSON object a line."""
    with path.open("ab") as file:
        file.writelines(msgspec.json.encode(case) + b"\n" for case in cases)


def load_cases(path: Path) -> list[Case]:
    """Return the cases of a file."""
    lines = path.read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Case) for line in lines if line]

"""Many files of a usual length, as a documentation site has them, by words alone.

First how long it takes to read them all, then how long to find out that none of them changed, then
how long to read the same as plain text.
"""

from collections.abc import Callable
from pathlib import Path

from kebab.bench import yardsticks
from kebab.bench.bed import Bed
from kebab.bench.budget import Budget, at_least_ratio
from kebab.bench.corpus import Corpus, write_pages, write_texts
from kebab.bench.ledger import Yardstick
from kebab.bench.library import Indexed, changed, index, ingest_command
from kebab.bench.race import Contestant, Sample
from kebab.bench.rig import Rig

_MB = 1_000_000
_S_PER_MB = 25.0 / 46
_S_PER_FILE = 0.6 / 12_000
_START_S = 0.3
"""What a run takes whatever there is to do."""
_TO_MARKDOWN = at_least_ratio(1.0)
"""Of the two rates: plain text has nothing to be parsed."""


def measure(rig: Rig) -> None:
    """Enter the figures of a first ingest, of one that changes nothing, and of plain text."""
    pages = _indexed(rig, "files", write_pages)
    if pages is None:
        return
    _first(rig, pages)
    _again(rig, pages.bed, pages.corpus)
    texts = _indexed(rig, "files.text", write_texts)
    if texts is not None:
        _texts(rig, texts, Yardstick("files.bytes", Sample([_rate(pages)])))


def _indexed(rig: Rig, name: str, write: Callable[[Path, int, int], Corpus]) -> Indexed | None:
    """Return files of one kind after a run by words, or enter why there are none."""
    bed = Bed(rig.folder / name, rig.folder / "no-models", rig.runner)
    rig.pace.at("write files", 0, 1)
    corpus = write(bed.folder / "files", rig.options.files, rig.options.seed)
    rig.pace.at(f"ingest {corpus.files} files by words", 0, 1)
    found = index(bed, corpus)
    if found.fault is not None:
        rig.ledger.failed(name, found.fault)
        return None
    return found


def _first(rig: Rig, indexed: Indexed) -> None:
    corpus, seconds, add = indexed.corpus, indexed.outcome.seconds, rig.ledger.add
    fts = _alone(rig, indexed)
    add("files.fts5", "s", fts.sample)
    limit = Budget(round(max(_S_PER_MB * corpus.size / _MB, _START_S), 1), "s")
    add("files.ingest", "s", Sample([seconds]), against=fts, budget=limit)
    add("files.documents", "documents/s", Sample([corpus.files / seconds]))
    add("files.bytes", "MB/s", Sample([_rate(indexed)]))
    add("files.memory", "MB", Sample([indexed.outcome.peak_bytes / _MB]))


def _texts(rig: Rig, indexed: Indexed, markdown: Yardstick) -> None:
    add, seconds = rig.ledger.add, indexed.outcome.seconds
    add("files.text", "s", Sample([seconds]), against=_alone(rig, indexed))
    add("files.text_bytes", "MB/s", Sample([_rate(indexed)]), against=markdown, budget=_TO_MARKDOWN)


def _alone(rig: Rig, indexed: Indexed) -> Yardstick:
    """Return what SQLite alone takes to index the same files."""
    words = yardsticks.word_index(indexed.corpus.folder, indexed.bed.folder / "words")
    samples = rig.race(yardsticks.FTS, indexed.bed, [words], 1)
    return Yardstick(yardsticks.FTS, samples[yardsticks.FTS])


def _rate(indexed: Indexed) -> float:
    """Return the megabytes of a corpus that were taken in per second."""
    return indexed.corpus.size / _MB / indexed.outcome.seconds


def _again(rig: Rig, bed: Bed, corpus: Corpus) -> None:
    again = Contestant(
        name="noop",
        command=lambda _: ingest_command(corpus),
        fault=lambda outcome: changed(outcome, corpus),
    )
    looking = yardsticks.stat_files(corpus.folder)
    samples = rig.race("no-op ingest", bed, [looking, again], rig.options.runs)
    stat = Yardstick(yardsticks.STAT, samples[yardsticks.STAT])
    rig.ledger.add("files.stat", "s", stat.sample)
    limit = Budget(round(max(_S_PER_FILE * corpus.files, _START_S), 2), "s")
    rig.ledger.add("files.noop", "s", samples["noop"], against=stat, budget=limit)

"""Many files of a usual length, as a documentation site has them, by words alone.

First how long it takes to read them all, then how long to find out that none of them changed.
"""

from kebab.bench import yardsticks
from kebab.bench.bed import Bed
from kebab.bench.budget import Budget
from kebab.bench.corpus import Corpus, write_pages
from kebab.bench.ledger import Yardstick
from kebab.bench.library import Indexed, changed, index, ingest_command
from kebab.bench.race import Contestant, Sample
from kebab.bench.rig import Rig

_MB = 1_000_000
_S_PER_MB = 25.0 / 46
_S_PER_FILE = 0.6 / 12_000
_START_S = 0.3
"""What a run takes whatever there is to do."""


def measure(rig: Rig) -> None:
    """Enter the figures of a first ingest, and of one that finds every file as it was."""
    bed = Bed(rig.folder / "files", rig.folder / "no-models", rig.runner)
    rig.pace.at("write files", 0, 1)
    corpus = write_pages(bed.folder / "files", rig.options.files, rig.options.seed)
    rig.pace.at(f"ingest {corpus.files} files by words", 0, 1)
    indexed = index(bed, corpus)
    if indexed.fault is not None:
        rig.ledger.failed("files", indexed.fault)
        return
    _first(rig, indexed)
    _again(rig, bed, corpus)


def _first(rig: Rig, indexed: Indexed) -> None:
    corpus, seconds, add = indexed.corpus, indexed.outcome.seconds, rig.ledger.add
    words = yardsticks.word_index(corpus.folder, indexed.bed.folder / "words")
    samples = rig.race(yardsticks.FTS, indexed.bed, [words], 1)
    fts = Yardstick(yardsticks.FTS, samples[yardsticks.FTS])
    add("files.fts5", "s", fts.sample)
    size = corpus.size / _MB
    limit = Budget(round(max(_S_PER_MB * size, _START_S), 1), "s")
    add("files.ingest", "s", Sample([seconds]), against=fts, budget=limit)
    add("files.documents", "documents/s", Sample([corpus.files / seconds]))
    add("files.bytes", "MB/s", Sample([size / seconds]))
    add("files.memory", "MB", Sample([indexed.outcome.peak_bytes / _MB]))


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

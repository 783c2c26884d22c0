"""Measures the ingest of many files, and the ingest after one paragraph changed."""

from collections.abc import Callable
from pathlib import Path

from kebab.bench.run import (
    NO_MODEL,
    ONNX,
    BenchContext,
    IndexedCorpus,
    build_ingest_command,
    build_question_candidate,
    index_corpus,
)
from kebab.bench.sandbox import (
    Budget,
    Candidate,
    Command,
    Corpus,
    Outcome,
    Sample,
    Sandbox,
    Yardstick,
    build_questions,
)
from tools.bench import yardsticks
from tools.bench.corpora import write_long_note, write_pages, write_texts
from tools.bench.synthetic_index import (
    SyntheticIndex,
    choose_version,
    index_with_synthetic_vectors,
)

_MB = 1_000_000
_S_PER_MB = 25.0 / 46
_S_PER_FILE = 0.6 / 12_000
_START_S = 0.3
"""The duration of a run without any work."""
_OVER_MARKDOWN = yardsticks.require_ratio(1.0)
"""Plain text needs no parsing, so its rate must not be lower than that of Markdown."""
_EDIT = Budget(1.2, "s")
_NOTE_BYTES = 1_000_000
_EDIT_TURNS = 5


def build_unchanged_ingest(corpus: Corpus) -> Candidate:
    """Return an ingest of a corpus that is indexed already; it must find no change."""

    def find_fault(outcome: Outcome) -> str | None:
        return find_changed_files(outcome, corpus)

    return Candidate(
        name="noop", build_command=lambda _: build_ingest_command(corpus), find_fault=find_fault
    )


def find_changed_files(outcome: Outcome, corpus: Corpus) -> str | None:
    """Return how a second ingest differs from one that finds every file unchanged."""
    fault = outcome.describe_failure()
    if fault is not None:
        return fault
    unchanged = outcome.parse_reply().get("unchanged")
    return None if unchanged == corpus.files else f"{unchanged} of {corpus.files} files unchanged"


def measure_files(context: BenchContext, files: int) -> None:
    """Add the lexical ingest of many Markdown files, of unchanged files, and of plain text."""
    pages = _index_files(context, "files", files, write_pages)
    if pages is None:
        return
    _add_markdown(context, pages)
    _measure_unchanged(context, pages)
    texts = _index_files(context, "files.text", files, write_texts)
    if texts is not None:
        _add_texts(context, texts, Yardstick("files.bytes", Sample([_compute_rate(pages)])))


def _index_files(
    context: BenchContext, name: str, files: int, write: Callable[[Path, int, int], Corpus]
) -> IndexedCorpus | None:
    """Return files that were indexed without vectors, or record why this failed."""
    sandbox = Sandbox(context.folder / name, context.folder / "no-models", context.runner)
    context.report_progress("write files", 0, 1)
    corpus = write(sandbox.folder / "files", files, context.options.seed)
    context.report_progress(f"ingest {corpus.files} files by words", 0, 1)
    indexed = index_corpus(sandbox, corpus)
    if indexed.fault is not None:
        context.results.add_failure(name, indexed.fault)
        return None
    return indexed


def _add_markdown(context: BenchContext, indexed: IndexedCorpus) -> None:
    corpus, seconds, add = indexed.corpus, indexed.outcome.seconds, context.results.add_figure
    fts = _measure_sqlite_alone(context, indexed)
    add("files.fts5", "s", fts.sample)
    limit = Budget(round(max(_S_PER_MB * corpus.size / _MB, _START_S), 1), "s")
    add("files.ingest", "s", Sample([seconds]), against=fts, budget=limit)
    add("files.documents", "documents/s", Sample([corpus.files / seconds]))
    add("files.bytes", "MB/s", Sample([_compute_rate(indexed)]))
    add("files.memory", "MB", Sample([indexed.outcome.peak_bytes / _MB]))


def _add_texts(context: BenchContext, indexed: IndexedCorpus, markdown: Yardstick) -> None:
    add, seconds = context.results.add_figure, indexed.outcome.seconds
    add("files.text", "s", Sample([seconds]), against=_measure_sqlite_alone(context, indexed))
    rate = Sample([_compute_rate(indexed)])
    add("files.text_bytes", "MB/s", rate, against=markdown, budget=_OVER_MARKDOWN)


def _measure_sqlite_alone(context: BenchContext, indexed: IndexedCorpus) -> Yardstick:
    """Return how long SQLite alone takes to index the same files."""
    folder, sandbox = indexed.corpus.folder, indexed.sandbox
    words = yardsticks.index_words(folder, sandbox.folder / "words")
    samples = context.run_interleaved(yardsticks.FTS, sandbox, [words], 1)
    return Yardstick(yardsticks.FTS, samples[yardsticks.FTS])


def _compute_rate(indexed: IndexedCorpus) -> float:
    """Return the megabytes of a corpus that were indexed per second."""
    return indexed.corpus.size / _MB / indexed.outcome.seconds


def _measure_unchanged(context: BenchContext, indexed: IndexedCorpus) -> None:
    corpus, runs = indexed.corpus, context.options.runs
    candidates = [yardsticks.stat_files(corpus.folder), build_unchanged_ingest(corpus)]
    samples = context.run_interleaved("no-op ingest", indexed.sandbox, candidates, runs)
    stat = Yardstick(yardsticks.STAT, samples[yardsticks.STAT])
    context.results.add_figure("files.stat", "s", stat.sample)
    limit = Budget(round(max(_S_PER_FILE * corpus.files, _START_S), 2), "s")
    context.results.add_figure("files.noop", "s", samples["noop"], against=stat, budget=limit)


def measure_edit(context: BenchContext) -> None:
    """Add the ingest of a note of one megabyte after one of its paragraphs changed."""
    sandbox = context.create_sandbox("edit")
    corpus = write_long_note(sandbox.folder / "files", _NOTE_BYTES, context.options.seed)
    context.report_progress("ingest a long note", 0, 1)
    exact = context.find_model() is not None
    note = index_with_synthetic_vectors(sandbox, corpus, choose_version(context), exact=exact)
    if note.fault is not None:
        context.results.add_failure("edit", note.fault)
        return
    _measure_paragraph(context, note)


def _measure_paragraph(context: BenchContext, note: SyntheticIndex) -> None:
    model = context.find_model()
    candidates = [_build_edit(note.corpus, vectors=model is not None)]
    turns = min(_EDIT_TURNS, context.options.runs)
    if model is None:
        context.results.add_skipped("edit.vectors", f"words alone follow: {NO_MODEL}")
    else:
        texts = build_questions(turns + 1, context.options.seed)
        candidates.insert(0, build_question_candidate(context.find_model_folder(model), texts))
    samples = context.run_interleaved("edit", note.sandbox, candidates, turns)
    raw = Yardstick(ONNX, samples.get(ONNX, Sample()))
    context.results.add_figure("edit.paragraph", "s", samples["edit"], against=raw, budget=_EDIT)


def _build_edit(corpus: Corpus, *, vectors: bool) -> Candidate:
    """Return an ingest; before each turn one paragraph in the middle of the note changes."""
    (path,) = corpus.folder.rglob("*.md")

    def build_command(turn: int) -> Command:
        _replace_paragraph(path, f"Edited {turn}: the harbour master keeps another calendar.")
        return build_ingest_command(corpus)

    def find_fault(outcome: Outcome) -> str | None:
        reply = outcome.parse_reply()
        embedded = reply.get("embedding", {}).get("embedded")
        right = reply.get("updated") == 1 and (embedded == 1 or not vectors)
        return outcome.describe_failure() or (None if right else f"passages embedded: {embedded}")

    return Candidate(name="edit", build_command=build_command, find_fault=find_fault)


def _replace_paragraph(path: Path, text: str) -> None:
    """Replace the paragraph in the middle of a note."""
    parts = path.read_text().split("\n\n")
    middle = len(parts) // 2
    while parts[middle].startswith(("#", "- ", "```", "    ")):
        middle += 1
    parts[middle] = text
    path.write_text("\n\n".join(parts))

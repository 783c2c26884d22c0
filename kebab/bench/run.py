"""Measures start-up, ingest and search in a temporary folder, and reports progress."""

import platform
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field, structs

import kebab
from kebab.bench.sandbox import (
    Budget,
    Candidate,
    Command,
    Corpus,
    Outcome,
    Results,
    Runner,
    Sample,
    Sandbox,
    Yardstick,
    build_kebab_command,
    build_python_command,
    build_questions,
    build_repeated_candidate,
    limit_ratio,
    run_interleaved,
    run_process,
    write_notes,
)
from kebab.core.progress import Heartbeat
from kebab.embed import install
from kebab.embed.registry import MODELS, EmbeddingModel, find_model
from kebab.platform import count_cores
from kebab.wire.evals import BenchMachine, BenchProgress, BenchReport

SendProgress: TypeAlias = Callable[[BenchProgress], None]
ReportProgress: TypeAlias = Callable[[str, int, int], None]
"""Takes what is measured now, how many steps are done, and how many there are."""

NO_MODEL = "no embedding model is installed; `kebab model pull NAME` fetches one"
_STARTUP, _SCHEMA = limit_ratio(2.0), limit_ratio(3.0)
_INGEST_MEMORY, _DISK = Budget(600, "MB"), Budget(10, "KB")
_LEXICAL, _HYBRID = limit_ratio(3.0), Budget(0.55, "s")
_MB, _KB = 1_000_000, 1_000
_COPIES = 3
_REPEAT_S = 2.0
PYTHON = "python -c pass"
CLICK = "import click"
ONNX = "onnxruntime alone"
COPY = "cp of the same files"

_ONNX = """
import sys, numpy, onnxruntime, tokenizers
folder, text = sys.argv[1:]
ids = numpy.array([tokenizers.Tokenizer.from_file(folder + "/tokenizer.json").encode(text).ids])
session = onnxruntime.InferenceSession(folder + "/model.onnx", providers=["CPUExecutionProvider"])
given = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
wanted = [one.name for one in session.get_inputs()]
session.run(None, {name: given[name] for name in wanted})
"""


class IndexedCorpus(Struct, frozen=True, kw_only=True):
    """A corpus in a knowledge base, after one run of `kebab ingest`."""

    sandbox: Sandbox
    corpus: Corpus
    outcome: Outcome
    fault: str | None
    chunks: int = 0
    version: str | None = None
    """The version of the embedding model; None when no model is installed."""
    disk_bytes: int = 0


def build_ingest_command(corpus: Corpus) -> Command:
    """Return the command that indexes a corpus."""
    return build_kebab_command("ingest", str(corpus.folder), "--json")


def index_corpus(sandbox: Sandbox, corpus: Corpus) -> IndexedCorpus:
    """Index a corpus in an empty knowledge base."""
    outcome = sandbox.run(build_ingest_command(corpus))
    report = outcome.parse_reply()
    fault = outcome.describe_failure()
    if fault is None and (report.get("new") != corpus.files or report.get("errors")):
        new, errors = report.get("new"), report.get("errors")
        fault = f"of {corpus.files} files {new} were new, {errors} failed"
    if fault is not None:
        return IndexedCorpus(sandbox=sandbox, corpus=corpus, outcome=outcome, fault=fault)
    return IndexedCorpus(
        sandbox=sandbox,
        corpus=corpus,
        outcome=outcome,
        fault=None,
        chunks=sum(item["chunk_count"] for item in report["items"]),
        version=report["embedding"]["version"] if report["embedding"]["embedded"] else None,
        disk_bytes=sandbox.count_disk_bytes(),
    )


class BenchOptions(Struct, frozen=True, kw_only=True):
    """The size of the benchmark. An empty `only` selects every measurement."""

    chunks: int = 1_000
    seed: int = 1
    runs: int = 9
    only: tuple[str, ...] = ()


class BenchContext(Struct, kw_only=True):
    """The state of one run of the benchmark; its files lie below a temporary folder."""

    folder: Path
    models: Path
    options: BenchOptions
    report_progress: ReportProgress
    runner: Runner = run_process
    results: Results = field(default_factory=Results)
    _notes: IndexedCorpus | None = None

    def create_sandbox(self, name: str) -> Sandbox:
        """Return an empty knowledge base."""
        return Sandbox(self.folder / name, self.models, self.runner)

    def find_model(self) -> EmbeddingModel | None:
        """Return the best installed model."""
        return next((model for model in MODELS if install.find_installed(model, self.models)), None)

    def find_model_folder(self, model: EmbeddingModel) -> Path:
        """Return the folder of an installed model."""
        folder = install.find_installed(model, self.models)
        assert folder is not None, "the caller found the model before"
        return folder

    def index_notes(self) -> IndexedCorpus:
        """Return the generated notes; the first call writes and indexes them."""
        if self._notes is None:
            sandbox = self.create_sandbox("notes")
            self.report_progress("write notes", 0, 1)
            corpus = write_notes(sandbox.folder / "files", self.options.chunks, self.options.seed)
            self.report_progress(f"ingest {corpus.files} files", 0, 1)
            self._notes = index_corpus(sandbox, corpus)
        return self._notes

    def count_chunks(self) -> int:
        """Return how many chunks the indexed notes have, or should have before they exist."""
        return self._notes.chunks if self._notes else self.options.chunks

    def run_interleaved(
        self, name: str, sandbox: Sandbox, candidates: Sequence[Candidate], turns: int
    ) -> dict[str, Sample]:
        """Return the values of candidates that run in turns."""
        return run_interleaved(
            candidates,
            turns,
            sandbox.run,
            lambda turn, total: self.report_progress(name, turn, total),
        )


def measure_startup(context: BenchContext) -> None:
    """Add the figures of help, version and schema."""
    candidates = [
        build_python_candidate(),
        build_click_candidate(),
        build_repeated_candidate("help", build_kebab_command("--help")),
        build_repeated_candidate("version", build_kebab_command("--version")),
        build_repeated_candidate("schema", build_kebab_command("schema", "--json")),
    ]
    sandbox = context.create_sandbox("startup")
    samples = context.run_interleaved("start-up", sandbox, candidates, context.options.runs)
    click = Yardstick(CLICK, samples[CLICK])
    python = Yardstick(PYTHON, samples[PYTHON])
    add = context.results.add_figure
    add("startup.python", "s", python.sample)
    add("startup.import_click", "s", click.sample, against=python)
    add("startup.help", "s", samples["help"], against=click, budget=_STARTUP)
    add("startup.version", "s", samples["version"], against=click, budget=_STARTUP)
    add("startup.schema", "s", samples["schema"], against=click, budget=_SCHEMA)


def measure_ingest(context: BenchContext) -> None:
    """Add the time, memory and disk space of one run that indexes the notes."""
    notes = context.index_notes()
    if notes.fault is not None:
        context.results.add_failure("ingest", notes.fault)
        return
    copy = build_copy_candidate(notes.corpus.folder, notes.sandbox.folder / "copy")
    samples = context.run_interleaved("copy", notes.sandbox, [copy], _COPIES)
    if notes.version is None:
        context.results.add_skipped("ingest.vectors", f"words alone were indexed: {NO_MODEL}")
    copied = Yardstick(COPY, samples[COPY])
    add, seconds = context.results.add_figure, notes.outcome.seconds
    add("ingest.copy", "s", copied.sample)
    add("ingest.time", "s", Sample([seconds]), against=copied)
    add("ingest.documents", "documents/s", Sample([notes.corpus.files / seconds]))
    add("ingest.chunks", "chunks/s", Sample([notes.chunks / seconds]))
    add("ingest.bytes", "MB/s", Sample([notes.corpus.size / _MB / seconds]))
    memory = Sample([notes.outcome.peak_bytes / _MB])
    add("ingest.memory", "MB", memory, budget=_INGEST_MEMORY)
    per_chunk = notes.disk_bytes / _KB / max(1, notes.chunks)
    add("ingest.disk", "KB/chunk", Sample([per_chunk]), budget=_DISK)


def measure_search(context: BenchContext) -> None:
    """Add the time of a lexical and a hybrid search, each in a new process.

    The files are in the page cache of the system.
    """
    notes = context.index_notes()
    if notes.fault is not None:
        context.results.add_failure("search", notes.fault)
        return
    candidates = [build_click_candidate(), _build_search(context, "lexical")]
    if notes.version is not None:
        folder = context.find_model_folder(find_model(notes.version))
        texts = build_questions(context.options.runs + 1, context.options.seed)
        candidates.append(build_question_candidate(folder, texts))
        candidates.append(_build_search(context, "hybrid"))
    runs = context.options.runs
    samples = context.run_interleaved("search", notes.sandbox, candidates, runs)
    add = context.results.add_figure
    click = Yardstick(CLICK, samples[CLICK])
    add("search.import_click", "s", click.sample)
    add("search.lexical", "s", samples["lexical"], against=click, budget=_LEXICAL)
    if notes.version is None:
        context.results.add_skipped("search.hybrid", NO_MODEL)
        return
    raw = Yardstick(ONNX, samples[ONNX])
    add("search.onnxruntime", "s", raw.sample, against=click)
    add("search.hybrid", "s", samples["hybrid"], against=raw, budget=_HYBRID)


def _build_search(context: BenchContext, mode: str) -> Candidate:
    """Return a search with another question in every turn, so that no cache answers."""
    texts = build_questions(context.options.runs + 1, context.options.seed)

    def build_command(turn: int) -> Command:
        # The warm-up is not measured; its JSON shows whether all channels take part.
        output = ["--json"] if turn == 0 else []
        return build_kebab_command("search", texts[turn], "--mode", mode, *output)

    return Candidate(name=mode, build_command=build_command, find_fault=_find_degradation)


def _find_degradation(outcome: Outcome) -> str | None:
    """Return why an answer does not count: no hit, or a channel that did not take part."""
    fault = outcome.describe_failure()
    if fault is not None or not (missing := outcome.parse_reply().get("degraded")):
        return fault
    return str(missing[0]["reason"])


def build_python_candidate() -> Candidate:
    """Return a candidate that starts the interpreter."""
    return build_repeated_candidate(PYTHON, build_python_command("pass"))


def build_click_candidate() -> Candidate:
    """Return a candidate that starts a program with click."""
    return build_repeated_candidate(CLICK, build_python_command("import click"))


def build_question_candidate(model: Path, texts: list[str]) -> Candidate:
    """Return a candidate that loads a model and embeds one text without kebab."""

    def build_command(turn: int) -> Command:
        return build_python_command(_ONNX, str(model), texts[turn])

    return Candidate(name=ONNX, build_command=build_command)


def build_copy_candidate(folder: Path, target: Path) -> Candidate:
    """Return a candidate that copies a folder to another folder in every turn."""

    def build_command(turn: int) -> Command:
        return ("cp", "-r", str(folder), f"{target}-{turn}")

    return Candidate(name=COPY, build_command=build_command)


Measurement: TypeAlias = Callable[[BenchContext], None]

MEASUREMENTS: Mapping[str, Measurement] = {
    "startup": measure_startup,
    "ingest": measure_ingest,
    "search": measure_search,
}
"""The measurements of `kebab bench` by name, in the order in which they run."""


def run_benchmark(
    options: BenchOptions,
    models: Path,
    send: SendProgress,
    runner: Runner = run_process,
    measurements: Mapping[str, Measurement] | None = None,
) -> BenchReport:
    """Run the selected measurements and return their figures.

    The knowledge base of the user is not opened. `models` is the folder of the embedding models;
    nothing is downloaded.
    """
    progress = ProgressReporter(send)
    available = MEASUREMENTS if measurements is None else measurements
    with tempfile.TemporaryDirectory(prefix="kebab-bench-") as folder, progress.repeat():
        context = BenchContext(
            folder=Path(folder),
            models=models,
            options=options,
            report_progress=progress.report,
            runner=runner,
        )
        for name, measure in available.items():
            if not options.only or name in options.only:
                measure(context)
        progress.report("done", 1, 1)
    return BenchReport(
        chunks=context.count_chunks(),
        seed=options.seed,
        **structs.asdict(context.results),
        machine=describe_machine(),
        duration_ms=progress.get_elapsed_ms(),
    )


def describe_machine() -> BenchMachine:
    """Return the facts about this machine that figures depend on."""
    return BenchMachine(
        system=f"{platform.system()} {platform.machine()}",
        cores=count_cores(),
        python=platform.python_version(),
        kebab_version=kebab.__version__,
    )


class ProgressReporter:
    """Sends the progress of one run, and repeats the last event during a long step."""

    def __init__(self, send: SendProgress, clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._started = clock()
        self._lock = threading.Lock()
        self._step: tuple[str, int, int] = ("start", 0, 1)

    def get_elapsed_ms(self) -> int:
        """Return how long the run has taken so far."""
        return int((self._clock() - self._started) * 1000)

    def report(self, name: str, done: int, total: int) -> None:
        """Send what is measured from now on."""
        with self._lock:
            self._step = (name, done, total)
        self._send_step()

    def repeat(self, interval_s: float = _REPEAT_S) -> Heartbeat:
        """Repeat the last event at intervals while the context is open."""
        return Heartbeat(self._send_step, interval_s)

    def _send_step(self) -> None:
        with self._lock:
            name, done, total = self._step
            elapsed = self.get_elapsed_ms()
            self._send(BenchProgress(name=name, done=done, total=total, elapsed_ms=elapsed))

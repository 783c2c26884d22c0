"""Measures start-up, ingest, search and embedding on this machine."""

from functools import partial
from importlib.util import find_spec

from kebab.bench import yardsticks
from kebab.bench.context import NO_MODEL, BenchContext, IndexedCorpus
from kebab.bench.corpus import build_questions
from kebab.bench.interleave import Candidate, Sample, build_repeated_candidate
from kebab.bench.results import Budget, Yardstick, limit_ratio, require_ratio
from kebab.bench.sandbox import Command, Outcome, build_kebab_command, build_module_command
from kebab.embed.inference import choose_thread_count
from kebab.embed.registry import EmbeddingModel, find_model

_STARTUP, _SCHEMA = limit_ratio(2.0), limit_ratio(3.0)
_INGEST_MEMORY, _DISK = Budget(600, "MB"), Budget(10, "KB")
_LEXICAL, _HYBRID = limit_ratio(3.0), Budget(0.55, "s")
_OVER_FASTEMBED, _OF_ONNXRUNTIME = require_ratio(4.0), require_ratio(0.9)
_MB, _KB = 1_000_000, 1_000
_COPIES = 3
_EMBEDDED_TEXTS, _EMBEDDING_TURNS = 256, 4
RAW_EMBEDDING = "onnxruntime on the same tokens"


def measure_startup(context: BenchContext) -> None:
    """Add the figures of help, version and schema."""
    candidates = [
        yardsticks.build_python_candidate(),
        yardsticks.build_click_candidate(),
        build_repeated_candidate("help", build_kebab_command("--help")),
        build_repeated_candidate("version", build_kebab_command("--version")),
        build_repeated_candidate("schema", build_kebab_command("schema", "--json")),
    ]
    sandbox = context.create_sandbox("startup")
    samples = context.run_interleaved("start-up", sandbox, candidates, context.options.runs)
    click = Yardstick(yardsticks.CLICK, samples[yardsticks.CLICK])
    python = Yardstick(yardsticks.PYTHON, samples[yardsticks.PYTHON])
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
    copy = yardsticks.build_copy_candidate(notes.corpus.folder, notes.sandbox.folder / "copy")
    samples = context.run_interleaved("copy", notes.sandbox, [copy], _COPIES)
    if notes.version is None:
        context.results.add_skipped("ingest.vectors", f"words alone were indexed: {NO_MODEL}")
    _add_ingest_figures(context, notes, Yardstick(yardsticks.COPY, samples[yardsticks.COPY]))


def _add_ingest_figures(context: BenchContext, notes: IndexedCorpus, copy: Yardstick) -> None:
    add, seconds = context.results.add_figure, notes.outcome.seconds
    add("ingest.copy", "s", copy.sample)
    add("ingest.time", "s", Sample([seconds]), against=copy)
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
    candidates = [yardsticks.build_click_candidate(), _build_search(context, "lexical")]
    if notes.version is not None:
        folder = context.find_model_folder(find_model(notes.version))
        texts = build_questions(context.options.runs + 1, context.options.seed)
        candidates.append(yardsticks.build_question_candidate(folder, texts))
        candidates.append(_build_search(context, "hybrid"))
    runs = context.options.runs
    samples = context.run_interleaved("search", notes.sandbox, candidates, runs)
    _add_search_figures(context, samples, hybrid=notes.version is not None)


def _add_search_figures(context: BenchContext, samples: dict[str, Sample], *, hybrid: bool) -> None:
    add = context.results.add_figure
    click = Yardstick(yardsticks.CLICK, samples[yardsticks.CLICK])
    add("search.import_click", "s", click.sample)
    add("search.lexical", "s", samples["lexical"], against=click, budget=_LEXICAL)
    if not hybrid:
        context.results.add_skipped("search.hybrid", NO_MODEL)
        return
    raw = Yardstick(yardsticks.ONNX, samples[yardsticks.ONNX])
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


def measure_embedding(context: BenchContext) -> None:
    """Add the embedding rates of kebab, of fastembed's defaults and of onnxruntime alone."""
    model = context.find_model()
    if model is None:
        context.results.add_skipped("embedding", NO_MODEL)
        return
    options = context.options
    count = min(_EMBEDDED_TEXTS, options.chunks)
    folder = context.find_model_folder(model)
    raw = yardsticks.build_passages_command(folder, (options.seed, count), choose_thread_count())
    build = partial(_build_embedding, context, model, count)
    raw_candidate = Candidate(
        name=RAW_EMBEDDING, build_command=lambda _: raw, read_value=read_text_rate
    )
    candidates = [raw_candidate, build("kebab")]
    if find_spec("fastembed"):
        candidates.insert(0, build("fastembed"))
    turns = min(_EMBEDDING_TURNS, options.runs)
    sandbox = context.create_sandbox("embedding")
    samples = context.run_interleaved("embedding", sandbox, candidates, turns)
    _add_embedding_figures(context, samples)


def _build_embedding(
    context: BenchContext, model: EmbeddingModel, count: int, engine: str
) -> Candidate:
    """Return an embedder in a process of its own, measured by the rate that it prints."""
    command = build_module_command(
        "kebab.bench.embedding_worker",
        engine,
        model.version,
        str(context.models),
        str(context.options.seed),
        str(count),
    )
    return Candidate(name=engine, build_command=lambda _: command, read_value=read_text_rate)


def read_text_rate(outcome: Outcome) -> float:
    """Return texts per second, without the time to load the model."""
    reply = outcome.parse_reply()
    return float(reply["texts"]) / max(float(reply["seconds"]), 1e-9)


def _add_embedding_figures(context: BenchContext, samples: dict[str, Sample]) -> None:
    add, ours = context.results.add_figure, samples["kebab"]
    if "fastembed" in samples:
        fastembed = Yardstick("fastembed's default batches", samples["fastembed"])
        add("embedding.fastembed", "texts/s", fastembed.sample)
        add("embedding.kebab", "texts/s", ours, against=fastembed, budget=_OVER_FASTEMBED)
    else:
        add("embedding.kebab", "texts/s", ours)
    raw = Yardstick(RAW_EMBEDDING, samples[RAW_EMBEDDING])
    add("embedding.onnxruntime", "texts/s", raw.sample)
    add("embedding.share", "texts/s", ours, against=raw, budget=_OF_ONNXRUNTIME)

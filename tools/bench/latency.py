"""Measures one question on one size of the corpus, in a new process and in a warm one."""

from dataclasses import dataclass
from statistics import quantiles

from kebab.bench.run import (
    CLICK,
    ONNX,
    BenchContext,
    build_click_candidate,
    build_question_candidate,
)
from kebab.bench.sandbox import (
    Budget,
    Candidate,
    Command,
    Sample,
    Yardstick,
    build_kebab_command,
    build_questions,
    limit_ratio,
)
from tools.bench import yardsticks
from tools.bench.synthetic_index import WORKERS, SyntheticIndex

_MB = 1_000_000
_COLD_LEXICAL, _COLD_HYBRID = limit_ratio(3), Budget(0.55, "s")
_LEXICAL_MEMORY, _HYBRID_MEMORY = Budget(60, "MB"), Budget(300, "MB")
_WARM_LEXICAL, _WARM_HYBRID = Budget(5, "ms"), Budget(40, "ms")
_WARM_HYBRID_SMALL, _WORST_HYBRID_SMALL = Budget(15, "ms"), Budget(40, "ms")
_SMALL, _LARGE = 10_000, 100_000
"""The most chunks with the stricter budget of a warm search, and with any budget of time."""
_QUESTIONS = 100
_WORST_PERCENTILE = 99
_REPLY_KEYS = ("first", "search", "words", "embedding")
MODEL = "query embedding alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class _WarmSearch:
    """The times of one mode in a warm process, and what they are judged by."""

    mode: str
    samples: dict[str, Sample]
    against: Yardstick
    budget: Budget | None
    worst_budget: Budget | None = None


def measure_latency(context: BenchContext, index: SyntheticIndex) -> None:
    """Add cold and warm searches, lexical and, where a model is installed, hybrid."""
    _measure_cold(context, index)
    _measure_warm_lexical(context, index)
    if context.find_model() is not None:
        _measure_warm_hybrid(context, index)


def _measure_cold(context: BenchContext, index: SyntheticIndex) -> None:
    model, runs = context.find_model(), context.options.runs
    candidates = [build_click_candidate(), _build_search(context, "lexical")]
    if model is not None:
        texts = build_questions(runs + 1, context.options.seed)
        candidates.append(build_question_candidate(context.find_model_folder(model), texts))
        candidates.append(_build_search(context, "hybrid"))
    samples = context.run_interleaved("cold search", index.sandbox, candidates, runs)
    _add_cold(context, index, "lexical", samples, Yardstick(CLICK, samples[CLICK]))
    _measure_memory(context, index, "lexical", _LEXICAL_MEMORY)
    if model is not None:
        _add_cold(context, index, "hybrid", samples, Yardstick(ONNX, samples[ONNX]))
        _measure_memory(context, index, "hybrid", _HYBRID_MEMORY)


def _add_cold(
    context: BenchContext,
    index: SyntheticIndex,
    mode: str,
    samples: dict[str, Sample],
    against: Yardstick,
) -> None:
    budget = _drop_when_large(index, _COLD_LEXICAL if mode == "lexical" else _COLD_HYBRID)
    context.results.add_figure(
        f"growth.{mode}", "s", samples[mode], against=against, budget=budget, chunks=index.chunks
    )


def _build_search(context: BenchContext, mode: str) -> Candidate:
    """Return a search with another question in every turn, so that no cache answers."""
    texts = build_questions(context.options.runs + 1, context.options.seed)

    def build_command(turn: int) -> Command:
        return build_kebab_command("search", texts[turn], "--mode", mode, "--json")

    return Candidate(name=mode, build_command=build_command)


def _measure_memory(
    context: BenchContext, index: SyntheticIndex, mode: str, budget: Budget
) -> None:
    """Add the peak memory of one more search."""
    texts = build_questions(context.options.runs + 2, context.options.seed)
    search = build_kebab_command("search", texts[-1], "--mode", mode)
    outcome = index.sandbox.run(yardsticks.build_module_command(WORKERS, "memory", *search))
    peak_bytes = float(outcome.parse_reply().get("peak_bytes", 0))
    peak = Sample([peak_bytes / _MB], outcome.describe_failure())
    name = f"growth.{mode}_memory"
    context.results.add_figure(name, "MB", peak, budget=budget, chunks=index.chunks)


def _drop_when_large(index: SyntheticIndex, budget: Budget) -> Budget | None:
    """Return a budget of time, or None for sizes that have none."""
    return budget if index.chunks <= _LARGE else None


def _measure_warm_lexical(context: BenchContext, index: SyntheticIndex) -> None:
    samples = _ask_questions(context, index, "lexical")
    words = Yardstick(yardsticks.FTS, samples["words"])
    budget = _drop_when_large(index, _WARM_LEXICAL)
    search = _WarmSearch(mode="lexical", samples=samples, against=words, budget=budget)
    _add_warm(context, index, search)
    context.results.add_figure("growth.fts5", "ms", words.sample, chunks=index.chunks)


def _measure_warm_hybrid(context: BenchContext, index: SyntheticIndex) -> None:
    samples = _ask_questions(context, index, "hybrid")
    embedding = Yardstick(MODEL, samples["embedding"])
    small = index.chunks <= _SMALL
    search = _WarmSearch(
        mode="hybrid",
        samples=samples,
        against=embedding,
        budget=_WARM_HYBRID_SMALL if small else _drop_when_large(index, _WARM_HYBRID),
        worst_budget=_WORST_HYBRID_SMALL if small else None,
    )
    _add_warm(context, index, search)
    add = context.results.add_figure
    add("growth.query_embedding", "ms", embedding.sample, chunks=index.chunks)
    outcome = index.sandbox.run(yardsticks.multiply_matrix(index.chunks))
    products = Sample(list(outcome.parse_reply().get("ms", ())), outcome.describe_failure())
    add("growth.dot_product", "ms", products, chunks=index.chunks)


def _add_warm(context: BenchContext, index: SyntheticIndex, search: _WarmSearch) -> None:
    """Add the first questions, all later ones, and the 99th percentile of the later ones."""
    add, mode, chunks = context.results.add_figure, search.mode, index.chunks
    first, later = search.samples["first"], search.samples["search"]
    name = f"growth.warm_{mode}"
    add(f"growth.first_{mode}", "ms", first, against=search.against, chunks=chunks)
    add(name, "ms", later, against=search.against, budget=search.budget, chunks=chunks)
    if len(later.values) > 1:
        percentiles = quantiles(later.values, n=100, method="inclusive")
        worst = Sample([percentiles[_WORST_PERCENTILE - 1]])
        add(f"{name}_p99", "ms", worst, budget=search.worst_budget, chunks=chunks)


def _ask_questions(context: BenchContext, index: SyntheticIndex, mode: str) -> dict[str, Sample]:
    """Return the times that one process measured for many questions."""
    context.report_progress(f"warm {mode} search", 0, 1)
    arguments = (mode, str(_QUESTIONS), str(context.options.seed))
    outcome = index.sandbox.run(yardsticks.build_module_command(WORKERS, "latency", *arguments))
    reply, fault = outcome.parse_reply(), outcome.describe_failure()
    return {name: Sample(list(reply.get(name, ())), fault) for name in _REPLY_KEYS}

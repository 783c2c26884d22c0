"""How long one question takes on one size of the corpus: in a fresh process, and in a warm one."""

from statistics import quantiles

from kebab.bench import yardsticks
from kebab.bench.bed import kebab_command, module
from kebab.bench.budget import Budget, ratio
from kebab.bench.corpus import queries
from kebab.bench.grown import Grown
from kebab.bench.ledger import Yardstick
from kebab.bench.library import said
from kebab.bench.race import Command, Contestant, Sample, failed
from kebab.bench.rig import Rig
from kebab.embed import model_directory

_MB = 1_000_000
_COLD_LEXICAL, _COLD_HYBRID = ratio(3), Budget(0.55, "s")
_LEXICAL_MEMORY, _HYBRID_MEMORY = Budget(60, "MB"), Budget(300, "MB")
_WARM_LEXICAL = Budget(5, "ms")
_WARM_HYBRID, _WARM_HYBRID_SMALL, _WORST_HYBRID_SMALL = (Budget(ms, "ms") for ms in (40, 15, 40))
_SMALL, _LARGE = 10_000, 100_000
"""Up to how many chunks a warm search has the narrower times, and up to how many any."""
_QUESTIONS = 100
_WORST = 99
_TOLD = ("first", "search", "words", "embedding")
FTS, MODEL = "SQLite FTS5 alone", "query embedding alone"


def measure(rig: Rig, grown: Grown) -> None:
    """Enter cold and warm searches by words, and by both where there is a model."""
    _cold(rig, grown)
    _warm_lexical(rig, grown)
    if rig.model() is not None:
        _warm_hybrid(rig, grown)


def _cold(rig: Rig, grown: Grown) -> None:
    model = rig.model()
    contestants = [yardsticks.import_click(), _search(rig, "lexical")]
    if model is not None:
        folder = model_directory.find_installed(model, rig.models)
        assert folder is not None, "the rig looked"
        texts = queries(rig.options.runs + 1, rig.options.seed)
        contestants += [yardsticks.raw_query(folder, texts), _search(rig, "hybrid")]
    samples = rig.race("cold search", grown.bed, contestants, rig.options.runs)
    click = Yardstick(yardsticks.CLICK, samples[yardsticks.CLICK])
    raw = Yardstick(yardsticks.ONNX, samples.get(yardsticks.ONNX, Sample()))
    add, chunks = rig.ledger.add, grown.chunks
    lexical, cold = samples["lexical"], _within(grown, _COLD_LEXICAL)
    add("growth.lexical", "s", lexical, against=click, budget=cold, chunks=chunks)
    _memory(rig, grown, "lexical", _LEXICAL_MEMORY)
    if model is not None:
        hybrid = samples["hybrid"]
        cold = _within(grown, _COLD_HYBRID)
        add("growth.hybrid", "s", hybrid, against=raw, budget=cold, chunks=chunks)
        _memory(rig, grown, "hybrid", _HYBRID_MEMORY)


def _search(rig: Rig, mode: str) -> Contestant:
    """Return a search with another question in every turn, so that no cache answers."""
    texts = queries(rig.options.runs + 1, rig.options.seed)

    def command(turn: int) -> Command:
        return kebab_command("search", texts[turn], "--mode", mode, "--json")

    return Contestant(name=mode, command=command)


def _memory(rig: Rig, grown: Grown, mode: str, budget: Budget) -> None:
    """Enter the peak of one more search."""
    texts = queries(rig.options.runs + 2, rig.options.seed)
    search = kebab_command("search", texts[-1], "--mode", mode)
    outcome = grown.bed.run(module("kebab.bench.peak", *search))
    peak = Sample([float(said(outcome).get("peak_bytes", 0)) / _MB], failed(outcome))
    rig.ledger.add(f"growth.{mode}_memory", "MB", peak, budget=budget, chunks=grown.chunks)


def _within(grown: Grown, budget: Budget) -> Budget | None:
    """Return a budget where times have one."""
    return budget if grown.chunks <= _LARGE else None


def _warm_lexical(rig: Rig, grown: Grown) -> None:
    told = _asked(rig, grown, "lexical")
    words = Yardstick(FTS, told["words"])
    _enter(rig, grown, "lexical", told, (words, _within(grown, _WARM_LEXICAL), None))
    rig.ledger.add("growth.fts5", "ms", words.sample, chunks=grown.chunks)


def _warm_hybrid(rig: Rig, grown: Grown) -> None:
    told = _asked(rig, grown, "hybrid")
    embedding = Yardstick(MODEL, told["embedding"])
    small = grown.chunks <= _SMALL
    budgets = (
        (_WARM_HYBRID_SMALL, _WORST_HYBRID_SMALL) if small else (_within(grown, _WARM_HYBRID), None)
    )
    _enter(rig, grown, "hybrid", told, (embedding, *budgets))
    rig.ledger.add("growth.query_embedding", "ms", embedding.sample, chunks=grown.chunks)
    outcome = grown.bed.run(yardsticks.dot_product(grown.chunks))
    dots = Sample(list(said(outcome).get("ms", ())), failed(outcome))
    rig.ledger.add("growth.dot_product", "ms", dots, chunks=grown.chunks)


def _enter(
    rig: Rig,
    grown: Grown,
    mode: str,
    told: dict[str, Sample],
    how: tuple[Yardstick, Budget | None, Budget | None],
) -> None:
    """Enter the times of a warm process, the first apart; the median is the p50."""
    (against, budget, at_worst), sample = how, told["search"]
    add, name = rig.ledger.add, f"growth.warm_{mode}"
    add(f"growth.first_{mode}", "ms", told["first"], against=against, chunks=grown.chunks)
    add(name, "ms", sample, against=against, budget=budget, chunks=grown.chunks)
    if len(sample.values) > 1:
        worst = Sample([quantiles(sample.values, n=100, method="inclusive")[_WORST - 1]])
        add(f"{name}_p99", "ms", worst, budget=at_worst, chunks=grown.chunks)


def _asked(rig: Rig, grown: Grown, mode: str) -> dict[str, Sample]:
    """Return what a process that stays open told of its questions."""
    rig.pace.at(f"warm {mode} search", 0, 1)
    program = module("kebab.bench.asker", mode, str(_QUESTIONS), str(rig.options.seed))
    outcome = grown.bed.run(program)
    told, fault = said(outcome), failed(outcome)
    return {name: Sample(list(told.get(name, ())), fault) for name in _TOLD}

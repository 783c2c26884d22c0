"""How long one question takes in a fresh process; the files are in the page cache."""

from kebab.bench import yardsticks
from kebab.bench.bed import kebab_command
from kebab.bench.budget import Budget, ratio
from kebab.bench.corpus import queries
from kebab.bench.ledger import Yardstick
from kebab.bench.library import Indexed, said
from kebab.bench.process import Outcome
from kebab.bench.race import Command, Contestant, Sample, failed
from kebab.bench.rig import NO_MODEL, Rig
from kebab.embed import model_directory
from kebab.embed.registry import find_model

_LEXICAL = ratio(3.0)
_HYBRID = Budget(0.55, "s")


def measure(rig: Rig) -> None:
    """Enter the figures of a lexical and a hybrid search."""
    notes = rig.notes()
    if notes.fault is not None:
        rig.ledger.failed("search", notes.fault)
        return
    contestants = [yardsticks.import_click(), _search(rig, "lexical")]
    if notes.version is not None:
        contestants += _by_meaning(rig, notes.version)
    samples = rig.race("search", notes.bed, contestants, rig.options.runs)
    _enter(rig, notes, samples)


def _enter(rig: Rig, notes: Indexed, samples: dict[str, Sample]) -> None:
    add = rig.ledger.add
    click = Yardstick(yardsticks.CLICK, samples[yardsticks.CLICK])
    add("search.import_click", "s", click.sample)
    add("search.lexical", "s", samples["lexical"], against=click, budget=_LEXICAL)
    if notes.version is None:
        rig.ledger.skipped("search.hybrid", NO_MODEL)
        return
    raw = Yardstick(yardsticks.ONNX, samples[yardsticks.ONNX])
    add("search.onnxruntime", "s", raw.sample, against=click)
    add("search.hybrid", "s", samples["hybrid"], against=raw, budget=_HYBRID)


def _by_meaning(rig: Rig, version: str) -> list[Contestant]:
    """Return the contestants that need a model."""
    model = model_directory.find_installed(find_model(version), rig.models)
    assert model is not None, "what embedded the notes is installed"
    texts = queries(rig.options.runs + 1, rig.options.seed)
    return [yardsticks.raw_query(model, texts), _search(rig, "hybrid")]


def _search(rig: Rig, mode: str) -> Contestant:
    """Return a search with another question in every turn, so that no cache answers."""
    texts = queries(rig.options.runs + 1, rig.options.seed)

    def command(turn: int) -> Command:
        # The first turn does not count; its JSON shows that all channels take part.
        return kebab_command("search", texts[turn], "--mode", mode, *(["--json"] * (turn == 0)))

    return Contestant(name=mode, command=command, fault=_degraded)


def _degraded(outcome: Outcome) -> str | None:
    """Return why an answer does not count: no hit, or a channel that did not take part."""
    fault = failed(outcome)
    if fault is not None or not (missing := said(outcome).get("degraded")):
        return fault
    return str(missing[0]["reason"])

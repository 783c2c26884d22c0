"""How fast passages become vectors, against fastembed as it comes and onnxruntime alone."""

from kebab.bench import yardsticks
from kebab.bench.bed import module
from kebab.bench.budget import at_least_ratio
from kebab.bench.ledger import Yardstick
from kebab.bench.library import said
from kebab.bench.process import Outcome
from kebab.bench.race import Contestant, Sample
from kebab.bench.rig import NO_MODEL, Rig
from kebab.embed import model_directory
from kebab.embed.inference import default_threads

_OURS = at_least_ratio(4.0)
_RAW = at_least_ratio(0.9)
RAW = "onnxruntime on the same tokens"
_TEXTS = 256
_TURNS = 4


def measure(rig: Rig) -> None:
    """Enter the rates of both."""
    ready = rig.model()
    if ready is None:
        rig.ledger.skipped("embedding", NO_MODEL)
        return
    count = min(_TEXTS, rig.options.chunks)
    contestants = [
        _embedder(who, ready.version, str(rig.models), str(rig.options.seed), str(count))
        for who in ("fastembed", "kebab")
    ]
    folder = model_directory.find_installed(ready, rig.models)
    assert folder is not None, "the rig looked"
    raw = yardsticks.raw_passages(folder, (rig.options.seed, count), default_threads())
    contestants.insert(1, Contestant(name=RAW, command=lambda _: raw, reading=rate))
    turns = min(_TURNS, rig.options.runs)
    samples = rig.race("embedding", rig.bed("embedding"), contestants, turns)
    _enter(rig, samples)


def _embedder(who: str, *arguments: str) -> Contestant:
    """Return an embedder in a process of its own, read by the rate that it tells."""
    return Contestant(
        name=who,
        command=lambda _: module("kebab.bench.embedder", who, *arguments),
        reading=rate,
    )


def rate(outcome: Outcome) -> float:
    """Return texts per second, loading left out."""
    told = said(outcome)
    return float(told["texts"]) / max(float(told["seconds"]), 1e-9)


def _enter(rig: Rig, samples: dict[str, Sample]) -> None:
    peer = Yardstick("fastembed's default batches", samples["fastembed"])
    rig.ledger.add("embedding.fastembed", "texts/s", peer.sample)
    rig.ledger.add("embedding.kebab", "texts/s", samples["kebab"], against=peer, budget=_OURS)
    raw = Yardstick(RAW, samples[RAW])
    rig.ledger.add("embedding.onnxruntime", "texts/s", raw.sample)
    rig.ledger.add("embedding.share", "texts/s", samples["kebab"], against=raw, budget=_RAW)

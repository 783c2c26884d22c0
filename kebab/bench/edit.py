"""How long it takes until one changed paragraph of a long note is found by words and by meaning."""

from pathlib import Path

from kebab.bench import yardsticks
from kebab.bench.bed import kebab_command
from kebab.bench.budget import Budget
from kebab.bench.corpus import Corpus, queries, write_long_note
from kebab.bench.grown import Grown, grown, version
from kebab.bench.ledger import Yardstick
from kebab.bench.library import said
from kebab.bench.process import Outcome
from kebab.bench.race import Command, Contestant, Sample, failed
from kebab.bench.rig import NO_MODEL, Rig
from kebab.embed import model_directory

_EDIT = Budget(1.2, "s")
_BYTES = 1_000_000
_TURNS = 5


def measure(rig: Rig) -> None:
    """Enter the figure of an ingest after one paragraph of a note of a megabyte changed."""
    bed = rig.bed("edit")
    corpus = write_long_note(bed.folder / "files", _BYTES, rig.options.seed)
    rig.pace.at("ingest a long note", 0, 1)
    note = grown(bed, corpus, version(rig), exactly=rig.model() is not None)
    if note.fault is not None:
        rig.ledger.failed("edit", note.fault)
        return
    _edit(rig, note)


def _edit(rig: Rig, note: Grown) -> None:
    model = rig.model()
    contestants = [_edited(note.corpus, vectors=model is not None)]
    turns = min(_TURNS, rig.options.runs)
    if model is None:
        rig.ledger.skipped("edit.vectors", f"words alone follow: {NO_MODEL}")
    else:
        folder = model_directory.find_installed(model, rig.models)
        assert folder is not None, "the rig looked"
        texts = queries(turns + 1, rig.options.seed)
        contestants.insert(0, yardsticks.raw_query(folder, texts))
    samples = rig.race("edit", note.bed, contestants, turns)
    raw = Yardstick(yardsticks.ONNX, samples.get(yardsticks.ONNX, Sample()))
    rig.ledger.add("edit.paragraph", "s", samples["edit"], against=raw, budget=_EDIT)


def _edited(corpus: Corpus, *, vectors: bool) -> Contestant:
    """Return an ingest before which one paragraph in the middle of the only note changes."""
    (path,) = corpus.folder.rglob("*.md")

    def command(turn: int) -> Command:
        _change(path, f"Edited {turn}: the harbour master keeps another calendar.")
        return kebab_command("ingest", str(corpus.folder), "--json")

    def fault(outcome: Outcome) -> str | None:
        told = said(outcome)
        new = told.get("embedding", {}).get("embedded")
        right = told.get("updated") == 1 and (new == 1 or not vectors)
        return failed(outcome) or (None if right else f"passages embedded: {new}")

    return Contestant(name="edit", command=command, fault=fault)


def _change(path: Path, text: str) -> None:
    """Put a text in place of the paragraph in the middle of a note."""
    parts = path.read_text().split("\n\n")
    middle = len(parts) // 2
    while parts[middle].startswith(("#", "- ", "```", "    ")):
        middle += 1
    parts[middle] = text
    path.write_text("\n\n".join(parts))

"""Notes of a benchmark, indexed: what `kebab ingest` did with them and said about it."""

import json
from dataclasses import dataclass
from typing import Any

from kebab.bench.bed import Bed, kebab_command
from kebab.bench.corpus import Corpus
from kebab.bench.process import Outcome
from kebab.bench.race import Command, failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """A corpus in a knowledge base, after one run of ingest in one process."""

    bed: Bed
    corpus: Corpus
    outcome: Outcome
    fault: str | None
    chunks: int = 0
    version: str | None = None
    """What embedded it; None when no model is installed."""
    disk_bytes: int = 0


def ingest_command(corpus: Corpus) -> Command:
    """Return the command that indexes a corpus."""
    return kebab_command("ingest", str(corpus.folder), "--json")


def index(bed: Bed, corpus: Corpus) -> Indexed:
    """Index a corpus in an empty knowledge base."""
    outcome = bed.run(ingest_command(corpus))
    report = said(outcome)
    fault = failed(outcome) or _incomplete(report, corpus)
    if fault is not None:
        return Indexed(bed=bed, corpus=corpus, outcome=outcome, fault=fault)
    return Indexed(
        bed=bed,
        corpus=corpus,
        outcome=outcome,
        fault=None,
        chunks=sum(item["chunk_count"] for item in report["items"]),
        version=report["embedding"]["version"] if report["embedding"]["embedded"] else None,
        disk_bytes=bed.disk_bytes(),
    )


def said(outcome: Outcome) -> dict[str, Any]:
    """Return the object that a command printed, empty when it printed none."""
    try:
        spoken = json.loads(outcome.out)
    except ValueError:
        return {}
    return spoken if isinstance(spoken, dict) else {}


def _incomplete(report: dict[str, Any], corpus: Corpus) -> str | None:
    """Return how a report differs from a run that took in every file."""
    if report.get("new") == corpus.files and not report.get("errors"):
        return None
    return f"of {corpus.files} files {report.get('new')} were new, {report.get('errors')} failed"


def changed(outcome: Outcome, corpus: Corpus) -> str | None:
    """Return how a second run differs from one that finds every file as it was."""
    fault = failed(outcome)
    if fault is not None:
        return fault
    unchanged = said(outcome).get("unchanged")
    return None if unchanged == corpus.files else f"{unchanged} of {corpus.files} files unchanged"

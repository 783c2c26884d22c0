"""Finds evaluation sets, reads their questions, and builds a knowledge base for each."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.config.settings import Settings
from kebab.wire.evals import GoldenQuery
from kebab.wire.ingest import IngestRequest

QUERY_FILES = "queries*.jsonl"
Judgements: TypeAlias = dict[str, dict[str, int]]
"""The grades of documents, by the id of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A question of a set, and the documents that do not count as hits of it."""

    question: GoldenQuery
    ignored: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class DataSet:
    """One evaluation set."""

    name: str
    folder: Path

    @property
    def docs(self) -> Path:
        """The folder of its documents."""
        return self.folder / "docs"

    def list_names(self) -> set[str]:
        """Return the names of its documents."""
        return {path.name for path in self.list_documents()}

    def list_documents(self) -> list[Path]:
        """Return the files of its documents by path."""
        return sorted(path for path in self.docs.rglob("*") if path.is_file())

    def list_query_files(self) -> list[Path]:
        """Return the files of its questions; `queries.jsonl` comes first."""
        return sorted(self.folder.glob(QUERY_FILES), key=lambda path: (len(path.name), path.name))

    def load_items(self, path: Path) -> list[Item]:
        """Return the questions of one of these files."""
        qrels = self.folder / "qrels.tsv"
        judged = _read_qrels(qrels) if qrels.exists() else {}
        lines = path.read_text(encoding="utf-8").splitlines()
        return [_build_item(json.loads(line), judged) for line in lines if line.strip()]


def _read_qrels(path: Path) -> Judgements:
    """Return the relevance judgements of a file in BEIR's format: a header, then rows of three."""
    judged: Judgements = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, doc, grade = line.split("\t")
        judged.setdefault(query, {})[doc] = int(grade)
    return judged


def _build_item(row: dict[str, Any], judged: Judgements) -> Item:
    """Return a question; one on a page, a section or a file of code counts by its document."""
    name, linked = str(row["id"]), row.get("linked_from")
    by_lines = linked is None and name not in judged and "line_start" in row
    question = GoldenQuery(
        id=name,
        query=row["query"],
        doc=None if name in judged else row["doc"],
        line_start=row["line_start"] if by_lines else None,
        line_end=row["line_end"] if by_lines else None,
        relevant=judged.get(name, {}),
    )
    return Item(question=question, ignored=frozenset(linked or ()))


def find_sets(folder: Path) -> Iterator[DataSet]:
    """Yield the sets in a folder and in its folders, by name."""
    for queries in sorted(folder.glob("**/queries.jsonl")):
        found = queries.parent
        if (found / "docs").is_dir():
            parts = found.relative_to(folder).parts
            yield DataSet("-".join(parts) or found.name, found)


def open_base(data_dir: Path, model: str) -> Kebab:
    """Open a knowledge base with this embedding model."""
    return Kebab(build_settings(data_dir, model), config_path=data_dir / "config.toml")


def build_settings(data_dir: Path, model: str) -> Settings:
    """Return the settings of a knowledge base with this embedding model."""
    settings = load_settings(None)
    embedding = replace(settings.models.embedding, model=model)
    models = replace(settings.models, embedding=embedding)
    return replace(settings, data_dir=str(data_dir), models=models)


def build_base(data_dir: Path, documents: Sequence[Path], root: Path, model: str) -> None:
    """Ingest documents into a new knowledge base, unless it exists."""
    if (data_dir / "complete").exists():
        return
    copies = data_dir / "notes"
    for path in documents:
        target = copies / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    with open_base(data_dir, model) as kebab:
        kebab.run(IngestRequest(paths=[str(copies)]))
    (data_dir / "complete").touch()

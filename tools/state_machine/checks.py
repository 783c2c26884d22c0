"""Contains what must hold of a knowledge base after each operation, whatever it was."""

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine, invariant

from kebab.wire.ask import SessionListRequest
from kebab.wire.fetch import FetchRequest, GrepRequest, OutlineRequest
from kebab.wire.health import DoctorRequest
from kebab.wire.ingest import IngestReport, IngestRequest
from kebab.wire.library import ListRequest, SourceListRequest
from kebab.wire.review import ReviewRunsRequest
from kebab.wire.search import SearchRequest
from tools.state_machine.model import Changes, Files, Index, Key, Scope
from tools.state_machine.system import System

SOURCES = ("work", "home", "work/sub")
WORD = re.compile(r"\b[a-z]+[0-9]+\b")
"""The words that tell one text from another."""

_EXPECTED_FAULTS = {"embedding_probe", "embedding_version", "language_model"}
"""What `doctor` says of random weights, of Korean under an English model, and without a server."""


class CheckedKnowledgeBase(RuleBasedStateMachine):
    """A knowledge base with its model, and the steps that its rules share."""

    counts: ClassVar[Counter[str]] = Counter()
    """How often each operation ran, in all instances."""
    models: ClassVar[Path] = Path(tempfile.gettempdir()) / "kebab-tiny-models"

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="kebab-state-"))
        self.system = System(self._folder, self.models)
        self.files = Files(self.system.notes)
        self.index = Index(self.files, 254)
        self.turns: Counter[str] = Counter()
        self.runs: dict[str, list[str]] = {}
        self.words: set[str] = set()
        self.removed: set[Key] = set()
        """What `rm` removed in the life of this machine."""
        self.revision = 0
        self._moves: bool | None = False
        """Whether the revision must move; None when it may."""
        self._checked = False
        """Whether the index is as it was at the last look."""
        self.step = 0
        for source in SOURCES[:2]:
            (self.system.notes / source).mkdir()

    def teardown(self) -> None:
        """Remove the folder."""
        self.system.end()
        shutil.rmtree(self._folder)

    @invariant()
    def check(self) -> None:
        """Compare the index with the model; all of it after a change."""
        self.step += 1
        if not self.index.exists:
            assert self.system.find_error(ListRequest()) == "not_indexed"
            return
        self._check_coverage()
        if not self._checked:
            self._check_documents()
            self._check_words()
            self._check_health()
            self._check_stores()
            self._checked = True

    def _check_documents(self) -> None:
        """Compare the list, the ids and the passages of the documents."""
        expected = {key: one.doc_id for key, one in self.index.documents.items()}
        listed = self.list_documents()
        assert listed == expected, _describe_difference(listed, expected)
        kept = self.system.run_kept(ListRequest(limit=None))
        assert {self._key(one): one.doc_id for one in kept.documents} == expected
        assert len(set(listed.values())) == len(listed), "an id is used twice"
        for key, (_, passages) in self.system.read_passages().items():
            text = self.index.documents[key].text
            assert Counter(WORD.findall(passages)).keys() == set(WORD.findall(text)), (
                key,
                passages,
            )
        sources = self.system.run(SourceListRequest()).sources
        names = {one.name.removeprefix(f"{self.system.notes}/") for one in sources}
        assert names == self.index.sources, names
        # Until the next ingest of the outer source, a file may be a document of two sources.
        counts = Counter(key.path for key in expected)
        places = [self.locate(path) for path, count in sorted(counts.items()) if count == 1]
        for place in [one for one in places if Path(one).exists()][:2]:
            fetched = self.system.run(FetchRequest(refs=[place])).results[0]
            read = Path(place).read_text(encoding="utf-8")
            assert getattr(fetched, "text", "").split() == read.split(), (place, fetched)

    def _check_words(self) -> None:
        """Search for words that documents have, and for words that they had before."""
        texts = {key: set(WORD.findall(one.text)) for key, one in self.index.documents.items()}
        present = set().union(*texts.values())
        self.words |= present
        chosen = sorted(self.words)
        for word in [chosen[(self.step * 5 + shift) % len(chosen)] for shift in range(3) if chosen]:
            request = SearchRequest(query=word, mode="lexical", limit=100, per_doc=1, detail="ids")
            reply = self.system.run(request)
            kept = self.system.run_kept(request)
            assert [_simplify(one) for one in reply.hits] == [_simplify(one) for one in kept.hits]
            found = {self._key(hit) for hit in reply.hits}
            wanted = {key for key, words in texts.items() if word in words}
            # Of several documents with the same passage the search shows one.
            shown = {part for key in found for part in self._list_sections(key, word)}
            assert found <= wanted, (word, found - wanted)
            lost = [key for key in wanted if not shown & self._list_sections(key, word)]
            assert not lost, (word, lost)
            assert bool(reply.absent_terms) is (word not in present), (word, reply.absent_terms)
            self._check_lines(word)

    def _list_sections(self, key: Key, word: str) -> set[str]:
        """Return the sections of a document that have a word."""
        sections = self.index.documents[key].text.split("\n## ")
        return {section.strip() for section in sections if word in WORD.findall(section)}

    def _check_lines(self, word: str) -> None:
        """Look for a word in the files as they are now."""
        reply = self.system.run(GrepRequest(pattern=word, word=True, files_only=True))
        wanted = {
            self.locate(key.path)
            for key in self.index.documents
            if word in WORD.findall(self.files.read(key.path) or "")
        }
        assert {one.file for one in reply.files} == wanted, (word, reply)

    def _check_health(self) -> None:
        report = self.system.run(DoctorRequest())
        faults = [
            one
            for one in report.checks
            if one.status in ("fail", "warn") and one.name not in _EXPECTED_FAULTS
        ]
        assert not faults or self._explains(faults), faults

    def _explains(self, faults: Iterable[Any]) -> bool:
        """Return whether it warns only of files that changed, or that no folder is known."""
        is_behind = any(self.index.find_gaps()) or not self.index.sources
        return is_behind and {one.status for one in faults} == {"warn"}

    def _check_stores(self) -> None:
        """Compare sessions and runs, and look at other reads."""
        sessions = self.system.run(SessionListRequest()).sessions
        assert {one.name: one.turns for one in sessions} == dict(+self.turns), sessions
        runs = {one.run_id for one in self.system.run(ReviewRunsRequest()).runs}
        assert runs == set(self.runs), runs
        outline = self.system.run(OutlineRequest())
        assert getattr(outline, "documents", 0) == len(self.index.documents), outline

    def _check_coverage(self) -> None:
        """Compare what a reply says of the files with what changed since the last ingest."""
        reply = self.system.run(SearchRequest(query="nowhere7", mode="lexical"))
        coverage = reply.coverage
        assert coverage is not None
        assert not coverage.indexing, coverage
        new, changed, gone = self.index.find_gaps()
        # Until the next ingest of the outer source, a file may be a document of two sources.
        for count, keys in ((coverage.gone, gone), (coverage.changed, changed)):
            assert len({key.path for key in keys}) <= count <= len(keys), (coverage, keys)
        is_behind = bool(coverage.new or coverage.unlisted or coverage.unread)
        # A document that `rm` removed was in a scan, so its file need not count as new.
        assert is_behind or not new - self.removed, (coverage, new)
        assert new or not is_behind, coverage
        moved = reply.corpus_revision - self.revision
        assert self._moves is None or moved >= 0, reply
        assert self._moves is None or bool(moved) is self._moves, (moved, self._moves)
        self.revision, self._moves = reply.corpus_revision, False

    # Steps of the rules

    def run_ingest(
        self,
        request: IngestRequest,
        scopes: list[Scope],
        *,
        force: bool = False,
        report: Callable[[Any], None] | None = None,
    ) -> None:
        """Ingest, and compare the report with the model."""
        sources = len(self.index.sources)
        changes = self.index.apply(scopes, force=force)
        if len(self.index.sources) != sources:
            self.note_change(moves=None)
        found = self.system.run(request, report=report)
        counts = {name: getattr(found, name) for name in changes.counts}
        assert counts == changes.counts, (counts, changes)
        assert (found.errors, found.embedding.pending) == (0, 0), found
        self._adopt_ids(changes, found)

    def ingest_after_kill(self, scope: Scope) -> None:
        """Ingest what a killed run left; how much of it that run did is unknown."""
        changes = self.index.apply([scope])
        found = self.system.run(IngestRequest(paths=[self.locate(scope.source)]))
        assert found.errors == 0, found
        self._adopt_ids(changes, found)
        self.note_change(moves=None)

    def _adopt_ids(self, changes: Changes, report: IngestReport) -> None:
        """Take over the ids of new documents; moved ones must have kept theirs."""
        listed = self.list_documents()
        kept = 0
        for key in (*changes.new, *changes.moved):
            doc_id = listed.get(key, "")
            assert doc_id, f"{key} is missing: {report}"
            kept += doc_id in changes.moved.get(key, ())
            self.index.documents[key].doc_id = doc_id
        assert kept >= changes.moves, (kept, changes)
        if not changes.is_empty:
            self.note_change(moves=True)

    def check_ids(self, before: dict[Key, tuple[str, str]]) -> None:
        """Check what readers see after a kill: each document is as before or as it is now."""
        ids = {doc_id for doc_id, _ in before.values()}
        for key, (doc_id, passages) in self.system.read_passages().items():
            known, text = before.get(key, ("", ""))
            assert not known or doc_id == known or doc_id in ids, (key, doc_id, known)
            texts = (text if known else None, self.files.read(key.path))
            allowed = [set(WORD.findall(one)) for one in texts if one is not None]
            assert set(WORD.findall(passages)) in allowed, (key, passages)

    def note_change(self, *, moves: bool | None) -> None:
        """Check everything after this step; the revision moves, stays, or with None may move."""
        self._checked = False
        self._moves = moves

    def expect_error(self, request: Any, code: str) -> None:
        """Run a request that must fail with this code."""
        found = self.system.find_error(request)
        assert found == code, (request, found)

    def is_suddenly_empty(self, scope: Scope) -> bool:
        """Return whether a scan finds documents in the index and an empty folder.

        A scan of a whole source finds it empty when all names are hidden, one of changed paths only
        when there is no name at all.
        """
        is_whole = scope == Scope(scope.source, scope.source)
        if not is_whole and scope.changed is None:
            return False
        known = any(key.source == scope.source for key in self.index.documents)
        folder = self.system.notes / scope.source
        names = folder.iterdir() if folder.is_dir() else ()
        is_empty = not any(not is_whole or not one.name.startswith(".") for one in names)
        return (known or not folder.is_dir()) and is_empty

    def list_documents(self) -> dict[Key, str]:
        """Return the ids of the documents."""
        listed = self.system.run(ListRequest(limit=None)).documents
        return {self._key(one): one.doc_id for one in listed}

    def _key(self, found: Any) -> Key:
        return self.system.make_key(found.source, found.doc_path)

    def locate(self, path: str) -> str:
        """Return the absolute path of a file of the model."""
        return str(self.system.notes / path)

    def count(self, name: str) -> None:
        """Count an operation."""
        self.counts[name] += 1


def _simplify(hit: Any) -> tuple[Any, ...]:
    return hit.doc_id, hit.chunk_id, hit.score, hit.citation.uri


def _describe_difference(found: dict[Key, str], expected: dict[Key, str]) -> str:
    lost = {key: one for key, one in expected.items() if found.get(key) != one}
    more = {key: one for key, one in found.items() if expected.get(key) != one}
    return f"lost or changed {lost}, found {more}"

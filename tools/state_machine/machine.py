"""Contains the state machine: random operations, and what must hold after each of them."""

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from kebab.wire.ask import AskRequest, SessionListRequest, SessionRmRequest
from kebab.wire.fetch import FetchRequest, GrepRequest, OutlineRequest
from kebab.wire.health import DoctorRequest, ModelUseRequest, ResetRequest
from kebab.wire.ingest import IngestReport, IngestRequest
from kebab.wire.library import ListRequest, RmRequest, SourceListRequest, SourceRmRequest
from kebab.wire.review import ReviewRequest, ReviewRmRequest, ReviewRunsRequest
from kebab.wire.search import SearchRequest
from tools.state_machine.model import IGNORE_FILE, Changes, Files, Index, Key, Scope, is_below
from tools.state_machine.system import MODELS, System

SOURCES = ("work", "home", "work/sub")
_NAMES = (
    "a.md",
    "b.md",
    "A.md",
    "sub/a.md",
    "sub/c.md",
    "sub/deep/d.txt",
    "e.txt",
    "x.bin",
    ".h.md",
)
PATHS = tuple(f"{source}/{name}" for source in SOURCES[:2] for name in _NAMES)
FOLDERS = ("work/sub", "work/sub/deep", "home/sub", "work/moved")
PATTERNS = ("", "b.md\n", "sub/\n", "*.txt\n", "sub/\na.md\n")
SECTIONS = "".join(
    f"## Part {part}\n\npart{part}\n{'apple cat dog ' * 20}\n\n" for part in range(6)
)
TEXTS = (
    "",
    "  \n",
    "# Zeta\n\nzeta1 apple\n",
    "---\ntitle: Eta\ntags: [one, two]\n---\n# Heading\n\neta1 bread\n",
    f"# Long\n\n{SECTIONS}",
    f"# Long\n\n{SECTIONS.replace('part3', 'edited3')}",
    "theta1 line\r\ntheta2 line\r\n",
    "# 한국어\n\n백업은 iota1 토요일이다\n",
)
QUESTIONS = ("where is zeta1", "eta1 bread", "what is nowhere1")
_WORD = re.compile(r"\b[a-z]+[0-9]+\b")
_EXPECTED_FAULTS = {"embedding_probe", "embedding_version", "language_model"}
"""What `doctor` says of random weights, of Korean under an English model, and without a server."""

paths = st.sampled_from(PATHS)
texts = st.integers(0, len(TEXTS) - 1)
folders = st.sampled_from((*SOURCES, *FOLDERS))
indexed = precondition(lambda self: self.index.exists)


class KnowledgeBase(RuleBasedStateMachine):
    """A knowledge base and its model. `counts` are the operations of all instances."""

    counts: ClassVar[Counter[str]] = Counter()
    models: ClassVar[Path] = Path(tempfile.gettempdir()) / "kebab-tiny-models"
    processes: ClassVar[bool] = False
    """Whether to kill ingests, and to compare warm and cold calls, each in a process of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="kebab-state-"))
        self.system = System(self._folder, self.models)
        self.files = Files(self.system.notes)
        self.index = Index(self.files)
        self.index.chunk_tokens = 254
        self.turns: Counter[str] = Counter()
        self.runs: dict[str, list[str]] = {}
        self.words: set[str] = set()
        self.removed: set[Key] = set()
        """What `rm` removed in the life of this machine."""
        self._revision = 0
        self._moves: bool | None = False
        """Whether the revision must move; None when it may."""
        self._checked = False
        """Whether the index is as it was at the last look."""
        self._step = 0
        for source in SOURCES[:2]:
            (self.system.notes / source).mkdir()

    def teardown(self) -> None:
        """Remove the folder."""
        self.system.end()
        shutil.rmtree(self._folder)

    @initialize(first=st.lists(texts, max_size=len(PATHS)), folder=st.sampled_from(SOURCES[:2]))
    def begin(self, first: list[int], folder: str) -> None:
        """Begin with some files, and the index of a folder."""
        for path, text in zip(PATHS, first, strict=False):
            self.files.write(path, TEXTS[text])
        self.ingest(folder, False)  # noqa: FBT003 - an argument of a rule

    # Files

    @rule(path=paths, text=texts)
    def write(self, path: str, text: int) -> None:
        """Create or replace a file by one of `TEXTS`."""
        self._count("write")
        self.files.write(path, TEXTS[text])

    @rule(path=paths, number=st.integers(0, 4))
    def append(self, path: str, number: int) -> None:
        """Append a paragraph, as a log or a diary grows."""
        self._count("append")
        self.files.write(path, f"{self.files.texts.get(path, '')}\n\nmore{number}\n")

    @rule(path=paths)
    def touch(self, path: str) -> None:
        """Write a file again with its text."""
        self._count("touch")
        if path in self.files.texts:
            self.files.write(path, self.files.texts[path])

    @rule(path=paths)
    def delete(self, path: str) -> None:
        """Delete a file or a link."""
        self._count("delete")
        self.files.delete(path)

    @rule(path=paths, other=paths)
    def move(self, path: str, other: str) -> None:
        """Rename a file; names may differ in case only."""
        self._count("move")
        is_kind_kept = path.endswith(".bin") == other.endswith(".bin")
        if path in self.files.texts and path != other and is_kind_kept:
            self.files.move(path, other)

    @rule(path=paths, other=paths)
    def swap(self, path: str, other: str) -> None:
        """Exchange two files."""
        self._count("swap")
        is_kind_kept = path.endswith(".bin") == other.endswith(".bin")
        if {path, other} <= self.files.texts.keys() and path != other and is_kind_kept:
            self.files.swap(path, other)

    @rule(path=paths, other=paths)
    def copy(self, path: str, other: str) -> None:
        """Make a twin of a file."""
        self._count("copy")
        if path in self.files.texts and path != other:
            self.files.write(other, self.files.texts[path])

    @rule(path=paths, other=paths)
    def link(self, path: str, other: str) -> None:
        """Make a symbolic link, also to nothing."""
        self._count("link")
        has_text = not {path, other} & {one for one in PATHS if one.endswith(".bin")}
        if self.files.resolve(other) != path and has_text:
            self.files.link(path, other)

    @rule(folder=st.sampled_from(FOLDERS), other=st.sampled_from(FOLDERS))
    def move_folder(self, folder: str, other: str) -> None:
        """Rename a folder."""
        self._count("move folder")
        has_links = any(is_below(one, folder) for one in (*self.files.links.values(),))
        is_free = not self.files.has_folder(other) and not is_below(other, folder)
        if self.files.has_folder(folder) and is_free and not has_links:
            self.files.move_folder(folder, other)

    @rule(source=st.sampled_from(SOURCES[:2]), text=st.sampled_from(PATTERNS))
    def ignore(self, source: str, text: str) -> None:
        """Change the ignore file of a folder."""
        self._count("ignore")
        self.files.write(f"{source}/{IGNORE_FILE}", text)

    # Ingests

    @rule(folder=folders, force=st.sampled_from((False, False, False, True)))
    def ingest(self, folder: str, force: bool) -> None:  # noqa: FBT001 - an argument of a rule
        """Ingest a folder."""
        self._count("ingest")
        request = IngestRequest(paths=[self._locate(folder)], force=force)
        if not self.files.has_folder(folder):
            return self._expect_error(request, "io_error")
        scope = self.index.choose_scope(folder)
        if self._is_suddenly_empty(scope) and not force:
            return self._expect_error(request, "io_error")
        return self._ingest(request, [scope], force=force)

    @indexed
    @rule()
    def ingest_again(self) -> None:
        """Ingest every source."""
        self._count("ingest again")
        scopes = [Scope(one, one) for one in self.index.sources]
        lost = [one for one in scopes if self._is_suddenly_empty(one)]
        if lost and len(lost) < len(scopes):
            return None
        if not scopes:
            return self._expect_error(IngestRequest(), "usage_invalid")
        if lost:
            return self._expect_error(IngestRequest(), "io_error")
        return self._ingest(IngestRequest(), scopes)

    @indexed
    @rule(folder=folders)
    def plan_ingest(self, folder: str) -> None:
        """Ask what an ingest would do, which changes nothing."""
        self._count("dry run")
        scope = self.index.choose_scope(folder)
        if not self.files.has_folder(folder) or self._is_suddenly_empty(scope):
            return
        changes = deepcopy(self.index).apply([scope])
        request = IngestRequest(paths=[self._locate(folder)], dry_run=True)
        report = self.system.run(request)
        counts = {name: getattr(report, name) for name in changes.counts}
        assert counts == changes.counts, (counts, changes)

    @indexed
    @rule(path=paths)
    def ingest_file(self, path: str) -> None:
        """Ingest one file of a source, to which ignore rules then do not apply."""
        self._count("ingest file")
        source = self.index.find_source(path)
        if source is None:
            return
        request = IngestRequest(paths=[self._locate(path)])
        if self.files.read(path) is None:
            self._expect_error(request, "io_error")
        elif path.endswith(".bin"):
            self._expect_error(request, "unsupported_media")
        elif not self.files.links.get(path, "").endswith(".bin"):
            self._ingest(request, [Scope(source, source, named=(path,))])

    @rule(chosen=st.lists(paths, min_size=1, max_size=3))
    def ingest_changed(self, chosen: list[str]) -> None:
        """Ingest what a watcher may report."""
        self._count("ingest changed")
        request = IngestRequest(paths=[self._locate(one) for one in chosen], changed=True)
        if not self.index.exists:
            return self._expect_error(request, "not_indexed")
        scopes = self.index.choose_changed(chosen)
        if any(self._is_suddenly_empty(scope) for scope in scopes):
            return None
        return self._ingest(request, scopes)

    @indexed
    @precondition(lambda self: self.processes and self._step % 4 == 0)
    @rule(chosen=st.integers(1, 40), folder=st.sampled_from(SOURCES[:2]))
    def kill_ingest(self, chosen: int, folder: str) -> None:
        """Kill an ingest at one of its writes, and run it again."""
        scope = Scope(folder, folder)
        if self._is_suddenly_empty(scope):
            return
        self._count("kill")
        self._note_change(moves=None)
        before = {key: (one.doc_id, one.text) for key, one in self.index.documents.items()}
        died = self.system.kill([self._locate(folder)], chosen)
        self.counts["died"] += died
        self._check_ids(before)
        self._ingest_after_kill(scope)

    @indexed
    @rule(folder=st.sampled_from(SOURCES[:2]))
    def ingest_beside(self, folder: str) -> None:
        """Read, and try to write, while an ingest runs."""
        self._count("beside")
        scope = self.index.choose_scope(folder)
        if self._is_suddenly_empty(scope):
            return
        before = self._list()
        looked: list[str] = []

        def look(event: Any) -> None:
            if event.kind != "scan_completed":
                return
            looked.append(event.kind)
            assert self._list() == before, "a reader sees a part of a running ingest"
            code = self.system.find_error(RmRequest(names=["nothing"]))
            assert code in (None, "locked"), code
            code = self.system.find_error(IngestRequest(paths=[self._locate(folder)]))
            assert code == "locked", code

        self._ingest(IngestRequest(paths=[self._locate(folder)]), [scope], report=look)
        assert looked

    # The library

    @indexed
    @rule(number=st.integers(0, 20))
    def remove(self, number: int) -> None:
        """Remove a document from the index; the next ingest adds it again."""
        self._count("rm")
        if not self.index.documents:
            return
        key = sorted(self.index.documents)[number % len(self.index.documents)]
        doc_id = self.index.documents.pop(key).doc_id
        self.removed.add(key)
        report = self.system.run(RmRequest(names=[doc_id]))
        assert [one.doc_id for one in report.removed] == [doc_id]
        self._note_change(moves=True)

    @indexed
    @rule(source=st.sampled_from(SOURCES), dry_run=st.sampled_from((True, False)))
    def remove_source(self, source: str, dry_run: bool) -> None:  # noqa: FBT001 - an argument of a rule
        """Remove a source."""
        self._count("source rm")
        reply = self.system.run(SourceRmRequest(name=self._locate(source), dry_run=dry_run))
        known = source in self.index.sources
        assert getattr(reply, "found", True) is known, reply
        if known and not dry_run:
            documents = [key for key in self.index.documents if key.source == source]
            for key in documents:
                del self.index.documents[key]
            self.index.sources.remove(source)
            self.index.exempt.pop(source, None)
            self._note_change(moves=bool(documents) or None)

    @rule(dry_run=st.sampled_from((True, True, True, False)))
    def reset(self, dry_run: bool) -> None:  # noqa: FBT001 - an argument of a rule
        """Delete the knowledge base."""
        self._count("reset")
        self.system.run(ResetRequest(dry_run=dry_run))
        if not dry_run:
            exempt_tokens = self.index.chunk_tokens
            self.index = Index(self.files)
            self.index.chunk_tokens = exempt_tokens
            self.turns.clear()
            self.runs.clear()
            self._revision = 0
            self._note_change(moves=None)

    @indexed
    @rule(model=st.sampled_from([model.name for model in MODELS]))
    def change_model(self, model: str) -> None:
        """Change the embedding model."""
        self._count("model use")
        self.system.run(ModelUseRequest(name=model))
        self._note_change(moves=None)

    @indexed
    @rule(tokens=st.sampled_from((254, 254, 40)))
    def change_chunks(self, tokens: int) -> None:
        """Change the longest passage; the next ingest cuts the documents again."""
        self._count("settings")
        self.index.chunk_tokens = tokens
        self.system.change_settings(**{"index.chunk_tokens": tokens})

    # Reads that store something

    @rule(question=st.sampled_from(QUESTIONS), session=st.sampled_from(("first", "second")))
    def ask(self, question: str, session: str) -> None:
        """Ask in a session."""
        self._count("ask")
        request = AskRequest(question=question, extractive=True, session=session)
        if not self.index.exists:
            return self._expect_error(request, "not_indexed")
        answer = self.system.run(request)
        assert answer.turn_index == self.turns[session], answer
        self.turns[session] += 1
        return None

    @indexed
    @rule(session=st.sampled_from(("first", "second")))
    def forget_session(self, session: str) -> None:
        """Delete a session."""
        self._count("session rm")
        reply = self.system.run(SessionRmRequest(names=[session]))
        assert getattr(reply, "found", True) is (session in self.turns), reply
        self.turns.pop(session, None)

    @rule(path=paths)
    def review(self, path: str) -> None:
        """Review a file by rules, and read the run again."""
        self._count("review")
        if path in self.files.links or path.endswith(".bin") or path not in self.files.texts:
            return
        page = self.system.run(ReviewRequest(names=[self._locate(path)], no_llm=True))
        items = [item.uid for item in page.items]
        again = self.system.run(ReviewRequest(run_id=page.run_id, no_llm=True))
        assert [item.uid for item in again.items] == items
        self.runs[page.run_id] = items

    @precondition(lambda self: self.runs)
    @rule(number=st.integers(0, 5))
    def forget_review(self, number: int) -> None:
        """Delete a run of a review."""
        self._count("review rm")
        run = sorted(self.runs)[number % len(self.runs)] if self.runs else "0" * 16
        reply = self.system.run(ReviewRmRequest(runs=[run]))
        assert getattr(reply, "found", True) is (run in self.runs), reply
        self.runs.pop(run, None)

    @precondition(lambda self: self._step % 5 == 0)
    @rule(path=paths)
    def write_read_only(self, path: str) -> None:
        """Try every change under `--read-only`."""
        self._count("read-only")
        for request in (
            IngestRequest(paths=[self._locate(path)]),
            RmRequest(names=["x"]),
            SourceRmRequest(name="x"),
            ResetRequest(),
        ):
            code = self.system.find_error(request, read_only=True)
            assert code == "read_only", (request, code)

    @precondition(lambda self: self.processes and self._step % 8 == 0)
    @rule(text=texts)
    def call_processes(self, text: int) -> None:
        """Search with a process, cold and warm, and compare both with this process."""
        self._count("processes")
        word = (_WORD.findall(TEXTS[text]) or ["nowhere1"])[0]
        call = ("search", word, "--mode", "lexical", "--limit", "100")
        status, reply = self.system.call(*call)
        warm_status, warm = self.system.call_warm(*call)
        assert status == warm_status, (reply, warm)
        if not self.index.exists:
            assert (status, reply["code"], warm["code"]) == (3, "not_indexed", "not_indexed")
            return
        hits = self.system.run(SearchRequest(query=word, mode="lexical", limit=100)).hits
        found = [(hit.doc_id, hit.chunk_id, hit.citation.uri) for hit in hits]
        for one in (reply, warm):
            listed = [
                (hit["doc_id"], hit["chunk_id"], hit["citation"]["uri"]) for hit in one["hits"]
            ]
            assert listed == found, (listed, found)
            assert (status, one["corpus_revision"]) == (0 if found else 1, self._revision), one

    # What holds after each step

    @invariant()
    def check(self) -> None:
        """Compare the index with the model; all of it after a change."""
        self._step += 1
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
        listed = self._list()
        assert listed == expected, _describe_difference(listed, expected)
        kept = self.system.run_kept(ListRequest(limit=None))
        assert {self._key(one): one.doc_id for one in kept.documents} == expected
        assert len(set(listed.values())) == len(listed), "an id is used twice"
        for key, (_, passages) in self.system.read_passages().items():
            text = self.index.documents[key].text
            assert Counter(_WORD.findall(passages)).keys() == set(_WORD.findall(text)), (
                key,
                passages,
            )
        sources = self.system.run(SourceListRequest()).sources
        names = {one.name.removeprefix(f"{self.system.notes}/") for one in sources}
        assert names == self.index.sources, names
        places = [f"{self._locate(key.path)}" for key in sorted(expected)][:2]
        for place in [one for one in places if Path(one).exists()]:
            fetched = self.system.run(FetchRequest(refs=[place])).results[0]
            read = Path(place).read_text(encoding="utf-8")
            assert getattr(fetched, "text", "").split() == read.split(), (place, fetched)

    def _check_words(self) -> None:
        """Search for words that documents have, and for words that they had before."""
        texts = {key: set(_WORD.findall(one.text)) for key, one in self.index.documents.items()}
        present = set().union(*texts.values())
        self.words |= present
        chosen = sorted(self.words)
        for word in [
            chosen[(self._step * 5 + shift) % len(chosen)] for shift in range(3) if chosen
        ]:
            request = SearchRequest(query=word, mode="lexical", limit=100, per_doc=1, detail="ids")
            reply = self.system.run(request)
            kept = self.system.run_kept(request)
            assert [_simplify(one) for one in reply.hits] == [_simplify(one) for one in kept.hits]
            found = {self._key(hit) for hit in reply.hits}
            wanted = {key for key, words in texts.items() if word in words}
            # Of documents with the same passage the search shows one.
            alike = {self.index.documents[key].text for key in found}
            assert found <= wanted, (word, found - wanted)
            assert {self.index.documents[key].text for key in wanted} == alike, (
                word,
                wanted - found,
            )
            assert bool(reply.absent_terms) is (word not in present), (word, reply.absent_terms)
            self._check_lines(word)

    def _check_lines(self, word: str) -> None:
        """Look for a word in the files as they are now."""
        reply = self.system.run(GrepRequest(pattern=word, word=True, files_only=True))
        wanted = {
            self._locate(key.path)
            for key in self.index.documents
            if word in _WORD.findall(self.files.read(key.path) or "")
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
        assert coverage.gone == len(gone), (coverage, gone)
        assert coverage.changed == len(changed), (coverage, changed)
        is_behind = bool(coverage.new or coverage.unlisted or coverage.unread)
        # A document that `rm` removed was in a scan, so its file need not count as new.
        assert is_behind or not new - self.removed, (coverage, new)
        assert new or not is_behind, coverage
        moved = reply.corpus_revision - self._revision
        assert self._moves is None or moved >= 0, reply
        assert self._moves is None or bool(moved) is self._moves, (moved, self._moves)
        self._revision, self._moves = reply.corpus_revision, False

    # Steps of the rules

    def _ingest(
        self,
        request: IngestRequest,
        scopes: list[Scope],
        *,
        force: bool = False,
        report: Callable[[Any], None] | None = None,
    ) -> None:
        sources = len(self.index.sources)
        changes = self.index.apply(scopes, force=force)
        if len(self.index.sources) != sources:
            self._note_change(moves=None)
        found = self.system.run(request, report=report)
        counts = {name: getattr(found, name) for name in changes.counts}
        assert counts == changes.counts, (counts, changes)
        assert (found.errors, found.embedding.pending) == (0, 0), found
        self._adopt_ids(changes, found)

    def _ingest_after_kill(self, scope: Scope) -> None:
        """Ingest what a killed run left; how much of it that run did is unknown."""
        changes = self.index.apply([scope])
        found = self.system.run(IngestRequest(paths=[self._locate(scope.source)]))
        assert found.errors == 0, found
        self._adopt_ids(changes, found)
        self._note_change(moves=None)

    def _adopt_ids(self, changes: Changes, report: IngestReport) -> None:
        """Take over the ids of new documents; moved ones must have kept theirs."""
        listed = self._list()
        kept = 0
        for key in (*changes.new, *changes.moved):
            doc_id = listed.get(key, "")
            assert doc_id, f"{key} is missing: {report}"
            kept += doc_id in changes.moved.get(key, ())
            self.index.documents[key].doc_id = doc_id
        assert kept >= changes.moves, (kept, changes)
        if not changes.is_empty:
            self._note_change(moves=True)

    def _check_ids(self, before: dict[Key, tuple[str, str]]) -> None:
        """Check what readers see after a kill: each document is as before or as it is now."""
        ids = {doc_id for doc_id, _ in before.values()}
        for key, (doc_id, passages) in self.system.read_passages().items():
            known, text = before.get(key, ("", ""))
            assert not known or doc_id == known or doc_id in ids, (key, doc_id, known)
            texts = (text if known else None, self.files.read(key.path))
            allowed = [set(_WORD.findall(one)) for one in texts if one is not None]
            assert set(_WORD.findall(passages)) in allowed, (key, passages)

    def _note_change(self, *, moves: bool | None) -> None:
        self._checked = False
        self._moves = moves

    def _expect_error(self, request: Any, code: str) -> None:
        found = self.system.find_error(request)
        assert found == code, (request, found)

    def _is_suddenly_empty(self, scope: Scope) -> bool:
        """Return whether a whole source has documents in the index and no file any more."""
        if scope != Scope(scope.source, scope.source):
            return False
        known = any(key.source == scope.source for key in self.index.documents)
        folder = self.system.notes / scope.source
        names = folder.iterdir() if folder.is_dir() else ()
        return (known or not folder.is_dir()) and all(one.name.startswith(".") for one in names)

    def _list(self) -> dict[Key, str]:
        listed = self.system.run(ListRequest(limit=None)).documents
        return {self._key(one): one.doc_id for one in listed}

    def _key(self, found: Any) -> Key:
        return self.system.make_key(found.source, found.doc_path)

    def _locate(self, path: str) -> str:
        return str(self.system.notes / path)

    def _count(self, name: str) -> None:
        KnowledgeBase.counts[name] += 1


def _simplify(hit: Any) -> tuple[Any, ...]:
    return hit.doc_id, hit.chunk_id, hit.score, hit.citation.uri


def _describe_difference(found: dict[Key, str], expected: dict[Key, str]) -> str:
    lost = {key: one for key, one in expected.items() if found.get(key) != one}
    more = {key: one for key, one in found.items() if expected.get(key) != one}
    return f"lost or changed {lost}, found {more}"

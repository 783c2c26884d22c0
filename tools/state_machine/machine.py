"""Contains the state machine: the random operations, each with what its own reply must say."""

from copy import deepcopy
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from kebab.wire.ask import AskRequest, SessionRmRequest
from kebab.wire.health import ModelUseRequest, ResetRequest
from kebab.wire.ingest import IngestRequest
from kebab.wire.library import RmRequest, SourceRmRequest
from kebab.wire.review import ReviewRequest, ReviewRmRequest
from kebab.wire.search import SearchRequest
from tools.state_machine.checks import SOURCES, WORD, CheckedKnowledgeBase
from tools.state_machine.model import IGNORE_FILE, Index, Scope, is_below
from tools.state_machine.system import MODELS

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

paths = st.sampled_from(PATHS)
texts = st.integers(0, len(TEXTS) - 1)
folders = st.sampled_from((*SOURCES, *FOLDERS))
indexed = precondition(lambda self: self.index.exists)


class KnowledgeBase(CheckedKnowledgeBase):
    """The operations on a knowledge base."""

    processes: ClassVar[bool] = False
    """Whether to kill ingests, and to compare warm and cold calls, each in a process of its own."""

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
        self.count("write")
        self.files.write(path, TEXTS[text])

    @rule(path=paths, number=st.integers(0, 4))
    def append(self, path: str, number: int) -> None:
        """Append a paragraph, as a log or a diary grows."""
        self.count("append")
        self.files.write(path, f"{self.files.texts.get(path, '')}\n\nmore{number}\n")

    @rule(path=paths)
    def touch(self, path: str) -> None:
        """Write a file again with its text."""
        self.count("touch")
        if path in self.files.texts:
            self.files.write(path, self.files.texts[path])

    @rule(path=paths)
    def delete(self, path: str) -> None:
        """Delete a file or a link."""
        self.count("delete")
        self.files.delete(path)

    @rule(path=paths, other=paths)
    def move(self, path: str, other: str) -> None:
        """Rename a file; names may differ in case only."""
        self.count("move")
        is_kind_kept = path.endswith(".bin") == other.endswith(".bin")
        if path in self.files.texts and path != other and is_kind_kept:
            self.files.move(path, other)

    @rule(path=paths, other=paths)
    def swap(self, path: str, other: str) -> None:
        """Exchange two files."""
        self.count("swap")
        is_kind_kept = path.endswith(".bin") == other.endswith(".bin")
        if {path, other} <= self.files.texts.keys() and path != other and is_kind_kept:
            self.files.swap(path, other)

    @rule(path=paths, other=paths)
    def copy(self, path: str, other: str) -> None:
        """Make a twin of a file."""
        self.count("copy")
        if path in self.files.texts and path != other:
            self.files.write(other, self.files.texts[path])

    @rule(path=paths, other=paths)
    def link(self, path: str, other: str) -> None:
        """Make a symbolic link, also to nothing."""
        self.count("link")
        has_text = not {path, other} & {one for one in PATHS if one.endswith(".bin")}
        if path not in self.files.list_steps(other) and has_text:
            self.files.link(path, other)

    @rule(folder=st.sampled_from(FOLDERS), other=st.sampled_from(FOLDERS))
    def move_folder(self, folder: str, other: str) -> None:
        """Rename a folder."""
        self.count("move folder")
        has_links = any(is_below(one, folder) for one in (*self.files.links.values(),))
        is_free = not self.files.has_folder(other) and not is_below(other, folder)
        if self.files.has_folder(folder) and is_free and not has_links:
            self.files.move_folder(folder, other)

    @rule(source=st.sampled_from(SOURCES[:2]), text=st.sampled_from(PATTERNS))
    def ignore(self, source: str, text: str) -> None:
        """Change the ignore file of a folder."""
        self.count("ignore")
        self.files.write(f"{source}/{IGNORE_FILE}", text)

    # Ingests

    @rule(folder=folders, force=st.sampled_from((False, False, False, True)))
    def ingest(self, folder: str, force: bool) -> None:  # noqa: FBT001 - an argument of a rule
        """Ingest a folder."""
        self.count("ingest")
        request = IngestRequest(paths=[self.locate(folder)], force=force)
        if not self.files.has_folder(folder):
            return self.expect_error(request, "io_error")
        scope = self.index.choose_scope(folder)
        if self.is_suddenly_empty(scope) and not force:
            return self.expect_error(request, "io_error")
        return self.run_ingest(request, [scope], force=force)

    @indexed
    @rule()
    def ingest_again(self) -> None:
        """Ingest every source."""
        self.count("ingest again")
        scopes = [Scope(one, one) for one in self.index.sources]
        lost = [one for one in scopes if self.is_suddenly_empty(one)]
        if lost and len(lost) < len(scopes):
            return None
        if not scopes:
            return self.expect_error(IngestRequest(), "usage_invalid")
        if lost:
            return self.expect_error(IngestRequest(), "io_error")
        return self.run_ingest(IngestRequest(), scopes)

    @indexed
    @rule(folder=folders)
    def plan_ingest(self, folder: str) -> None:
        """Ask what an ingest would do, which changes nothing."""
        self.count("dry run")
        scope = self.index.choose_scope(folder)
        if not self.files.has_folder(folder) or self.is_suddenly_empty(scope):
            return
        changes = deepcopy(self.index).apply([scope])
        request = IngestRequest(paths=[self.locate(folder)], dry_run=True)
        report = self.system.run(request)
        counts = {name: getattr(report, name) for name in changes.counts}
        assert counts == changes.counts, (counts, changes)

    @indexed
    @rule(path=paths)
    def ingest_file(self, path: str) -> None:
        """Ingest one file of a source, to which ignore rules then do not apply."""
        self.count("ingest file")
        source = self.index.find_source(path)
        if source is None:
            return
        request = IngestRequest(paths=[self.locate(path)])
        if self.files.read(path) is None:
            self.expect_error(request, "io_error")
        elif path.endswith(".bin"):
            self.expect_error(request, "unsupported_media")
        elif not self.files.links.get(path, "").endswith(".bin"):
            self.run_ingest(request, [Scope(source, source, named=(path,))])

    @rule(chosen=st.lists(paths, min_size=1, max_size=3))
    def ingest_changed(self, chosen: list[str]) -> None:
        """Ingest what a watcher may report."""
        self.count("ingest changed")
        request = IngestRequest(paths=[self.locate(one) for one in chosen], changed=True)
        if not self.index.exists:
            return self.expect_error(request, "not_indexed")
        scopes = self.index.choose_changed(chosen)
        if any(self.is_suddenly_empty(scope) for scope in scopes):
            return None
        return self.run_ingest(request, scopes)

    @indexed
    @precondition(lambda self: self.processes and self.step % 2 == 0)
    @rule(chosen=st.integers(1, 20), folder=st.sampled_from(SOURCES[:2]))
    def kill_ingest(self, chosen: int, folder: str) -> None:
        """Kill an ingest at one of its writes, and run it again."""
        scope = Scope(folder, folder)
        if self.is_suddenly_empty(scope):
            return
        self.count("kill")
        self.note_change(moves=None)
        before = {key: (one.doc_id, one.text) for key, one in self.index.documents.items()}
        died = self.system.kill([self.locate(folder)], chosen)
        self.counts["died"] += died
        self.check_ids(before)
        self.ingest_after_kill(scope)

    @indexed
    @rule(folder=st.sampled_from(SOURCES[:2]))
    def ingest_beside(self, folder: str) -> None:
        """Read, and try to write, while an ingest runs."""
        self.count("beside")
        scope = self.index.choose_scope(folder)
        if self.is_suddenly_empty(scope):
            return
        before = self.list_documents()
        looked: list[str] = []

        def look(event: Any) -> None:
            if event.kind != "scan_completed":
                return
            looked.append(event.kind)
            assert self.list_documents() == before, "a reader sees a part of a running ingest"
            code = self.system.find_error(RmRequest(names=["nothing"]))
            assert code in (None, "locked"), code
            code = self.system.find_error(IngestRequest(paths=[self.locate(folder)]))
            assert code == "locked", code

        self.run_ingest(IngestRequest(paths=[self.locate(folder)]), [scope], report=look)
        assert looked

    # The library

    @indexed
    @rule(number=st.integers(0, 20))
    def remove(self, number: int) -> None:
        """Remove a document from the index; the next ingest adds it again."""
        self.count("rm")
        if not self.index.documents:
            return
        key = sorted(self.index.documents)[number % len(self.index.documents)]
        doc_id = self.index.documents.pop(key).doc_id
        self.removed.add(key)
        report: Any = self.system.run(RmRequest(names=[doc_id]))
        assert [one.doc_id for one in report.removed] == [doc_id]
        self.note_change(moves=True)

    @indexed
    @rule(source=st.sampled_from(SOURCES), dry_run=st.sampled_from((True, False)))
    def remove_source(self, source: str, dry_run: bool) -> None:  # noqa: FBT001 - an argument of a rule
        """Remove a source."""
        self.count("source rm")
        reply = self.system.run(SourceRmRequest(name=self.locate(source), dry_run=dry_run))
        known = source in self.index.sources
        assert getattr(reply, "found", True) is known, reply
        if known and not dry_run:
            documents = [key for key in self.index.documents if key.source == source]
            for key in documents:
                del self.index.documents[key]
            self.index.sources.remove(source)
            self.index.exempt.pop(source, None)
            self.note_change(moves=bool(documents) or None)

    @rule(dry_run=st.sampled_from((True, True, True, False)))
    def reset(self, dry_run: bool) -> None:  # noqa: FBT001 - an argument of a rule
        """Delete the knowledge base."""
        self.count("reset")
        self.system.run(ResetRequest(dry_run=dry_run))
        if not dry_run:
            self.index = Index(self.files, self.index.chunk_tokens)
            self.turns.clear()
            self.runs.clear()
            self.revision = 0
            self.note_change(moves=None)

    @indexed
    @rule(model=st.sampled_from([model.name for model in MODELS]))
    def change_model(self, model: str) -> None:
        """Change the embedding model."""
        self.count("model use")
        self.system.run(ModelUseRequest(name=model))
        self.note_change(moves=None)

    @indexed
    @rule(tokens=st.sampled_from((254, 254, 40)))
    def change_chunks(self, tokens: int) -> None:
        """Change the longest passage; the next ingest cuts the documents again."""
        self.count("settings")
        self.index.chunk_tokens = tokens
        self.system.change_settings(**{"index.chunk_tokens": tokens})

    # Reads that store something

    @rule(question=st.sampled_from(QUESTIONS), session=st.sampled_from(("first", "second")))
    def ask(self, question: str, session: str) -> None:
        """Ask in a session."""
        self.count("ask")
        request = AskRequest(question=question, extractive=True, session=session)
        if not self.index.exists:
            return self.expect_error(request, "not_indexed")
        answer = self.system.run(request)
        assert answer.turn_index == self.turns[session], answer
        self.turns[session] += 1
        return None

    @indexed
    @rule(session=st.sampled_from(("first", "second")))
    def forget_session(self, session: str) -> None:
        """Delete a session."""
        self.count("session rm")
        reply = self.system.run(SessionRmRequest(names=[session]))
        assert getattr(reply, "found", True) is (session in self.turns), reply
        self.turns.pop(session, None)

    @rule(path=paths)
    def review(self, path: str) -> None:
        """Review a file by rules, and read the run again."""
        self.count("review")
        if path in self.files.links or path.endswith(".bin") or path not in self.files.texts:
            return
        page: Any = self.system.run(ReviewRequest(names=[self.locate(path)], no_llm=True))
        items = [item.uid for item in page.items]
        again: Any = self.system.run(ReviewRequest(run_id=page.run_id, no_llm=True))
        assert [item.uid for item in again.items] == items
        self.runs[page.run_id] = items

    @precondition(lambda self: self.runs)
    @rule(number=st.integers(0, 5))
    def forget_review(self, number: int) -> None:
        """Delete a run of a review."""
        self.count("review rm")
        run = sorted(self.runs)[number % len(self.runs)]
        reply = self.system.run(ReviewRmRequest(runs=[run]))
        assert getattr(reply, "found", True), reply
        del self.runs[run]

    @precondition(lambda self: self.step % 5 == 0)
    @rule(path=paths)
    def write_read_only(self, path: str) -> None:
        """Try every change under `--read-only`."""
        self.count("read-only")
        for request in (
            IngestRequest(paths=[self.locate(path)]),
            RmRequest(names=["x"]),
            SourceRmRequest(name="x"),
            ResetRequest(),
        ):
            code = self.system.find_error(request, read_only=True)
            assert code == "read_only", (request, code)

    @precondition(lambda self: self.processes and self.step % 8 == 0)
    @rule(text=texts)
    def call_processes(self, text: int) -> None:
        """Search with a process, cold and warm, and compare both with this process."""
        self.count("processes")
        word = (WORD.findall(TEXTS[text]) or ["nowhere1"])[0]
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
            assert (status, one["corpus_revision"]) == (0 if found else 1, self.revision), one

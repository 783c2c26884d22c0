"""Applies the rules to the documents of a review that asks no language model.

What the rules found is stored, and used again while nothing that it depends on has changed. The
other documents of a long run are worked on ahead, in processes of their own.
"""

import secrets
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import kebab
from kebab.app.context import AppContext
from kebab.app.review_selection import RunSettings, build_selection
from kebab.app.review_start import (
    ReviewLibrary,
    find_review_root,
    load_document,
    load_run_settings,
)
from kebab.app.review_surroundings import build_surroundings
from kebab.app.review_text import read_reviewed_file
from kebab.config.settings import Settings
from kebab.core.ids import hash_content
from kebab.core.progress import Cancel
from kebab.core.review import ReviewStore, ReviewText, RulesResult, StoredRun, UnitResult
from kebab.errors.catalog import IoError, Locked, NotIndexed, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.platform import count_cores
from kebab.review.answers import Question, RecordedSurroundings, answer_question
from kebab.review.rules.registry import PluginRule
from kebab.review.rules.rule import Rule
from kebab.review.run import UNREADABLE
from kebab.review.selection import SelectingWorker
from kebab.review.worker import RulesWorker
from kebab.wire.review import ReviewRequest

if TYPE_CHECKING:
    from kebab.limits.worker import WorkerProcess

_PACKAGE = Path(kebab.__file__).parent
_READING = ("review", "parse", "text")
"""The packages that read a text and apply the rules."""
_LEAST_FILES = 100
"""With fewer files the processes take longer to start than they save."""
_FILES_ALONE = 20
"""So many documents without a known result come before the processes start."""
_MOST_PROCESSES = 8
_FILES_AHEAD = 4
"""So many documents wait for each process, so that it always has work."""
_MOST_AHEAD = 200
"""So far ahead of the document that is asked for may be worked."""
_FILES_PER_WRITE = 64
_POLL_S = 0.1


def is_plain(run: StoredRun, first: ReviewRequest) -> bool:
    """Return whether a run only applies the rules to whole files as they are on disk."""
    return run.model is None and not first.imported and first.text is None and first.changed is None


class RulesReader:
    """Reads documents of a run and applies the rules; a copy of it is sent to each process."""

    def __init__(
        self,
        context: AppContext,
        library: ReviewLibrary,
        run: StoredRun,
        first: ReviewRequest,
        settings: RunSettings,
    ) -> None:
        self._context, self._library, self._run, self._first = context, library, run, first
        self._surroundings = build_surroundings(context)
        self._rules = settings
        self._selection = build_selection(self._rules, None)
        self._key = _describe_rules(context, self._rules.applied)
        self._index_state = ""
        with suppress(IoError, Locked, NotIndexed, StoreCorrupt), context.open_reader() as reader:
            self._index_state = str(reader.get_revision())

    def __reduce__(self) -> tuple[object, ...]:
        context = self._context
        fields = context.settings, context.config_path, context.is_owner, self._run, self._first
        return _open_reader, fields

    def __call__(self, file: int) -> RulesResult:
        """Return what the rules find in a document.

        Raises what `load_document` raises.
        """
        document = load_document(self._context, self._library, self._run, self._first.names, file)
        recorded = RecordedSurroundings(self._rules.adapt(document, self._surroundings))
        worker = SelectingWorker(RulesWorker(self._rules.applied, recorded), self._selection)
        (unit,) = worker.plan(document)
        result = worker.work(document, [unit], 0, lambda _: UnitResult())
        source = document.source
        return RulesResult(
            content_hash=source.content_hash,
            lang=document.lang,
            rules=self._key,
            place=self._describe_place(file, source.media),
            unit=unit,
            result=result,
            answers=tuple((one, self._answer(source, one)) for one in recorded.questions),
        )

    def is_current(self, file: int, known: RulesResult) -> bool:
        """Return whether the rules would find the same now."""
        path, limit = Path(self._run.files[file]), self._context.settings.ingest.max_file_bytes
        if known.rules != self._key or not self._library.may_read(str(path)):
            return False
        stored = self._library.find_document(str(path))
        media, data = read_reviewed_file(path, limit, stored.media if stored else None)
        place = self._describe_place(file, media)
        if hash_content(data) != known.content_hash or place != known.place:
            return False
        source = ReviewText(
            doc_path="",
            file=path,
            root=Path(place[0]),
            media=media,
            raw="",
            text="",
            content_hash=known.content_hash,
            doc_id=stored.doc_id if stored else None,
        )
        return all(self._answer(source, one) == answer for one, answer in known.answers)

    def _describe_place(self, file: int, media: str) -> tuple[str, ...]:
        """Return what else depends on the place of a file.

        Its root, its media type, its id, path and language in the index, and the settings of its
        folder.
        """
        path = self._run.files[file]
        stored = self._library.find_document(path)
        root = find_review_root(self._library, self._first.names, path)
        indexed = (stored.doc_id, stored.path, stored.lang or "") if stored else ("", "", "")
        return root, media, *indexed, repr(self._rules.find_folder(path, root))

    def _answer(self, source: ReviewText, question: Question) -> str:
        return answer_question(self._surroundings, source, question, self._index_state)


def _open_reader(
    settings: Settings,
    config_path: Path,
    is_owner: bool,  # noqa: FBT001
    run: StoredRun,
    first: ReviewRequest,
) -> RulesReader:
    context = AppContext(settings, config_path=config_path, read_only=True, is_owner=is_owner)
    library = ReviewLibrary(context)
    rules = load_run_settings(context, library, first, run.files)
    return RulesReader(context, library, run, first, rules)


def _describe_rules(context: AppContext, rules: Sequence[Rule]) -> str:
    """Return a text that changes with the rules, their settings and the program.

    It is new each time with rules of plugins, whose code is not known here.
    """
    if any(isinstance(rule, PluginRule) for rule in rules):
        return secrets.token_hex(8)
    modules = [path for name in _READING for path in (_PACKAGE / name).rglob("*.py")]
    parts = (
        kebab.__version__,
        max(path.stat().st_mtime_ns for path in modules),
        [rule.id for rule in rules],
        find_spec("spellchecker") is not None,  # without it a rule finds nothing
        msgspec.json.encode(context.settings.review),
    )
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


class RulesResults:
    """Returns what the rules find in the documents of a run, which are asked for in order.

    In a long run other processes work ahead, and so does this one while it waits for them. What a
    process cannot do, because it died or the document cannot be read, is tried again here.
    """

    def __init__(
        self,
        reader: RulesReader,
        store: ReviewStore,
        files: Sequence[str],
        cancel: Cancel,
        *,
        is_long: bool,
    ) -> None:
        self._reader, self._store, self._files, self._cancel = reader, store, files, cancel
        self._is_long = is_long
        self._computed = 0
        self._next = 0
        self._given: dict[WorkerProcess, deque[int]] = {}
        self._results: dict[int, RulesResult] = {}
        self._current: dict[int, RulesResult] = {}
        """Stored results that were found to be current ahead."""
        self._unstored: list[tuple[str, RulesResult]] = []

    def take(self, file: int) -> RulesResult | None:
        """Return what the rules find in a document; None when it cannot be read."""
        with suppress(*UNREADABLE):
            if file < self._next:
                known = self._current.pop(file, None)
            else:
                self._next = file + 1
                known = self._find_current(file)
            if known is not None:
                return known
            found = self._take_ahead(file) or self._reader(file)
            self._unstored.append((self._files[file], found))
            if len(self._unstored) >= _FILES_PER_WRITE:
                self._write()
            return found
        return None

    def _find_current(self, file: int) -> RulesResult | None:
        known = self._store.find_rules_result(self._files[file])
        return known if known is not None and self._reader.is_current(file, known) else None

    def _claim(self, end: int) -> int | None:
        """Return the next document before a position whose result is not known."""
        while self._next < end:
            file = self._next
            self._next += 1
            known = None
            with suppress(*UNREADABLE):
                known = self._find_current(file)
            if known is None:
                return file
            self._current[file] = known
        return None

    def _take_ahead(self, file: int) -> RulesResult | None:
        from kebab.limits.worker import wait_for_replies

        self._computed += 1
        if (
            self._is_long
            and self._computed == _FILES_ALONE
            and len(self._files) - file >= _LEAST_FILES
        ):
            self._start()
        end = min(file + _MOST_AHEAD, len(self._files))
        wait_s = 0.0
        while self._given and not self._cancel.requested:
            is_given = any(file in files for files in self._given.values())
            for worker in wait_for_replies([*self._given], wait_s):
                self._receive(worker)
            self._give(end)
            if not is_given:
                break
            own = self._claim(end)
            wait_s = _POLL_S if own is None else 0
            if own is not None:
                with suppress(*UNREADABLE):
                    self._results[own] = self._reader(own)
        return self._results.pop(file, None)

    def _start(self) -> None:
        from kebab.limits.worker import DEFAULT_MEMORY_MB, WorkerProcess

        others = min(count_cores(), _MOST_PROCESSES) - 1
        with suppress(OSError):  # then this process does the rest
            for _ in range(others):
                self._given[WorkerProcess(self._reader, DEFAULT_MEMORY_MB)] = deque()

    def _receive(self, worker: "WorkerProcess") -> None:
        was_ready = worker.is_ready
        reply = worker.receive()
        if reply is None:
            del self._given[worker]
            worker.close()
        elif was_ready:
            file = self._given[worker].popleft()
            if reply.result is not None:
                self._results[file] = reply.result

    def _give(self, end: int) -> None:
        for worker, files in self._given.items():
            while worker.is_ready and len(files) < _FILES_AHEAD:
                file = self._claim(end)
                if file is None or not worker.send(file):
                    break
                files.append(file)

    def _write(self) -> None:
        self._store.add_rules_results(self._unstored)
        self._unstored = []

    def close(self) -> None:
        """End the processes, and store what is not stored yet."""
        for worker in self._given:
            worker.close()
        if self._unstored:
            with suppress(Signal):  # the findings are stored; this only saves time later
                self._write()

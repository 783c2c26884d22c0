"""Scans the sources of a run and compares them with the library."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kebab.core.documents import KnownDocument, Source
from kebab.core.files import ScanResult, ScanRules, get_suffix
from kebab.core.ids import compute_digest
from kebab.core.ports import FileScanner, LibraryWriter
from kebab.errors.catalog import IoError, TooLarge, UnsupportedMedia
from kebab.errors.system import build_io_error, build_read_error
from kebab.ingest.job import FileOutcome, IngestJob, ItemKind
from kebab.ingest.scopes import LibraryState, Scope, is_below


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeScan:
    """One scope as it is on disk and in the library.

    `known` holds the scope's documents only. `overruled` are files that stay documents although
    ignore rules name them, because the caller once named them.
    """

    scope: Scope
    found: ScanResult
    known: dict[str, KnownDocument]
    overruled: frozenset[str] = field(default_factory=frozenset)


class ScopeScanner:
    """Looks at scopes one by one."""

    def __init__(
        self,
        request: IngestJob,
        knowledge: LibraryState,
        scanner: FileScanner,
        tick: Callable[[], None],
    ) -> None:
        self._request = request
        self._knowledge = knowledge
        self._scanner = scanner
        self._tick = tick

    def look(self, scope: Scope, sources: Iterable[Source]) -> ScopeScan:
        """Return what is there; `sources` are all roots, also those about to be registered.

        Raises:
            IoError: The root cannot be read, or is suddenly empty.
        """
        known = self._knowledge.load_known_documents(scope.source.name)
        inside = {path: one for path, one in known.items() if scope.holds(path)}
        overruled = load_exempt_files(self._knowledge, scope.source)
        if scope.files is None:
            found = self._folder(scope, sources, inside)
            self._named_before(scope, found, overruled)
        else:
            found = ScanResult()
            self._add_named(scope, found, scope.files)
            overruled |= self._against_the_rules(scope)
            self._refuse_vanished(scope, found, inside)
        return ScopeScan(scope=scope, found=found, known=inside, overruled=frozenset(overruled))

    def _folder(
        self, scope: Scope, sources: Iterable[Source], known: dict[str, KnownDocument]
    ) -> ScanResult:
        root = scope.source.root
        claimed = find_claimed_paths(scope.source, sources, self._knowledge)
        claimed.update(dict.fromkeys(map(os.path.realpath, self._request.private), "excluded"))
        try:
            found = self._scanner.scan(
                root, self._rules(scope), below=scope.below, claimed=claimed, tick=self._tick
            )
        except OSError as failure:
            if self._request.force and known and not Path(root).exists():
                return ScanResult()
            raise build_io_error(failure, "read", scope.place) from failure
        if scope.whole and not found.seen and known and not self._request.force:
            raise _build_missing_root_error(root, len(known))
        return found

    def _refuse_vanished(
        self, scope: Scope, found: ScanResult, known: dict[str, KnownDocument]
    ) -> None:
        gone = known and not found.entries and not found.unreadable and not found.skips.total
        if gone and not self._request.force and _is_empty(scope.source.root):
            raise _build_missing_root_error(scope.source.root, len(known))

    def _named_before(self, scope: Scope, found: ScanResult, overruled: Iterable[str]) -> None:
        seen = {entry.path for entry in found.entries}
        missed = [path for path in overruled if path not in seen and scope.holds(path)]
        self._add_named(scope, found, missed)

    def _add_named(self, scope: Scope, found: ScanResult, paths: Iterable[str]) -> None:
        self._scanner.add_named_files(found, scope.source.root, paths, self._request.rules)

    def _against_the_rules(self, scope: Scope) -> set[str]:
        if not scope.named or scope.files is None:
            return set()
        root, rules = scope.source.root, self._request.rules
        return {
            path
            for path in scope.files
            if self._scanner.find_skip_reason(root, rules, path, folder=False) is not None
        }

    def _rules(self, scope: Scope) -> ScanRules:
        return ScanRules() if scope.source.kind == "stdin" else self._request.rules


def find_claimed_paths(
    source: Source, others: Iterable[Source], knowledge: LibraryState
) -> dict[str, str]:
    """Return by absolute path what lies below a source's root but belongs to another source."""
    claimed: dict[str, str] = {}
    for other in others:
        if not is_below(other.root, source.root):
            continue
        if other.kind == "files":
            for path in knowledge.load_known_documents(other.name):
                claimed[os.path.join(other.root, path)] = "other_source"  # noqa: PTH118 - a plain string
        else:
            claimed[other.root] = "other_source"
    return claimed


def load_exempt_files(knowledge: LibraryState, source: Source) -> set[str]:
    """Return the files of a source that were named although ignore rules leave them out."""
    stored = knowledge.get_value(_exempt_files_key(source))
    return set(json.loads(stored)) if stored else set()


def store_exempt_files(library: LibraryWriter, survey: ScopeScan) -> None:
    """Store which files of a source were named although ignore rules leave them out."""
    source, found = survey.scope.source, survey.found
    before, now = load_exempt_files(library, source), set(survey.overruled)
    if now and survey.scope.whole:
        now &= {entry.path for entry in found.entries} | set(found.unreadable)
    if now != before:
        library.set_value(_exempt_files_key(source), json.dumps(sorted(now)) if now else None)


def _exempt_files_key(source: Source) -> str:
    return f"named_files:{compute_digest(source.name)}"


def _is_empty(root: str) -> bool:
    try:
        names: Sequence[str] = os.listdir(root)  # noqa: PTH208 - only whether there is any name
    except OSError:
        return True
    return not names


def _build_missing_root_error(root: str, count: int) -> IoError:
    cause = (
        f"the folder is empty or missing, but {count} documents are known in it; "
        "`--force` removes them"
    )
    return build_read_error(root, cause)


@dataclass(slots=True)
class ScanSummary:
    """What could be looked at, and the roots that could not."""

    scopes: Sequence[Scope]
    looked: list[ScopeScan] = field(default_factory=list)
    refused: list[FileOutcome] = field(default_factory=list)


def scan_scopes(
    scopes: Sequence[Scope],
    request: IngestJob,
    knowledge: LibraryState,
    scanner: FileScanner,
    tick: Callable[[], None],
) -> ScanSummary:
    """Return every scope beside what is known of it.

    Raises:
        IoError: A root cannot be read or is suddenly empty; when the caller named none and others
            can be read, it becomes an item instead.
        TooLarge: The only file named is above the size limit.
        UnsupportedMedia: No parser takes the only file named.
    """
    sources = _merge_sources(scopes, knowledge)
    surveyor = ScopeScanner(request, knowledge, scanner, tick)
    surveys = ScanSummary(scopes)
    for scope in scopes:
        try:
            surveys.looked.append(surveyor.look(scope, sources))
        except IoError as failure:
            if request.paths or len(scopes) == 1:
                raise
            surveys.refused.append(_build_error_outcome(scope, failure))
    if not surveys.looked and surveys.refused:
        error = surveys.refused[0].error
        assert error is not None, "a refused root has its error"
        raise error
    if is_single_file(request, scopes):
        _raise_for_single_file(surveys.looked[0], request)
    return surveys


def is_single_file(request: IngestJob, scopes: Sequence[Scope]) -> bool:
    """Return whether the caller named one file and nothing else."""
    return len(request.paths) == 1 and len(scopes) == 1 and scopes[0].files is not None


def _merge_sources(scopes: Sequence[Scope], knowledge: LibraryState) -> list[Source]:
    by_name = {source.name: source for source in knowledge.list_sources()}
    by_name.update((scope.source.name, scope.source) for scope in scopes)
    return list(by_name.values())


def _build_error_outcome(scope: Scope, failure: IoError) -> FileOutcome:
    return FileOutcome(
        kind=ItemKind.ERROR, doc_path=scope.place, source=scope.source.name, error=failure
    )


def _raise_for_single_file(survey: ScopeScan, request: IngestJob) -> None:
    """Raise what is wrong with the only file that was named."""
    place, reasons = survey.scope.place, survey.found.skips.by_reason
    if reasons["unsupported"] or reasons["special_file"]:
        suffix = get_suffix(place.rpartition("/")[2])
        media = suffix or "no extension"
        raise UnsupportedMedia(path=place, media=media)
    if reasons["over_limit"]:
        size = survey.found.largest
        raise TooLarge(what=place, size=size, limit=request.rules.max_file_bytes)
    if reasons["unreadable"]:
        raise build_read_error(place, "permission denied")

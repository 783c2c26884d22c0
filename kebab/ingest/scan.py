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
from kebab.ingest.job import FileOutcome, IngestRequest, ItemKind
from kebab.ingest.scopes import Knowledge, Scope, is_below


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """One scope as it is on disk and in the library.

    `known` holds the scope's documents only. `overruled` are files that stay documents although
    ignore rules name them, because the caller once named them.
    """

    scope: Scope
    found: ScanResult
    known: dict[str, KnownDocument]
    overruled: frozenset[str] = field(default_factory=frozenset)


class Surveyor:
    """Looks at scopes one by one."""

    def __init__(
        self,
        request: IngestRequest,
        knowledge: Knowledge,
        scanner: FileScanner,
        tick: Callable[[], None],
    ) -> None:
        self._request = request
        self._knowledge = knowledge
        self._scanner = scanner
        self._tick = tick

    def look(self, scope: Scope, sources: Iterable[Source]) -> Survey:
        """Return what is there; `sources` are all roots, also those about to be registered.

        Raises:
            IoError: The root cannot be read, or is suddenly empty.
        """
        known = self._knowledge.known(scope.source.name)
        inside = {path: one for path, one in known.items() if scope.holds(path)}
        overruled = remembered(self._knowledge, scope.source)
        if scope.files is None:
            found = self._folder(scope, sources, inside)
            self._named_before(scope, found, overruled)
        else:
            found = ScanResult()
            self._add_named(scope, found, scope.files)
            overruled |= self._against_the_rules(scope)
            self._refuse_vanished(scope, found, inside)
        return Survey(scope=scope, found=found, known=inside, overruled=frozenset(overruled))

    def _folder(
        self, scope: Scope, sources: Iterable[Source], known: dict[str, KnownDocument]
    ) -> ScanResult:
        root = scope.source.root
        claimed = claims(scope.source, sources, self._knowledge)
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
            raise _vanished(root, len(known))
        return found

    def _refuse_vanished(
        self, scope: Scope, found: ScanResult, known: dict[str, KnownDocument]
    ) -> None:
        gone = known and not found.entries and not found.unreadable and not found.skips.total
        if gone and not self._request.force and _is_empty(scope.source.root):
            raise _vanished(scope.source.root, len(known))

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


def claims(source: Source, others: Iterable[Source], knowledge: Knowledge) -> dict[str, str]:
    """Return by absolute path what lies below a source's root but belongs to another source."""
    claimed: dict[str, str] = {}
    for other in others:
        if not is_below(other.root, source.root):
            continue
        if other.kind == "files":
            for path in knowledge.known(other.name):
                claimed[os.path.join(other.root, path)] = "other_source"  # noqa: PTH118 - a plain string
        else:
            claimed[other.root] = "other_source"
    return claimed


def remembered(knowledge: Knowledge, source: Source) -> set[str]:
    """Return the files of a source that were named although ignore rules leave them out."""
    stored = knowledge.get_value(_memory_name(source))
    return set(json.loads(stored)) if stored else set()


def keep_memory(library: LibraryWriter, survey: Survey) -> None:
    """Store which files of a source were named although ignore rules leave them out."""
    source, found = survey.scope.source, survey.found
    before, now = remembered(library, source), set(survey.overruled)
    if now and survey.scope.whole:
        now &= {entry.path for entry in found.entries} | set(found.unreadable)
    if now != before:
        library.set_value(_memory_name(source), json.dumps(sorted(now)) if now else None)


def _memory_name(source: Source) -> str:
    return f"named_files:{compute_digest(source.name)}"


def _is_empty(root: str) -> bool:
    try:
        names: Sequence[str] = os.listdir(root)  # noqa: PTH208 - only whether there is any name
    except OSError:
        return True
    return not names


def _vanished(root: str, count: int) -> IoError:
    cause = (
        f"the folder is empty or missing, but {count} documents are known in it; "
        "`--force` removes them"
    )
    return build_read_error(root, cause)


@dataclass(slots=True)
class Surveys:
    """What could be looked at, and the roots that could not."""

    scopes: Sequence[Scope]
    looked: list[Survey] = field(default_factory=list)
    refused: list[FileOutcome] = field(default_factory=list)


def survey_all(
    scopes: Sequence[Scope],
    request: IngestRequest,
    knowledge: Knowledge,
    scanner: FileScanner,
    tick: Callable[[], None],
) -> Surveys:
    """Return every scope beside what is known of it.

    Raises:
        IoError: A root cannot be read or is suddenly empty; when the caller named none and others
            can be read, it becomes an item instead.
        TooLarge: The only file named is above the size limit.
        UnsupportedMedia: No parser takes the only file named.
    """
    sources = _all_sources(scopes, knowledge)
    surveyor = Surveyor(request, knowledge, scanner, tick)
    surveys = Surveys(scopes)
    for scope in scopes:
        try:
            surveys.looked.append(surveyor.look(scope, sources))
        except IoError as failure:
            if request.paths or len(scopes) == 1:
                raise
            surveys.refused.append(_refused(scope, failure))
    if not surveys.looked and surveys.refused:
        error = surveys.refused[0].error
        assert error is not None, "a refused root has its error"
        raise error
    if only_file(request, scopes):
        _refuse_unfit(surveys.looked[0], request)
    return surveys


def only_file(request: IngestRequest, scopes: Sequence[Scope]) -> bool:
    """Return whether the caller named one file and nothing else."""
    return len(request.paths) == 1 and len(scopes) == 1 and scopes[0].files is not None


def _all_sources(scopes: Sequence[Scope], knowledge: Knowledge) -> list[Source]:
    by_name = {source.name: source for source in knowledge.sources()}
    by_name.update((scope.source.name, scope.source) for scope in scopes)
    return list(by_name.values())


def _refused(scope: Scope, failure: IoError) -> FileOutcome:
    return FileOutcome(
        kind=ItemKind.ERROR, doc_path=scope.place, source=scope.source.name, error=failure
    )


def _refuse_unfit(survey: Survey, request: IngestRequest) -> None:
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

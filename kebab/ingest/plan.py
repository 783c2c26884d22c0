"""The comparison of what is on disk with what the library knows: a run's work, decided.

Unchanged files cost no more than the scan's `stat`. A file is hashed only when its stamp differs,
when it was written so close to the last run that a later edit could hide behind the same stamp,
or when it may be a file that moved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kebab.core.rows import FileStamp, Known, Source
from kebab.ingest.moves import Gone, Work, file_hash, match
from kebab.ingest.outcome import ItemKind
from kebab.ingest.survey import Survey
from kebab.source.walk import FileEntry

RACY_NS = 2_000_000_000
"""The coarsest time stamp that a file system in use gives."""


@dataclass(slots=True)
class Plan:
    """What a run will do."""

    work: list[Work] = field(default_factory=list)
    touched: list[tuple[Known, FileStamp]] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)
    unchanged: int = 0
    files: int = 0
    """How many files were compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How files are compared: `recipes` by media type, `since` by source name, in nanoseconds."""

    recipes: Mapping[str, str]
    since: Mapping[str, int]
    force: bool
    tick: Callable[[], bool]
    """Called between files; True stops the comparison."""


def compare(surveys: list[Survey], how: Comparison) -> Plan:
    """Return the work that makes the library tell what is on disk."""
    plan = Plan()
    seen: set[tuple[str, str]] = set()
    for survey in surveys:
        _compare_one(survey, how, plan, seen)
    if plan.gone:
        match(plan.work, plan.gone, how.tick)
    return plan


def stamp_of(entry: FileEntry) -> FileStamp:
    """Return the stamp that the scan saw."""
    return FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)


def _compare_one(survey: Survey, how: Comparison, plan: Plan, seen: set[tuple[str, str]]) -> None:
    source = survey.scope.source
    missing = dict(survey.known)
    for entry in survey.found.entries:
        known = missing.pop(entry.path, None)
        if (source.name, entry.path) in seen:
            continue
        seen.add((source.name, entry.path))
        plan.files += 1
        if known is None:
            plan.work.append(Work(kind=ItemKind.NEW, source=source, entry=entry))
        elif _same_stamp(known, entry, how, source):
            plan.unchanged += 1
        elif not how.tick():
            _settle(plan, known, entry, how, source)
    plan.gone += _gone(survey, missing)


def _same_stamp(known: Known, entry: FileEntry, how: Comparison, source: Source) -> bool:
    """Return whether a file is as it was, by its stamp alone."""
    return (
        known.mtime_ns == entry.mtime_ns
        and known.size == entry.size
        and known.inode == entry.inode
        and known.recipe == how.recipes.get(entry.media)
        and entry.mtime_ns < how.since.get(source.name, 0) - RACY_NS
        and not how.force
    )


def _settle(plan: Plan, known: Known, entry: FileEntry, how: Comparison, source: Source) -> None:
    """Hash a file whose stamp leaves a doubt."""
    same_recipe = known.recipe == how.recipes.get(entry.media) and not how.force
    if same_recipe and known.size == entry.size and file_hash(entry.absolute) == known.content_hash:
        plan.unchanged += 1
        stamp = stamp_of(entry)
        if stamp != FileStamp(size=known.size, mtime_ns=known.mtime_ns, inode=known.inode):
            plan.touched.append((known, stamp))
    else:
        work = Work(kind=ItemKind.UPDATED, source=source, entry=entry, known=known)
        plan.work.append(work)


def _gone(survey: Survey, missing: dict[str, Known]) -> list[Gone]:
    unreadable = tuple(survey.found.unreadable)
    folders = tuple(path for path in unreadable if path.endswith("/"))
    return [
        Gone(source=survey.scope.source, known=known)
        for path, known in missing.items()
        if path not in unreadable and not path.startswith(folders)
    ]

"""Checks the stores and the indexed files."""

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab.core.documents import SourceCounts
from kebab.core.ids import Key, Keys, find_missing_keys, find_repeated_keys
from kebab.doctor.findings import (
    Finding,
    fail,
    format_count,
    skip,
    succeed,
    suggest_move,
    warn,
)
from kebab.wire.coverage import Coverage, describe_gaps

REWRITE = "kebab ingest"
"""The fix for all other damage: it finds lost and damaged vectors and computes them again."""
_MAX_QUOTED = 3


@dataclass(frozen=True, slots=True)
class SchemaVersions:
    """The schema version of this build, and that of the database; None without a database."""

    expected: int
    found: int | None


@dataclass(frozen=True, slots=True)
class KnownTerm:
    """A word of a stored passage, and whether the full-text index finds it."""

    term: str
    found: bool


@dataclass(frozen=True, slots=True)
class ReviewFile:
    """The file with the stored runs of reviews, which is apart from the index."""

    path: Path
    bytes: int
    runs: int
    faults: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageInputs:
    """The inputs of the checks of the stores; every callable may raise a signal.

    `find_damage` returns the faults of the database. `find_known_term` returns None when nothing
    is indexed. `list_vector_keys` returns the key of every vector row, repeated keys included;
    `list_expected_keys` the keys that have a vector according to the database; and
    `list_deleted_keys` those whose rows wait for deletion. `find_damaged_keys` returns the keys of
    rows whose vector is damaged. `reviews` is the file that `read_reviews` reads, which returns
    None without one.
    """

    path: Path
    read_schema: Callable[[], SchemaVersions]
    find_damage: Callable[[], Sequence[str]]
    find_known_term: Callable[[], KnownTerm | None]
    list_vector_keys: Callable[[], Keys]
    list_expected_keys: Callable[[], Keys]
    list_deleted_keys: Callable[[], Collection[Key]]
    find_damaged_keys: Callable[[], Collection[Key]] = frozenset
    reviews: Path
    read_reviews: Callable[[], ReviewFile | None]


def check_database(storage: StorageInputs) -> Finding:
    """Check that there is a database that this build can read."""
    schema = storage.read_schema()
    if schema.found is None:
        return warn(f"nothing indexed yet: {storage.path}", "kebab ingest FOLDER")
    if schema.found < schema.expected:
        summary = f"schema {schema.found} needs a migration to {schema.expected}"
        return fail(summary, "kebab ingest")
    if schema.found > schema.expected:
        summary = f"written by a newer kebab, schema {schema.found}"
        return fail(f"{summary}, this build reads {schema.expected}", "pip install --upgrade kebab")
    return succeed(f"schema {schema.found}: {storage.path}")


def check_integrity(storage: StorageInputs) -> Finding:
    """Check the integrity of the SQLite file."""
    if faults := storage.find_damage():
        return fail(
            f"the database is damaged: {'; '.join(faults[:_MAX_QUOTED])}",
            suggest_move(storage.path.parent),
        )
    return succeed("the database is intact")


def check_full_text(storage: StorageInputs) -> Finding:
    """Check that the full-text index finds a word of a stored passage."""
    known = storage.find_known_term()
    if known is None:
        return skip("no passage to search for")
    if not known.found:
        return fail(
            f"the full-text index does not find a known word: {known.term}",
            suggest_move(storage.path.parent),
        )
    return succeed(f"the full-text index finds a known word: {known.term}")


def check_vectors(storage: StorageInputs) -> Finding:
    """Check that the vector table has exactly one row for each vector of the database."""
    expected, rows = storage.list_expected_keys(), storage.list_vector_keys()
    lacking, extra = find_missing_keys(expected, rows), find_missing_keys(rows, expected)
    # An ingest may add and remove vectors between both reads; what it changed is no fault.
    now = set(storage.list_expected_keys() if lacking or extra else ())
    missing = len(now.intersection(lacking))
    repeats = len(find_repeated_keys(rows))
    orphans = len(set(extra) - now - set(storage.list_deleted_keys()))
    if missing:
        return fail(f"{format_count(missing, 'vector')} of {len(expected):,} missing", REWRITE)
    if damaged := len(storage.find_damaged_keys()):
        return fail(f"{format_count(damaged, 'vector')} of {len(expected):,} damaged", REWRITE)
    if repeats:
        return fail(f"{format_count(repeats, 'vector')} stored more than once", REWRITE)
    if orphans:
        return warn(f"{format_count(orphans, 'vector')} without a passage", REWRITE)
    return succeed(f"{format_count(len(expected), 'vector')}, each with its passage")


def check_reviews(storage: StorageInputs) -> Finding:
    """Check the file with the stored reviews."""
    file = storage.read_reviews()
    if file is None:
        return succeed("no review is stored")
    if file.faults:
        faults = "; ".join(file.faults[:_MAX_QUOTED])
        return fail(f"the stored reviews are damaged: {faults}", suggest_move(file.path))
    return succeed(f"{format_count(file.runs, 'run')} stored, {file.bytes:,} bytes: {file.path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInputs:
    """The inputs of the checks of the documents.

    `has_model` returns whether an ingest can compute vectors now. `measure_coverage` returns None
    without an index that can be read.
    """

    count_pending: Callable[[], int]
    has_model: Callable[[], bool] = lambda: True
    measure_coverage: Callable[[], Coverage | None]
    list_lost_sources: Callable[[], Sequence[SourceCounts]] = tuple


def check_pending(documents: DocumentInputs) -> Finding:
    """Check that every passage has a vector."""
    if count := documents.count_pending():
        summary = f"{format_count(count, 'passage')} without a vector, found by words only"
        return warn(summary, "kebab ingest" if documents.has_model() else "kebab model pull")
    return succeed("every passage has a vector")


def check_sources(documents: DocumentInputs) -> Finding:
    """Check that the folder of every source exists, and is not suddenly empty."""
    lost = documents.list_lost_sources()
    if not lost:
        return succeed("the folder of every source is there")
    first = lost[0]
    others = f", and {len(lost) - 1:,} more" if len(lost) > 1 else ""
    count = format_count(first.documents, "document")
    summary = f"a folder with {count} in the index is gone or empty: {first.source.root}{others}"
    return warn(summary, f"kebab source rm {shlex.quote(first.source.name)}")


def check_files(documents: DocumentInputs) -> Finding:
    """Check that every file is read as it is now; those of lost folders are left out."""
    coverage, lost = documents.measure_coverage(), 0
    if coverage is not None and coverage.gone:
        lost = min(coverage.gone, sum(one.documents for one in documents.list_lost_sources()))
    if gaps := describe_gaps(coverage, "healthy", lost=lost):
        return warn(gaps, "kebab ingest")
    if coverage is None or coverage.files == lost:
        return skip("no document has a file")
    subject = "every other file" if lost else "every file"
    return succeed(f"{subject} is read as it is now: {format_count(coverage.files - lost, 'file')}")

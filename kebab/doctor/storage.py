"""Checks the stores and the indexed files."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kebab.core.ids import Key, Keys, find_missing_keys, find_repeated_keys
from kebab.doctor.findings import Finding, fail, format_count, skip, succeed, warn

REBUILD = "kebab reset"
"""What a damaged store comes to: everything in it can be built again from the files."""
REWRITE = "kebab ingest --force"
"""What mends everything beside a database that is whole: the vectors are computed again."""
_QUOTED = 3


@dataclass(frozen=True, slots=True)
class SchemaVersions:
    """The schema version this build wants, and the one that is there; None without a database."""

    expected: int
    found: int | None


@dataclass(frozen=True, slots=True)
class KnownTerm:
    """A word that stands in a stored passage, and whether the full-text index finds it there."""

    term: str
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageInputs:
    """What to ask about the stores; every callable may raise a signal instead of answering.

    `check_integrity` returns what is wrong with the database, a sentence each. `known_term` returns None
    when nothing is indexed. `stored` gives the key of every vector row, repeated keys included,
    `stamped` the keys that the database believes to have one, `garbage` those whose rows wait for
    deletion.
    """

    path: Path
    schema: Callable[[], SchemaVersions]
    integrity: Callable[[], Sequence[str]]
    known_term: Callable[[], KnownTerm | None]
    stored: Callable[[], Keys]
    stamped: Callable[[], Keys]
    garbage: Callable[[], Collection[Key]]


def check_database(storage: StorageInputs) -> Finding:
    """Look whether there is a database that this build can read."""
    schema = storage.schema()
    if schema.found is None:
        return warn(f"nothing indexed yet: {storage.path}", "kebab ingest FOLDER")
    if schema.found < schema.expected:
        return fail(
            f"schema {schema.found} waits for its migration to {schema.expected}", "kebab ingest"
        )
    if schema.found > schema.expected:
        return fail(
            f"written by a newer kebab, schema {schema.found}, this build reads {schema.expected}",
            "pip install --upgrade kebab",
        )
    return succeed(f"schema {schema.found}: {storage.path}")


def check_integrity(storage: StorageInputs) -> Finding:
    """Look whether SQLite finds its file whole."""
    if complaints := storage.integrity():
        return fail(f"the database is damaged: {'; '.join(complaints[:_QUOTED])}", REBUILD)
    return succeed("the database is whole")


def check_full_text(storage: StorageInputs) -> Finding:
    """Look whether the full-text index finds a word that is there."""
    known = storage.known_term()
    if known is None:
        return skip("no passage to look for")
    if not known.found:
        return fail(
            f"the full-text index misses a word that a passage holds: {known.term}",
            REWRITE,
        )
    return succeed(f"the full-text index finds a known word: {known.term}")


def check_vectors(storage: StorageInputs) -> Finding:
    """Look whether the vector table and the database agree, row by row."""
    rows, stamped = storage.stored(), storage.stamped()
    missing = len(find_missing_keys(stamped, rows))
    doubled = len(find_repeated_keys(rows))
    orphans = len(set(find_missing_keys(rows, stamped)).difference(storage.garbage()))
    if missing:
        return fail(f"{format_count(missing, 'vector')} of {len(stamped):,} lost", REWRITE)
    if doubled:
        return fail(f"{format_count(doubled, 'vector')} stored more than once", REWRITE)
    if orphans:
        return warn(f"{format_count(orphans, 'vector')} of no passage", REWRITE)
    return succeed(f"{format_count(len(stamped), 'vector')}, each with its passage")


SAMPLE = 2_000
"""The most files that are looked at: a look costs about ten microseconds."""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file as it was when it was indexed."""

    path: Path
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInputs:
    """What to ask about the documents.

    `check_files` returns up to that many documents that have a file, spread over all of them.
    """

    pending: Callable[[], int]
    files: Callable[[int], Sequence[IndexedFile]]


def check_pending(corpus: DocumentInputs) -> Finding:
    """Look whether passages still wait for their vector."""
    count = corpus.pending()
    if count:
        return warn(
            f"{format_count(count, 'passage')} found by words only, no vector", "kebab ingest"
        )
    return succeed("no passage waits for a vector")


def check_files(corpus: DocumentInputs) -> Finding:
    """Look whether the files are still what was indexed."""
    seen = corpus.files(SAMPLE)
    if not seen:
        return skip("no document has a file")
    states = [(_compare_file(file), file) for file in seen]
    tally = Counter(state for state, _ in states)
    looked = f"of {format_count(len(seen), 'file')} looked at"
    if tally["same"] == len(seen):
        return succeed(f"all {looked.removeprefix('of ')} are as they were indexed")
    example = next(file.path for state, file in states if state != "same")
    found = ", ".join(
        f"{tally[state]:,} {state}" for state in ("changed", "gone", "unreadable") if tally[state]
    )
    return warn(f"{found} {looked}, for instance: {example}", "kebab ingest")


def _compare_file(file: IndexedFile) -> Literal["same", "changed", "gone", "unreadable"]:
    try:
        now = file.path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except (OSError, ValueError):
        return "unreadable"
    same = (now.st_size, now.st_mtime_ns) == (file.size, file.mtime_ns)
    return "same" if same else "changed"

"""Checks the stores and the indexed files."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kebab.core.ids import Key, Keys, lacking, repeated
from kebab.doctor.findings import Finding, counted, failure, skipped, well, worry

REBUILD = "kebab reset"
"""What a damaged store comes to: everything in it can be built again from the files."""
REWRITE = "kebab ingest --force"
"""What mends everything beside a database that is whole: the vectors are computed again."""
_QUOTED = 3


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema version this build wants, and the one that is there; None without a database."""

    expected: int
    found: int | None


@dataclass(frozen=True, slots=True)
class KnownTerm:
    """A word that stands in a stored passage, and whether the full-text index finds it there."""

    term: str
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """What to ask about the stores; every callable may raise a signal instead of answering.

    `integrity` returns what is wrong with the database, a sentence each. `known_term` returns None
    when nothing is indexed. `stored` gives the key of every vector row, repeated keys included,
    `stamped` the keys that the database believes to have one, `garbage` those whose rows wait for
    deletion.
    """

    path: Path
    schema: Callable[[], Schema]
    integrity: Callable[[], Sequence[str]]
    known_term: Callable[[], KnownTerm | None]
    stored: Callable[[], Keys]
    stamped: Callable[[], Keys]
    garbage: Callable[[], Collection[Key]]


def database(storage: Storage) -> Finding:
    """Look whether there is a database that this build can read."""
    schema = storage.schema()
    if schema.found is None:
        return worry(f"nothing indexed yet: {storage.path}", "kebab ingest FOLDER")
    if schema.found < schema.expected:
        return failure(
            f"schema {schema.found} waits for its migration to {schema.expected}", "kebab ingest"
        )
    if schema.found > schema.expected:
        return failure(
            f"written by a newer kebab, schema {schema.found}, this build reads {schema.expected}",
            "pip install --upgrade kebab",
        )
    return well(f"schema {schema.found}: {storage.path}")


def integrity(storage: Storage) -> Finding:
    """Look whether SQLite finds its file whole."""
    if complaints := storage.integrity():
        return failure(f"the database is damaged: {'; '.join(complaints[:_QUOTED])}", REBUILD)
    return well("the database is whole")


def full_text(storage: Storage) -> Finding:
    """Look whether the full-text index finds a word that is there."""
    known = storage.known_term()
    if known is None:
        return skipped("no passage to look for")
    if not known.found:
        return failure(
            f"the full-text index misses a word that a passage holds: {known.term}",
            REWRITE,
        )
    return well(f"the full-text index finds a known word: {known.term}")


def vectors(storage: Storage) -> Finding:
    """Look whether the vector table and the database agree, row by row."""
    rows, stamped = storage.stored(), storage.stamped()
    missing = len(lacking(stamped, rows))
    doubled = len(repeated(rows))
    orphans = len(set(lacking(rows, stamped)).difference(storage.garbage()))
    if missing:
        return failure(f"{counted(missing, 'vector')} of {len(stamped):,} lost", REWRITE)
    if doubled:
        return failure(f"{counted(doubled, 'vector')} stored more than once", REWRITE)
    if orphans:
        return worry(f"{counted(orphans, 'vector')} of no passage", REWRITE)
    return well(f"{counted(len(stamped), 'vector')}, each with its passage")


SAMPLE = 2_000
"""The most files that are looked at: a look costs about ten microseconds."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A file as it was when it was indexed."""

    path: Path
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What to ask about the documents.

    `files` returns up to that many documents that have a file, spread over all of them.
    """

    pending: Callable[[], int]
    files: Callable[[int], Sequence[Indexed]]


def pending(corpus: Corpus) -> Finding:
    """Look whether passages still wait for their vector."""
    count = corpus.pending()
    if count:
        return worry(f"{counted(count, 'passage')} found by words only, no vector", "kebab ingest")
    return well("no passage waits for a vector")


def files(corpus: Corpus) -> Finding:
    """Look whether the files are still what was indexed."""
    seen = corpus.files(SAMPLE)
    if not seen:
        return skipped("no document has a file")
    states = [(_state(file), file) for file in seen]
    tally = Counter(state for state, _ in states)
    looked = f"of {counted(len(seen), 'file')} looked at"
    if tally["same"] == len(seen):
        return well(f"all {looked.removeprefix('of ')} are as they were indexed")
    example = next(file.path for state, file in states if state != "same")
    found = ", ".join(
        f"{tally[state]:,} {state}" for state in ("changed", "gone", "unreadable") if tally[state]
    )
    return worry(f"{found} {looked}, for instance: {example}", "kebab ingest")


def _state(file: Indexed) -> Literal["same", "changed", "gone", "unreadable"]:
    try:
        now = file.path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except (OSError, ValueError):
        return "unreadable"
    same = (now.st_size, now.st_mtime_ns) == (file.size, file.mtime_ns)
    return "same" if same else "changed"

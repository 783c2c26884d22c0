"""Whether what is indexed is what lies on the disk."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kebab.doctor.check import Finding, counted, skipped, well, worry

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

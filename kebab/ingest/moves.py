"""Files that moved: a new path with the content of a document whose own path is gone."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kebab.core.ids import content_hash
from kebab.core.rows import Known, Source
from kebab.ingest.outcome import ItemKind
from kebab.source.walk import FileEntry


@dataclass(slots=True, kw_only=True)
class Work:
    """A file that must be read and stored; `known` is the document that it becomes."""

    kind: ItemKind
    source: Source
    entry: FileEntry
    known: Known | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A document whose file is no longer where it was."""

    source: Source
    known: Known


def match(work: list[Work], gone: list[Gone], tick: Callable[[], bool]) -> None:
    """Turn new files into moved documents, in place; each document is claimed at most once.

    Only files of a size that went missing are read. Among several candidates the same inode goes
    before the same name, and that before the order of paths, so the outcome never varies.
    """
    sizes = {one.known.size for one in gone}
    lost: dict[str, list[Gone]] = defaultdict(list)
    for one in sorted(gone, key=lambda one: (one.source.name, one.known.path)):
        lost[one.known.content_hash].append(one)
    hashed: dict[str, list[Work]] = defaultdict(list)
    for file in work:
        if file.kind is ItemKind.NEW and file.entry.size in sizes and not tick():
            found = file_hash(file.entry.absolute)
            if found in lost:
                hashed[found].append(file)
    for digest, files in hashed.items():
        for rank in (_same_file, _same_name, _any):
            _pair(files, lost[digest], rank)
    moved = {one.known.doc_id for one in work if one.kind is ItemKind.MOVED and one.known}
    gone[:] = [one for one in gone if one.known.doc_id not in moved]


def _pair(files: list[Work], lost: list[Gone], fits: Callable[[Work, Gone], bool]) -> None:
    for file in files:
        if file.kind is not ItemKind.NEW:
            continue
        match = next((one for one in lost if fits(file, one)), None)
        if match is not None:
            lost.remove(match)
            file.kind, file.known = ItemKind.MOVED, match.known


def _same_file(file: Work, gone: Gone) -> bool:
    return file.entry.inode == gone.known.inode


def _same_name(file: Work, gone: Gone) -> bool:
    return file.entry.path.rpartition("/")[2] == gone.known.path.rpartition("/")[2]


def _any(file: Work, gone: Gone) -> bool:
    del file, gone
    return True


def file_hash(absolute: str) -> str | None:
    """Return the hash of a file's bytes, None when it cannot be read."""
    try:
        return content_hash(Path(absolute).read_bytes())
    except OSError:
        return None

"""Declares what the index covers, and says in words what it lacks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from kebab.wire.record import Count


class Indexing(Struct, frozen=True, kw_only=True):
    """An ingest that is running now in another process."""

    pid: int | None
    started_at: str
    done: int | None
    """How many files or passages it has finished; null while it scans folders."""
    total: int | None
    """How many files or passages it has to do."""
    unit: Literal["files", "passages"] | None
    """The unit of `done` and `total`: `files` while they are read, then `passages` that get
    vectors."""
    per_second: float | None = None
    """The number of files or passages that it finished in a second of the last minute; null before
    it is known."""
    seconds_left: float | None = None
    """The time until `done` is `total` at this rate; null before it is known."""


INDEXING_UNITS: dict[str | None, Literal["files", "passages"]] = {
    "files": "files",
    "chunks": "passages",
}
"""The unit of a running ingest by that of its progress."""

_MANY_SECONDS = 90


def format_left(seconds: float) -> str:
    """Return a time without more digits than an estimate is worth: `8 s`, `4 min`, `1 h 5 min`."""
    if seconds < _MANY_SECONDS:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def format_indexing(indexing: Indexing) -> str:
    """Return the progress in words: `2,695 of 24,020 passages, pid 7`."""
    pid = f"pid {indexing.pid}"
    if indexing.done is None or indexing.total is None:
        return f"scanning folders, {pid}"
    return f"{indexing.done:,} of {indexing.total:,} {indexing.unit}, {pid}"


MOST_NAMED = 2
"""How many files are named that could not be read, or of which only a part is searched."""


class LeftOutText(Struct, frozen=True, kw_only=True):
    """Text of the files that is in no passage, because their parsers left it out."""

    reason: str
    """What it is, e.g. `navigation` or `comments and markup`."""
    documents: Count
    """The number of documents that have such text."""
    words: Count
    """The number of its words; 0 where nobody knows it, such as of pages without text."""
    terms: list[str] = msgspec.field(default_factory=list)
    """Words of the query that may be in it, and are in no passage."""


def merge_left_out(found: Iterable[LeftOutText]) -> list[LeftOutText]:
    """Return the texts with those of one kind as one."""
    merged: dict[str, LeftOutText] = {}
    for one in found:
        known = merged.get(one.reason)
        if known is None:
            merged[one.reason] = one
        else:
            merged[one.reason] = msgspec.structs.replace(
                known,
                documents=known.documents + one.documents,
                words=known.words + one.words,
                terms=list(dict.fromkeys([*known.terms, *one.terms])),
            )
    return list(merged.values())


class Coverage(Struct, frozen=True, kw_only=True):
    """What the index holds of the searched sources, or of the folder that a filter names."""

    complete: bool
    """Whether every known file is read as it is now, every folder was looked at, and no vector or
    part of a document is missing."""
    files: Count
    """The number of known files, read or not, without new ones."""
    unread: Count
    """The number of known files that are not read yet."""
    failed: Count
    """The number of files that the last run could not read."""
    failed_examples: list[str] = msgspec.field(default_factory=list)
    """The paths of a few of them. A file that an ignore file names is none of them."""
    changed: Count
    """The number of documents whose file changed since, of those that were compared."""
    new: Count
    """The number of files that are in the folders and were in no scan."""
    gone: Count
    """The number of documents whose file is gone, of those that were compared."""
    checked: Count
    """The number of documents that were compared with their files. A reply that says that nothing
    was found compares more of them than another."""
    checked_at: str
    """The time of the comparison, RFC 3339. With documents of object storage it is when the store
    was last listed, because only the downloaded files are compared later."""
    unchecked_folders: Count
    """The number of folders that were not looked at for new files, because that takes too long."""
    unlisted: list[str]
    """The folders whose files are not all known: their first scan did not finish, or it was made
    with other settings or by an older version."""
    pending_vectors: Count
    """The number of passages without a vector; words find them."""
    partial: Count
    """The number of documents of which only a part is searched."""
    partial_examples: list[str] = msgspec.field(default_factory=list)
    """The paths of a few of them."""
    partial_reasons: list[str] = msgspec.field(default_factory=list)
    """What is not searched of each of `partial_examples`."""
    left_out: list[LeftOutText] = msgspec.field(default_factory=list)
    indexing: Indexing | None
    """The ingest that runs now; null when there is none."""
    bases: list[str] | UnsetType = UNSET
    """The published bases that were searched, and whose files are counted too; absent without."""
    unread_bases: list[str] | UnsetType = UNSET
    """The bases that could not be read; `local` is the knowledge base itself."""


COUNTS = (
    *("files", "unread", "failed", "changed", "new", "gone", "checked"),
    *("unchecked_folders", "pending_vectors", "partial"),
)
"""The fields that are added where several bases are searched."""
EXAMPLES = ("failed_examples", "partial_examples", "partial_reasons")
"""The fields that list a few of what is counted."""

Statement: TypeAlias = Literal["absent", "convincing", "lines", "healthy"]
"""What a reply says: that a word is absent, that nothing is convincing, that no line of the files
matches, or that the knowledge base is healthy."""


def _list_gaps(
    coverage: Coverage, statement: Statement, *, by_words: bool, lost: int = 0
) -> list[str]:
    gone = coverage.gone - lost
    reads_files, reads_words = statement == "lines", by_words or statement in ("absent", "lines")
    unchecked = 0 if reads_files else coverage.files - coverage.unread - coverage.failed
    unchecked = max(0, unchecked - coverage.checked)
    whole = pluralize(coverage.files, "file")
    examples = coverage.failed_examples
    named = _name_some(examples, coverage.failed - len(examples))
    failed = named if examples else pluralize(coverage.failed, "file")
    indexing = ""
    # Its progress, where the unread files do not show it; words do not wait for vectors.
    if coverage.indexing and not (reads_words and coverage.indexing.unit == "passages"):
        pid = f"pid {coverage.indexing.pid}"
        state = pid if coverage.unread else format_indexing(coverage.indexing)
        indexing = f"an ingest is running: {state}"
    phrases = (
        (coverage.unread_bases, f"{_name_some(coverage.unread_bases or [])} could not be read"),
        (indexing, indexing),
        (coverage.unlisted, f"not all files of {_name_some(coverage.unlisted)} are known"),
        (coverage.unread, f"{coverage.unread:,} of {whole} {_verb(coverage.unread)} not read yet"),
        (
            coverage.new,
            f"{pluralize(coverage.new, 'new file')} {_verb(coverage.new)} not read yet",
        ),
        (coverage.failed, f"{failed} could not be read"),
        (
            coverage.changed and not reads_files,
            f"{pluralize(coverage.changed, 'file')} changed since the last scan",
        ),
        (gone and statement == "healthy", f"{pluralize(gone, 'file')} {_verb(gone)} gone"),
        (unchecked, f"{unchecked:,} of {whole} were not compared with the disk"),
        (
            coverage.unchecked_folders,
            f"{pluralize(coverage.unchecked_folders, 'folder')} not looked at for new files",
        ),
        (
            coverage.pending_vectors and statement == "convincing" and not by_words,
            f"{pluralize(coverage.pending_vectors, 'passage')} not embedded yet",
        ),
        (
            coverage.partial and statement != "healthy",
            f"perhaps in the part of {_name_partial(coverage)} that is not searched",
        ),
    )
    gaps = [phrase for is_true, phrase in phrases if is_true]
    return gaps if gaps or coverage.files or coverage.gone else ["no folder is known"]


def describe_gaps(
    coverage: Coverage | None, statement: Statement, *, by_words: bool = False, lost: int = 0
) -> str:
    """Return what keeps a statement from being made; empty when the index covers it.

    Args:
        coverage: What the index covers; None where no index is searched.
        statement: The statement.
        by_words: Whether words alone were searched, so that vectors do not matter.
        lost: How many of the files that are gone are stated elsewhere.
    """
    if coverage is None or coverage.complete:
        return ""
    return "; ".join(_list_gaps(coverage, statement, by_words=by_words, lost=lost))


def describe_partial(coverage: Coverage | None) -> str:
    """Return the end of a sentence that names the documents of which a part is searched."""
    return f"; in part: {_name_partial(coverage)}" if coverage and coverage.partial else ""


def describe_left_out(coverage: Coverage) -> str:
    """Return the end of a sentence that says what parsers left out, empty for nothing."""
    parts = [
        f"{pluralize(one.words, 'word')} of {one.reason}" if one.words else one.reason
        for one in coverage.left_out
    ]
    return f"; not searched: {', '.join(parts)}" if parts else ""


def _name_partial(coverage: Coverage) -> str:
    """Return the documents of which only a part is searched; of one also what is not."""
    more = coverage.partial - len(coverage.partial_examples)
    named = _name_some(coverage.partial_examples, more)
    reasons = coverage.partial_reasons if coverage.partial == 1 else []
    return f"{named} ({reasons[0]})" if reasons else named


def describe_known_gaps(coverage: Coverage | None, shown: Iterable[str] = ()) -> str:
    """Return which files are known to be missing or outdated, for a reply with results.

    Bases that could not be read are named in `degraded`. Files that could not be read were named by
    the ingest, and are named again where one is `shown` by its name.
    """
    if coverage is None or coverage.complete:
        return ""
    known = msgspec.structs.replace(
        coverage,
        failed=0 if {*shown}.isdisjoint(coverage.failed_examples) else coverage.failed,
        checked=coverage.files,
        unchecked_folders=0,
        partial=0,
        pending_vectors=0,
        unread_bases=UNSET,
    )
    return "; ".join(_list_gaps(known, "healthy", by_words=True))


def name_omitted(coverage: Coverage, omitted: Mapping[str, Sequence[str]]) -> Coverage:
    """Return what is covered, with words of a query that are only in text that is left out.

    `omitted` says of each word what that text is.
    """
    named = [
        msgspec.structs.replace(
            one, terms=[term for term, reasons in omitted.items() if one.reason in reasons]
        )
        for one in coverage.left_out
    ]
    return msgspec.structs.replace(coverage, left_out=named)


def describe_left_out_terms(coverage: Coverage | None) -> str:
    """Return which words of the query are only in text that is not searched; empty for none."""
    found: dict[str, list[str]] = {}
    for one in coverage.left_out if coverage else ():
        for term in one.terms:
            found.setdefault(term, []).append(one.reason)
    parts = [f"{term} ({' or '.join(reasons)})" for term, reasons in found.items()]
    return f"perhaps in text that is not searched: {', '.join(parts)}" if parts else ""


def describe_absent_words(words: str, coverage: Coverage | None, place: str = "your notes") -> str:
    """Return that words occur nowhere, or what else may hold them; `place` is what was searched."""
    gaps = describe_gaps(coverage, "absent")
    place = "what was searched" if coverage and coverage.bases else place
    return (
        f"not in the files that are read: {words} ({gaps})" if gaps else f"not in {place}: {words}"
    )


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun."""
    ending = "" if count == 1 else "es" if noun.endswith("x") else "s"
    return f"{count:,} {noun}{ending}"


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"


def _name_some(names: Sequence[str], more: int = 0) -> str:
    shown = [f"`{name}`" for name in names[:MOST_NAMED]]
    more += len(names) - len(shown)
    *others, last = [*shown, f"{more:,} more"] if more else shown or [""]
    return f"{', '.join(others)} and {last}" if others else last

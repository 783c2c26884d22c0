"""Stores a text without a file of its own as a Markdown file, so that it can be cited."""

import json
import os
import re
import tempfile
import unicodedata
from dataclasses import replace
from pathlib import Path

from kebab.core.documents import STDIN, Source
from kebab.core.ids import compute_digest
from kebab.core.progress import Cancel, ProgressCallback, ProgressKind, ignore_progress
from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.errors.system import translate_os_errors
from kebab.ingest.job import (
    FileOutcome,
    IngestJob,
    IngestOutcome,
    IngestPorts,
    ItemKind,
    ProgressReporter,
    TextNote,
)
from kebab.ingest.run import run_ingest

_FRONT_MATTER = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<block>(?:.*\n)*?)(?P=fence)[ \t]*(?:\r?\n|\Z)"
)
_OWN_FIELDS = re.compile(r"^(?:title|source_uri)[ \t]*[:=].*\n", re.MULTILINE)
_NOT_A_WORD = re.compile(r"[\W_]+")
_OWN_FILE_NAME = re.compile(r".+-[0-9a-f]{12}\.md|\.[a-z0-9_]{8}")
_SLUG_BYTES = 80


def ingest_text(
    note: TextNote,
    job: IngestJob,
    ports: IngestPorts,
    report: ProgressCallback = ignore_progress,
    cancel: Cancel | None = None,
) -> IngestOutcome:
    """Store a text as a document; the same title and URI again replace its content.

    A dry run compares with the stored file and writes nothing. When the text cannot be parsed, the
    folder is restored.

    Raises:
        IoError: The text cannot be written.
        ParseFailed: The parser refuses the text.
        TimedOut: The text's deadline passed.
    """
    path = Path(note.folder, build_file_name(note))
    content = build_file_text(note).encode("utf-8", "replace")
    if job.dry_run or ports.library is None:
        reporter = ProgressReporter(report, ports.clock)
        reporter.send(ProgressKind.SCAN_STARTED)
        outcome = _build_planned_outcome(path, content)
        reporter.send(ProgressKind.COMPLETED)
        return outcome
    with translate_os_errors(path, "read"):
        previous = path.read_bytes() if path.is_file() else None
    _write(path, content)
    source = Source(name=STDIN, root=os.path.realpath(note.folder), kind="stdin")
    ports.library.add_source(source)
    text_job = IngestJob(
        paths=(str(path),),
        force=job.force,
        chunker=job.chunker,
        deadline_s=job.deadline_s,
        max_memory_mb=job.max_memory_mb,
        # The limit was checked for the text; the file also contains the title.
        rules=replace(job.rules, max_file_bytes=0),
    )
    try:
        return run_ingest(text_job, ports, report, cancel)
    except (ParseFailed, TimedOut):
        # The file would fail again in every later run, and the user could not remove it.
        _restore(path, previous)
        raise


def build_file_name(note: TextNote) -> str:
    """Return the name under which a text is kept, from its title and URI alone."""
    words = _NOT_A_WORD.sub("-", unicodedata.normalize("NFC", note.title)).strip("-").lower()
    slug = words.encode("utf-8", "replace")[:_SLUG_BYTES].decode("utf-8", "ignore").strip("-")
    return (
        f"{slug or 'text'}-{compute_digest('stdin', note.title, note.source_uri or '', size=6)}.md"
    )


def is_own_file_name(name: str) -> bool:
    """Return whether a file of the folder has a name that only kebab gives, drafts included."""
    return _OWN_FILE_NAME.fullmatch(name) is not None


def build_file_text(note: TextNote) -> str:
    """Return the file: title and URI within the front matter, then the text."""
    fenced = _FRONT_MATTER.match(note.text)
    fence = fenced["fence"] if fenced else "---"
    separator = " = " if fence == "+++" else ": "
    own = _OWN_FIELDS.sub("", fenced["block"]) if fenced else ""
    body = note.text[fenced.end() :] if fenced else f"\n{note.text}"
    lines = [f"title{separator}{_quote(note.title)}\n"]
    if note.source_uri:
        lines.append(f"source_uri{separator}{_quote(note.source_uri)}\n")
    return f"{fence}\n{''.join(lines)}{own}{fence}\n{body}"


def _quote(value: str) -> str:
    """Return a string that YAML and TOML both read as it is."""
    plain = "".join(char for char in value if unicodedata.category(char) not in {"Cc", "Cs"})
    return json.dumps(" ".join(plain.split()), ensure_ascii=False)


def _build_planned_outcome(path: Path, content: bytes) -> IngestOutcome:
    """Return what storing the text would do."""
    outcome = IngestOutcome(scope=(str(path),), dry_run=True, scanned=1)
    if path.is_file() and path.read_bytes() == content:
        outcome.unchanged = 1
        return outcome
    kind = ItemKind.UPDATED if path.is_file() else ItemKind.NEW
    outcome.items.append(FileOutcome(kind=kind, doc_path=path.name, source=STDIN))
    return outcome


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically and durably."""
    with translate_os_errors(path, "write"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(path)
        _sync_folder(path.parent)


def _restore(path: Path, content: bytes | None) -> None:
    if content is not None:
        _write(path, content)
        return
    with translate_os_errors(path, "write"):
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

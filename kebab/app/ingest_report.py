"""Converts the outcome of an ingest to its report, and says what would make files readable."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kebab.app.classify import DEFAULT_VIEW, View, build_error_reply
from kebab.core.media import detect_media_type, get_media_type
from kebab.core.ocr import IMAGE, OCR_SETTING
from kebab.core.unsupported import UnsupportedFormat, describe_unsupported
from kebab.errors.catalog import DependencyMissing, ParseFailed, build_variable_name
from kebab.errors.system import format_install
from kebab.ingest.job import FileOutcome, IngestOutcome, ItemKind
from kebab.wire.ingest import IngestItem, IngestReport, UnreadKind

_EXAMPLES = 3
_EXTRAS = re.compile(r"\bkebab\[([\w,]+)\]")


def to_ingest_report(outcome: IngestOutcome, view: View = DEFAULT_VIEW) -> IngestReport:
    """Convert the outcome of a run; `view` says how errors are worded."""
    return IngestReport(
        scope=list(outcome.scope),
        dry_run=outcome.dry_run,
        scanned=outcome.scanned,
        new=outcome.count(ItemKind.NEW),
        updated=outcome.count(ItemKind.UPDATED),
        moved=outcome.count(ItemKind.MOVED),
        unchanged=outcome.unchanged,
        skipped=outcome.skipped,
        documents=outcome.unchanged + outcome.count(ItemKind.NEW, ItemKind.UPDATED, ItemKind.MOVED),
        removed=outcome.count(ItemKind.REMOVED),
        errors=outcome.count(ItemKind.ERROR),
        cancelled=outcome.cancelled,
        duration_ms=outcome.duration_ms,
        skipped_by_reason=outcome.skipped_by_reason,
        skipped_by_extension=outcome.skipped_by_extension,
        skip_examples=outcome.skip_examples,
        items=[_to_item(item, view) for item in outcome.items],
        embedding=outcome.embedding,
        slowest=list(outcome.slowest),
        media=_count_kinds(outcome),
        unread=list_unread_kinds(outcome),
        not_read=outcome.not_read,
        install=build_install(outcome.items),
    )


def _to_item(item: FileOutcome, view: View) -> IngestItem:
    return IngestItem(
        kind=item.kind.value,
        doc_id=item.doc_id,
        doc_path=item.doc_path,
        source=item.source,
        chunk_count=item.chunk_count,
        embedded=item.embedded,
        reused=item.reused,
        warnings=list(item.warnings),
        error=build_error_reply(item.error, operation="ingest", view=view) if item.error else None,
    )


def _count_kinds(outcome: IngestOutcome) -> dict[str, int]:
    """Return the numbers of readable files by the name of their format, the most first."""
    counts: Counter[str] = Counter()
    for media, count in outcome.media.items():
        counts[get_media_type(media).label] += count
    for item in outcome.items:
        failed = detect_media_type(item.doc_path) if item.kind is ItemKind.ERROR else None
        if failed is not None:
            counts[get_media_type(failed).label] -= 1
    return {label: count for label, count in counts.most_common() if count > 0}


def list_unread_kinds(outcome: IngestOutcome) -> list[UnreadKind]:
    """Return the kinds of files that were not read: those with a remedy first, then the most."""
    kinds = [
        *_list_missing_libraries(outcome.items),
        *_list_pictures(outcome),
        *_list_unsupported(outcome),
    ]
    return sorted(kinds, key=lambda kind: (kind.hint is None, -kind.count, kind.label))


def build_install(items: Iterable[FileOutcome]) -> str | None:
    """Return one command that installs every extra of kebab that the files need."""
    commands = {item.error.install for item in items if isinstance(item.error, DependencyMissing)}
    found = [extras for command in commands for extras in _EXTRAS.findall(command)]
    extras = sorted({extra for names in found for extra in names.split(",")})
    return format_install("kebab", extras) if extras else None


def _list_missing_libraries(items: Iterable[FileOutcome]) -> Iterator[UnreadKind]:
    """Yield the kinds of files whose parser lacks a library."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for item in items:
        if isinstance(item.error, DependencyMissing):
            media = detect_media_type(item.doc_path)
            label = get_media_type(media).label if media else "other"
            groups[label, item.error.install].append(item.doc_path)
    for (label, install), paths in groups.items():
        yield UnreadKind(
            reason="library_missing",
            label=label,
            count=len(paths),
            hint=install,
            examples=paths[:_EXAMPLES],
        )


def _list_pictures(outcome: IngestOutcome) -> Iterator[UnreadKind]:
    """Yield the images and scanned documents that are read only with a setting."""
    hint = f"export {build_variable_name(OCR_SETTING)}=true"
    suffixes = [suffix for suffix in outcome.skipped_by_extension if _is_image(suffix)]
    if suffixes:
        yield UnreadKind(
            reason="ocr_off",
            label=get_media_type(IMAGE).label,
            count=sum(outcome.skipped_by_extension[suffix] for suffix in suffixes),
            hint=hint,
            extensions=suffixes,
            examples=outcome.skip_examples.get("ocr_off", [])[:_EXAMPLES],
        )
    scanned = [
        item.doc_path
        for item in outcome.items
        if isinstance(item.error, ParseFailed) and item.error.setting == OCR_SETTING
    ]
    if scanned:
        yield UnreadKind(
            reason="ocr_off",
            label="scanned document",
            count=len(scanned),
            hint=hint,
            examples=scanned[:_EXAMPLES],
        )


def _is_image(suffix: str) -> bool:
    return detect_media_type(f"name{suffix}") == IMAGE


def _list_unsupported(outcome: IngestOutcome) -> Iterator[UnreadKind]:
    """Yield the kinds of files that no parser reads."""
    examples = outcome.skip_examples.get("unsupported", [])
    unread = {
        suffix: count
        for suffix, count in outcome.skipped_by_extension.items()
        if not _is_image(suffix)
    }
    for kind, suffixes in group_suffixes(unread).items():
        named = [path for path in examples if any(map(path.lower().endswith, suffixes))]
        yield UnreadKind(
            reason="unsupported",
            label=kind.label,
            count=sum(suffixes.values()),
            hint=kind.hint or None,
            extensions=[suffix for suffix in suffixes if suffix],
            examples=named,
        )


def group_suffixes(suffixes: Mapping[str, int]) -> dict[UnsupportedFormat, dict[str, int]]:
    """Return the numbers of files by suffix, grouped by format; unknown suffixes are formats."""
    groups: defaultdict[UnsupportedFormat, dict[str, int]] = defaultdict(dict)
    for suffix, count in sorted(suffixes.items(), key=lambda item: (-item[1], item[0])):
        unknown = UnsupportedFormat(f"{suffix} file" if suffix else "file without an extension")
        groups[describe_unsupported(suffix) or unknown][suffix] = count
    return dict(groups)

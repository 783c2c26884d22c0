"""Applies the fixes of a stored run to the files that were reviewed.

Every file is checked before the first fix is written. A file is replaced in one step, so that a
failure leaves it as it was, and a copy of it stays beside it.
"""

import difflib
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from errno import EACCES
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from kebab.app.context import AppContext
from kebab.app.fix_checks import CountErrors, Edit, keep_harmless
from kebab.app.library import build_not_found
from kebab.app.review_start import ReviewLibrary, find_review_root
from kebab.app.review_surroundings import build_surroundings
from kebab.app.review_text import build_review_text
from kebab.core.durable import sync_names
from kebab.core.ids import hash_content
from kebab.core.review import ReviewStore, StoredRun
from kebab.errors.catalog import InvalidInput
from kebab.errors.system import translate_os_errors
from kebab.parse.encoding import decode_raw, encode_raw
from kebab.platform import copy_owner, open_descriptor, rename_over
from kebab.review.document import ReviewDocument
from kebab.review.rules.registry import RULES
from kebab.wire.record import NotFound
from kebab.wire.review import (
    AgentItem,
    AppliedFile,
    ItemFix,
    ReviewApplied,
    ReviewApplyRequest,
)

_RUN = "$.run_id"
_UNIT = 2
"""The bytes of a UTF-16 code unit."""
_CODEC = "utf-16-le"
_MOST_COPIES = 1000


class FixedFile(Struct, frozen=True):
    """A file with its bytes before and after its fixes."""

    path: Path
    before: bytes
    after: bytes
    applied: int
    overlapping: int
    diff: str
    refused: int = 0


def apply_fixes(context: AppContext, request: ReviewApplyRequest) -> ReviewApplied | NotFound:
    """Apply the fixes of a run, or return what they would change.

    Raises:
        InvalidInput: A file is not the one that was reviewed, or the run has no such item.
        IoError: A file cannot be read or written.
        ReadOnly: Writing is switched off.
    """
    if not request.dry_run:
        context.refuse_when_read_only("review --apply")
    with context.open_review_store() as store:
        run = store.load_run(request.run_id)
        if run is None:
            return build_not_found(request.run_id, "run")
        if run.kind != "review":
            raise InvalidInput(field=_RUN, cause="the run is a translation, which has no fixes")
        listed = list(_list_fixes(store, run, request.uids))
    is_any = request.unsafe or request.uids is not None
    chosen = [
        (path, content_hash, kept)
        for path, content_hash, items in listed
        if (kept := items if is_any else list(filter(_is_safe, items)))
    ]
    waiting = sum(len(items) for _, _, items in listed) - sum(len(items) for _, _, items in chosen)
    count_errors = _build_error_counter(context)
    files = [
        fix_file(path, content_hash, items, count_errors) for path, content_hash, items in chosen
    ]
    refused = sum(file.refused for file in files)
    files = [file for file in files if file.applied]
    if request.dry_run:
        return _build_reply(request, [_describe(file, None) for file in files], waiting, refused)
    for file in files:
        with translate_os_errors(file.path, "write"):
            is_writable = file.path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
            if not is_writable or not os.access(file.path, os.W_OK):
                raise PermissionError(EACCES, "the file is read-only", str(file.path))
    return _build_reply(
        request, [_describe(file, write_file(file)) for file in files], waiting, refused
    )


def _is_safe(item: AgentItem) -> bool:
    return isinstance(item.fix, ItemFix) and item.fix.safe is True


def _build_reply(
    request: ReviewApplyRequest, files: list[AppliedFile], waiting: int, refused: int
) -> ReviewApplied:
    return ReviewApplied(
        run_id=request.run_id,
        dry_run=request.dry_run,
        files=files,
        waiting=waiting,
        refused=refused,
    )


def _describe(file: FixedFile, backup: Path | None) -> AppliedFile:
    return AppliedFile(
        file=str(file.path),
        backup=str(backup) if backup else None,
        applied=file.applied,
        overlapping=file.overlapping,
        diff=file.diff,
    )


def _list_fixes(
    store: ReviewStore, run: StoredRun, uids: Collection[str] | None
) -> Iterator[tuple[Path, str, list[AgentItem]]]:
    """Yield each file with its hash and the items whose fixes are chosen.

    Raises:
        InvalidInput: The run has no item with one of the ids.
    """
    by_file: dict[int, tuple[str, list[AgentItem]]] = {}
    for document in store.list_documents(run.run_id):
        _, items = by_file.setdefault(document.file, (document.content_hash, []))
        for unit in store.list_units(run.run_id, document.first, document.first + document.units):
            items += unit.result.items if unit.result else ()
    known = {item.uid for _, items in by_file.values() for item in items}
    for uid in uids or ():
        if uid not in known:
            raise InvalidInput(field="$.uids", cause=f"the run has no item `{uid}`")
    for number, (content_hash, items) in sorted(by_file.items()):
        chosen = [
            item
            for item in items
            if item.t != "note"
            and isinstance(item.fix, ItemFix)
            and (uids is None or item.uid in uids)
        ]
        if chosen:
            yield Path(run.files[number]), content_hash, chosen


class FixedText(NamedTuple):
    """A text with its fixes, and how many were applied, left out, or refused as harmful."""

    text: str
    applied: int
    overlapping: int = 0
    refused: int = 0
    waiting: int = 0


def fix_text(
    path: Path,
    text: str,
    items: Sequence[AgentItem],
    count_errors: CountErrors | None = None,
) -> FixedText:
    """Return a text with the fixes of items; those that overlap or break the page are left out."""
    selected = select_fixes(items)
    units = text.encode(_CODEC, "surrogatepass")

    def read(item: AgentItem) -> str:
        start, end = (offset * _UNIT for offset in item.o)
        return units[start:end].decode(_CODEC, "surrogatepass")

    def apply(edits: Sequence[Edit]) -> str:
        return replace_units(text, sorted((one.item for one in edits), key=lambda item: item.o))

    edits = [Edit(item, read(item)) for item in selected]
    kept = keep_harmless(path, text, edits, apply, count_errors)
    overlapping = len(items) - len(selected)
    return FixedText(apply(kept), len(kept), overlapping, len(selected) - len(kept))


def fix_given_text(
    path: Path, text: str, items: Sequence[AgentItem], *, unsafe: bool
) -> tuple[FixedText, str]:
    """Return a text that no file has with the fixes of a review, and the differences."""
    fixes = [item for item in items if item.t != "note" and isinstance(item.fix, ItemFix)]
    chosen = fixes if unsafe else list(filter(_is_safe, fixes))
    fixed = fix_text(path, text, chosen)._replace(waiting=len(fixes) - len(chosen))
    return fixed, compare_texts(text, fixed.text, path.name)


def _build_error_counter(context: AppContext) -> Callable[[Path], CountErrors]:
    """Return what counts the errors of the rules in the text of a file."""
    rules = [rule for rule in RULES if rule.severity == "error"]
    surroundings = build_surroundings(context)
    library = ReviewLibrary(context)

    def build(path: Path) -> CountErrors:
        root = Path(find_review_root(library, (), str(path)))

        def count(text: str) -> Counter[str]:
            read = build_review_text(path, root, max_bytes=sys.maxsize, doc_path="", given=text)
            document = ReviewDocument(read)
            found = (one for rule in rules for one in rule.check(document, surroundings))
            return Counter(one.kind for one in found)

        return count

    return build


def fix_file(
    path: Path,
    content_hash: str,
    items: Sequence[AgentItem],
    build_counter: Callable[[Path], CountErrors] | None = None,
) -> FixedFile:
    """Return a file with its fixes applied; nothing is written.

    Raises:
        InvalidInput: The file has other bytes than those that were reviewed, or its encoding lacks
            a character of a fix.
        IoError: It cannot be read.
    """
    with translate_os_errors(path, "read"):
        data = path.read_bytes()
    if hash_content(data) != content_hash:
        raise InvalidInput(field=_RUN, cause=f"the file changed since the review: {path}")
    before = data
    decoded = decode_raw(before, str(path))
    fixed = fix_text(path, decoded.text, items, build_counter and build_counter(path))
    after = encode_raw(fixed.text, decoded, before)
    if after is None:
        cause = f"the encoding {decoded.encoding} of {path} lacks a character of the fixes"
        raise InvalidInput(field=_RUN, cause=cause)
    diff = compare_texts(decoded.text, fixed.text, path.name)
    return FixedFile(path, before, after, fixed.applied, fixed.overlapping, diff, fixed.refused)


def select_fixes(items: Sequence[AgentItem]) -> list[AgentItem]:
    """Return the items in the order of the text, without those that overlap an earlier one."""
    chosen: list[AgentItem] = []
    for item in sorted(items, key=lambda item: item.o[0]):
        last = chosen[-1].o if chosen else None
        if last is None or (item.o[0] >= last[1] and item.o != last):
            chosen.append(item)
    return chosen


def replace_units(text: str, items: Sequence[AgentItem]) -> str:
    """Return a text with the fixes of items, which do not overlap and are in order."""
    units = text.encode(_CODEC, "surrogatepass")
    parts, done = [], 0
    for item in items:
        start, end = (offset * _UNIT for offset in item.o)
        assert isinstance(item.fix, ItemFix)
        parts += [units[done:start], item.fix.text.encode(_CODEC, "surrogatepass")]
        done = end
    return b"".join([*parts, units[done:]]).decode(_CODEC, "surrogatepass")


def compare_texts(before: str, after: str, name: str) -> str:
    """Return the differences of two texts in the unified format; line ends do not count."""
    old, new = (StringIO(text, newline=None).readlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write_file(file: FixedFile) -> Path:
    """Replace a file, and return the path of the copy of the original beside it.

    The file that a symbolic link names is replaced. Permissions stay.

    Raises:
        InvalidInput: The file changed meanwhile.
        IoError: It cannot be written; it is as it was.
    """
    with translate_os_errors(file.path, "write"):
        target = file.path.resolve(strict=True)
        present = target.read_bytes()
    if present != file.before:
        raise InvalidInput(field=_RUN, cause=f"the file changed since the review: {file.path}")
    with translate_os_errors(file.path, "write"):
        status = target.stat()
        backup = _create_copy(target, file.before, status)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.kebab")
        is_replacing = False
        try:
            _create_file(temporary, file.after, status)
            sync_names(target.parent)  # a cut must not leave the new text without the copy
            is_replacing = True
            rename_over(temporary, target)
        except BaseException as failure:
            # A signal may come when the file is replaced already; then the copy is the original.
            is_kept = is_replacing and not isinstance(failure, OSError)
            for leftover in (temporary,) if is_kept else (temporary, backup):
                with suppress(OSError):
                    leftover.unlink()
            raise
        sync_names(target.parent)
    return backup


def _create_copy(target: Path, data: bytes, status: os.stat_result) -> Path:
    """Write the bytes to `FILE.orig`, or to `FILE.orig.2` and so on when that exists."""
    for number in range(1, _MOST_COPIES):
        end = ".orig" if number == 1 else f".orig.{number}"
        path = target.with_name(target.name + end)
        with suppress(FileExistsError):
            _create_file(path, data, status)
            return path
    raise FileExistsError(EACCES, "too many copies of the original", str(target))


def _create_file(path: Path, data: bytes, status: os.stat_result) -> None:
    """Write a new file with the permissions and the owner of another one to the disk."""
    handle = open_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
            opened.flush()
            copy_owner(opened.fileno(), status)
            os.fsync(opened.fileno())
    except BaseException:
        path.unlink()
        raise

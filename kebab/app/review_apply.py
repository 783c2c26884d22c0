"""Applies the fixes of a stored run to the files that were reviewed.

Every file is checked before the first fix is written, and fixes that would break a page are left
out. A file is replaced in one step, and a copy of it stays beside it.
"""

import difflib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from errno import EACCES
from io import StringIO
from os.path import lexists
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from kebab.app.context import AppContext
from kebab.app.library import build_not_found
from kebab.core.durable import create_copy, replace_file
from kebab.core.ids import hash_content
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.core.review import ReviewStore, StoredRun
from kebab.errors.catalog import InvalidInput
from kebab.errors.system import translate_os_errors
from kebab.parse.encoding import decode_raw, encode_raw
from kebab.platform import copy_owner
from kebab.review.translation import PageStructure, keep_harmless, read_structure
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
_LINK = "link"
"""The kind of findings about links."""
_PAGE_SUFFIXES = ("", ".md", ".mdx", ".markdown")
"""What the target of a link may leave out."""


class FixedFile(Struct, frozen=True, kw_only=True):
    """A file with its bytes before and after its fixes, and the number of fixes by their fate."""

    path: Path
    before: bytes
    after: bytes
    diff: str
    applied: int
    overlapping: int
    refused: int


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
        (path, content_hash, [item for item in items if is_any or _is_safe(item)])
        for path, content_hash, items in listed
    ]
    waiting = sum(len(items) for *_, items in listed) - sum(len(items) for *_, items in chosen)
    fixed = [fix_file(path, content_hash, items) for path, content_hash, items in chosen if items]
    files = [file for file in fixed if file.applied]
    if not request.dry_run:
        for file in files:
            _refuse_unwritable(file.path)
    applied = []
    for file in files:
        backup = None if request.dry_run else str(write_file(file))
        applied.append(
            AppliedFile(
                file=str(file.path),
                backup=backup,
                applied=file.applied,
                overlapping=file.overlapping,
                diff=file.diff,
            )
        )
    return ReviewApplied(
        run_id=request.run_id,
        dry_run=request.dry_run,
        files=applied,
        waiting=waiting,
        refused=sum(file.refused for file in fixed),
    )


def _is_safe(item: AgentItem) -> bool:
    return isinstance(item.fix, ItemFix) and item.fix.safe is True


def _refuse_unwritable(path: Path) -> None:
    with translate_os_errors(path, "write"):
        is_writable = path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
        if not is_writable or not os.access(path, os.W_OK):
            raise PermissionError(EACCES, "the file is read-only", str(path))


def _list_fixes(
    store: ReviewStore, run: StoredRun, uids: Collection[str] | None
) -> Iterator[tuple[Path, str, list[AgentItem]]]:
    """Yield each file with its hash and the items whose fixes are chosen.

    Raises:
        InvalidInput: The run has no item with one of the ids.
    """
    by_document: dict[int, list[AgentItem]] = {}
    for unit in store.list_units(run.run_id, 0, len(store.list_states(run.run_id))):
        by_document.setdefault(unit.key.document, []).extend(unit.result.items)
    known = {item.uid for items in by_document.values() for item in items}
    for uid in uids or ():
        if uid not in known:
            raise InvalidInput(field="$.uids", cause=f"the run has no item `{uid}`")
    for document in store.list_documents(run.run_id):
        chosen = [
            item
            for item in by_document.get(document.number, ())
            if item.t != "note"
            and isinstance(item.fix, ItemFix)
            and (uids is None or item.uid in uids)
        ]
        if chosen:
            yield Path(run.files[document.number]), document.content_hash, chosen


def fix_file(path: Path, content_hash: str, items: Sequence[AgentItem]) -> FixedFile:
    """Return a file with its fixes applied; nothing is written.

    Fixes that overlap an earlier one or would break the page are left out.

    Raises:
        InvalidInput: The file has other bytes than those that were reviewed, or its encoding lacks
            a character of a fix.
        IoError: It cannot be read.
    """
    with translate_os_errors(path, "read"):
        before = path.read_bytes()
    if hash_content(before) != content_hash:
        raise InvalidInput(field=_RUN, cause=f"the file changed since the review: {path}")
    decoded = decode_raw(before, str(path))
    text = decoded.text
    selected = select_fixes(items)
    kept = selected
    if detect_media_type(path.name) == MARKDOWN:
        structure = read_structure(text)
        kept = keep_harmless(
            selected,
            lambda some: _keeps_page(
                structure, read_structure(replace_units(text, some)), path, some
            ),
        )
    fixed = replace_units(text, kept)
    after = encode_raw(fixed, decoded, before)
    if after is None:
        cause = f"the encoding {decoded.encoding} of {path} lacks a character of the fixes"
        raise InvalidInput(field=_RUN, cause=cause)
    return FixedFile(
        path=path,
        before=before,
        after=after,
        diff=_compare_texts(text, fixed, path.name),
        applied=len(kept),
        overlapping=len(items) - len(selected),
        refused=len(selected) - len(kept),
    )


def _keeps_page(
    before: PageStructure, after: PageStructure, path: Path, items: Sequence[AgentItem]
) -> bool:
    """Return whether a page has what it had.

    Only findings about links change targets, and to those of files that exist.
    """
    is_same = (len(before.blocks), before.code, before.inline) == (
        len(after.blocks),
        after.code,
        after.inline,
    )
    if (
        not is_same
        or after.emphasis < before.emphasis
        or after.links.total() < before.links.total()
    ):
        return False
    if before.links - after.links and not any(item.k == _LINK for item in items):
        return False
    return all(_exists(path, target) for target in after.links - before.links)


def _exists(path: Path, target: str) -> bool:
    """Return whether a new target is no path, or that of a file."""
    name = unquote(target.partition("#")[0].partition("?")[0])
    if not name or name.startswith("/") or ":" in name.partition("/")[0]:
        return True
    return any(lexists(f"{path.parent}/{name}{suffix}") for suffix in _PAGE_SUFFIXES)


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


def _compare_texts(before: str, after: str, name: str) -> str:
    """Return the differences of two texts in the unified format; line ends do not count."""
    old, new = (StringIO(text, newline=None).readlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write_file(file: FixedFile) -> Path:
    """Replace a file, and return the path of the copy of the original beside it.

    The file that a symbolic link names is replaced. Permissions and owner stay.

    Raises:
        InvalidInput: The file changed meanwhile.
        IoError: It cannot be written; it is as it was.
    """
    with translate_os_errors(file.path, "write"):
        target = file.path.resolve(strict=True)
        if target.read_bytes() != file.before:
            raise InvalidInput(field=_RUN, cause=f"the file changed since the review: {file.path}")
        status = target.stat()
        # A cut must not leave the new text without the copy.
        backup = create_copy(_list_copies(target), file.before, status)
        try:
            with replace_file(target) as draft:
                draft.write(file.after)
                copy_owner(draft.fileno(), status)
        except OSError:
            backup.unlink()
            raise
    return backup


def swap_copy(file: Path, name: str) -> bool:
    """Exchange a file and the copy of its original that has this name; return whether it is there.

    Both texts stay, so what was written since the fix is not lost.

    Raises:
        IoError: The system refuses.
    """
    with translate_os_errors(file, "write"):
        target = file.resolve(strict=True)
        copy = next((path for path in _list_copies(target) if path.name == name), None)
        if copy is None or copy.is_symlink() or not copy.is_file():
            return False
        _refuse_unwritable(target)
        kept = copy.with_name(f"{copy.name}.undo")
        target.rename(kept)
        copy.rename(target)
        kept.rename(copy)
    return True


def _list_copies(target: Path) -> Iterator[Path]:
    """Yield the paths that a copy of the original may have."""
    ends = (".orig", *(f".orig.{number}" for number in range(2, _MOST_COPIES)))
    return (target.with_name(target.name + end) for end in ends)

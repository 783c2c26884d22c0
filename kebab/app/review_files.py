"""Finds and reads the files that are reviewed, as they are on disk now.

The index is asked for what it knows about these files; a review needs no index.
"""

import glob
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from kebab.app.context import UNUSABLE, AppContext
from kebab.app.references import (
    build_lookup_fault,
    join_path,
    make_absolute,
    require_path,
    resolve_folder_of,
)
from kebab.core.chunks import DocId, hash_content
from kebab.core.documents import StoredDocument
from kebab.core.files import cut_root, get_suffix, is_below, resolve_links
from kebab.core.media import MARKDOWN, PLAIN, detect_media_type, is_code, is_prose, is_reviewed
from kebab.core.review import Markup, StoredRun
from kebab.errors.catalog import ParseFailed, TooLarge, UnsupportedMedia
from kebab.errors.hints import NOT_UTF8
from kebab.errors.system import build_read_error, escape_undecodable, translate_os_errors
from kebab.limits.deadline import build_failure
from kebab.parse.encoding import decode_raw
from kebab.platform import shorten_path
from kebab.review.document import ReviewDocument, ReviewText, list_anchors, unify_line_ends
from kebab.review.rules import read_text
from kebab.source.content import HEAD_BYTES, find_mismatch
from kebab.source.walk import detect_file_media
from kebab.text.filters import matches_glob
from kebab.wire.record import NotFound

_LICENCE = re.compile(r"(?:UN)?LICEN[CS]ES?(?:[-._].*)?|COPYING(?:[-._].*)?")
"""The name of a file with a licence, whose words nobody changes."""


class ReviewLibrary:
    """The documents and the sources of the index by their paths on disk."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    def find_document(self, path: str) -> StoredDocument | None:
        """Return the document of a file; None when it is unknown or the index is damaged."""
        try:
            doc_id = self._doc_ids.get(path)
            if doc_id is None:
                return None
            with self._context.open_catalogue() as catalogue:
                return catalogue.load_summary(doc_id)
        except UNUSABLE:
            return None

    def may_read(self, path: str) -> bool:
        """Return whether the caller may learn anything about a path outside of the index.

        Both the path and what its links lead to have to be in an indexed folder.
        """
        if self._context.is_owner:
            return True
        try:
            return all(
                self.find_root(one) is not None or self.find_document(one) is not None
                for one in (path, resolve_links(path))
            )
        except UNUSABLE:
            return False

    def find_root(self, path: str) -> str | None:
        """Return the folder of the source that contains a file or a folder, the nearest one."""
        above = [root for root in self._roots if root == path or is_below(path, root)]
        return max(above, key=len, default=None)

    @cached_property
    def _doc_ids(self) -> Mapping[str, DocId]:
        with self._context.open_catalogue() as catalogue:
            return {join_path(one): one.doc_id for one in catalogue.list_names()}

    @cached_property
    def _roots(self) -> list[str]:
        return self._context.list_folders()


def find_targets(
    context: AppContext, library: ReviewLibrary, names: Sequence[str]
) -> list[str] | NotFound:
    """Return the absolute paths of the files in order, each once, or which name means none.

    A name is a path or a pattern of paths. Files of other formats and licences are left out of
    folders and patterns.

    Raises:
        UnsupportedMedia: A file is named that is no prose.
        IoError: A name is no path, or its file cannot be read.
    """
    finder = _TargetFinder(context, library)
    files: dict[str, None] = {}
    for name in names:
        found = finder.find(name)
        if isinstance(found, NotFound):
            return found
        files |= dict.fromkeys(found)
    return list(files)


class _TargetFinder:
    """Finds the files of names, one after another."""

    def __init__(self, context: AppContext, library: ReviewLibrary) -> None:
        self._library = library
        self._rules = context.build_scan_rules()

    def find(self, name: str) -> list[str] | NotFound:
        require_path(name)
        if escape_undecodable(name) != name:
            raise build_read_error(escape_undecodable(name), NOT_UTF8)
        path = resolve_folder_of(name)
        if not self._library.may_read(path):
            return build_lookup_fault(name, f"no such document: {name}")
        if os.path.isdir(path):  # noqa: PTH112 - a plain string
            return list(self._scan(resolve_links(path)))
        if os.path.lexists(path):  # a broken link is an error, too
            stored = self._library.find_document(path)
            media = stored.media if stored else None
            read_reviewed_file(Path(path), self._rules.max_file_bytes, media)
            return [path]
        found = list(self._match(name)) if glob.has_magic(name) else []
        return found or build_lookup_fault(name, f"no such document: {name}")

    def _scan(self, folder: str, pattern: str = "**") -> Iterator[str]:
        """Yield the prose of a folder that matches, by the ignore rules of its source."""
        from kebab.source.walk import FolderScanner

        root = self._library.find_root(folder) or folder
        below = "" if folder == root else cut_root(folder, root)
        with translate_os_errors(folder, "read"):
            found = FolderScanner().scan(root, self._rules, below=below)
        top = f"{folder.rstrip('/')}/"
        counts = Counter(one.inode for one in found.entries)
        for one in found.entries:
            if counts[one.inode] > 1:
                real = resolve_links(one.absolute)
                if real != one.absolute and real.startswith(top):
                    continue  # the file that it leads to is one of these
            is_licence = _LICENCE.fullmatch(one.absolute.rpartition("/")[2])
            if is_prose(one.media) and not is_licence and matches_glob(pattern, one.absolute):
                yield one.absolute

    def _match(self, pattern: str) -> Iterator[str]:
        """Yield the files that match a pattern, by the ignore rules."""
        parts = pattern.split("/")
        first = next(index for index, part in enumerate(parts) if glob.has_magic(part))
        fixed, rest = "/".join(parts[:first]), "/".join(parts[first:])
        folder = make_absolute(fixed or ("/" if pattern.startswith("/") else "."))
        if os.path.isdir(folder):  # noqa: PTH112 - a plain string
            yield from self._scan(folder, f"{glob.escape(folder.rstrip('/'))}/{rest}")


def load_document(
    context: AppContext, library: ReviewLibrary, run: StoredRun, names: Sequence[str], file: int
) -> ReviewDocument:
    """Return a document of a run as it is now.

    Its root is the folder of its source, else that which was named, else its own.

    Raises:
        UnsupportedMedia: It is not text, or no prose.
        IoError: It cannot be read.
    """
    path = run.files[file]
    if not library.may_read(path):
        raise build_read_error(path, "it is in no folder of the index")
    above = (name for name in names if path.startswith(f"{name.rstrip('/')}/"))
    root = library.find_root(path) or max(above, key=len, default=str(Path(path).parent))
    try:
        read = build_review_text(
            Path(path),
            Path(root),
            max_bytes=context.settings.ingest.max_file_bytes,
            doc_path=shorten_path(path),
            stored=library.find_document(path),
        )
    except ParseFailed as fault:
        raise UnsupportedMedia(path=path, media=fault.cause) from fault
    return ReviewDocument(read)


_PARSER = "text-v1"


def build_review_text(
    path: Path,
    root: Path,
    *,
    max_bytes: int,
    doc_path: str | None = None,
    stored: StoredDocument | None = None,
) -> ReviewText:
    """Read a file for a review.

    `root` is the folder of its source, `stored` the document when it is in the index. Replies call
    another file `doc_path`, by default its path below the root.

    Raises:
        IoError: The file cannot be read.
        TooLarge: It has more bytes than the limit.
        UnsupportedMedia: It is no regular file, or its format is neither prose that is cited by
            lines nor source code.
        ParseFailed: It is not text.
    """
    media, data = read_reviewed_file(path, max_bytes, stored.media if stored else None)
    decoded = decode_raw(data, str(path), _PARSER)
    text = unify_line_ends(decoded.text)
    markup = read_text_markup(path, media, text)
    from kebab.parse.metadata import read_language

    front = markup.front_matter
    fields = {name.lower(): value for name, value in front.fields} if front else {}
    named = read_language(fields.get("lang") or fields.get("language"))
    return ReviewText(
        doc_path=stored.path if stored else doc_path or path.relative_to(root).as_posix(),
        file=path,
        root=root,
        media=media,
        raw=decoded.text,
        text=text,
        content_hash=hash_content(data),
        doc_id=stored.doc_id if stored else None,
        lang=(stored.lang if stored else None) or named,
        markup=markup,
    )


def read_text_markup(path: Path, media: str, text: str) -> Markup:
    """Return the markup of a text in the format of a file."""
    from kebab.parse.registry import convert_exceptions
    from kebab.parse.text.markdown_parts import read_markup, read_plain_markup

    with convert_exceptions(str(path), _PARSER):
        if media == MARKDOWN:
            return read_markup(text, is_mdx=path.suffix.lower() == ".mdx")
        if is_code(media):  # only typos looks into code
            return Markup(code=((0, len(text)),), code_blocks=((0, len(text)),))
        return read_plain_markup(text)


def read_reviewed_file(path: Path, max_bytes: int, media: str | None) -> tuple[str, bytes]:
    """Return the media type and the bytes of a file; its errors are those of `build_review_text`.

    `media` is what the index knows.
    """
    with translate_os_errors(path, "read"):
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            media = media or detect_file_media(str(path), status.st_size)
        elif not stat.S_ISDIR(status.st_mode):  # reading from a pipe waits for its writer
            media = None
        if not stat.S_ISDIR(status.st_mode) and not is_reviewed(media):
            named = media or get_suffix(path.name) or "no extension"
            raise UnsupportedMedia(path=str(path), media=named)
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise TooLarge(what=str(path), size=max(status.st_size, len(data)), limit=max_bytes)
    mismatch = find_mismatch(media or PLAIN, data[:HEAD_BYTES])
    if mismatch is not None:
        raise build_failure(str(path), _PARSER, mismatch.cause)
    return media or PLAIN, data


def read_anchors(path: str) -> frozenset[str] | None:
    """Return the anchors of a Markdown file, folded; None when they are not known."""
    is_known = detect_media_type(path) == MARKDOWN and Path(path).is_file()
    text = read_text(path) if is_known else None
    if text is None:
        return None
    from kebab.parse.text.markdown_parts import read_markup

    try:
        return list_anchors(text, read_markup(text, is_mdx=path.endswith(".mdx")))
    except RuntimeError:
        return None

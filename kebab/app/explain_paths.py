"""Explains why files are in the index or not, without writing anything."""

import os
import shlex
import stat as modes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from kebab.app.classify import build_error_reply, build_view
from kebab.app.context import AppContext
from kebab.app.conversions import check_freshness, format_timestamp
from kebab.app.file_text import build_parsers, parse_file
from kebab.app.plugins import find_parser
from kebab.app.references import join_path, require_path, resolve_folder_of
from kebab.core import files
from kebab.core.content import describe_unsupported
from kebab.core.documents import (
    DocumentDetail,
    DocumentName,
    Source,
    build_named_files_key,
    parse_named_files,
)
from kebab.core.media import choose_limit, detect_media_type, get_media_type
from kebab.errors.catalog import NotIndexed
from kebab.errors.hints import build_variable_name
from kebab.errors.signal import Signal
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import (
    ExplainPathsRequest,
    IndexedState,
    PathExplanation,
    PathExplanations,
    SkipRule,
)

if TYPE_CHECKING:
    from kebab.core.ports import Parser
    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.store.sqlite.reader import SqliteReader


def explain_paths(context: AppContext, request: ExplainPathsRequest) -> PathExplanations:
    """Return for each path whether the next ingest reads it, and why or why not.

    Raises:
        IoError: A text is no path.
    """
    for path in request.paths:
        require_path(path)
    with _open_library(context) as library:
        found = [_Explainer(context, library, path).explain() for path in request.paths]
    return PathExplanations(paths=found, excluded=sum(not one.included for one in found))


class _Library(Struct, frozen=True):
    """The sources, the documents by their absolute paths, and the files that the user named."""

    sources: list[Source] = field(default_factory=list)
    documents: Mapping[str, DocumentName] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    catalogue: "Catalogue | None" = None

    def load(self, file: str) -> DocumentDetail | None:
        name = self.documents.get(file)
        return self.catalogue.load_document(name.doc_id) if name and self.catalogue else None


@contextmanager
def _open_library(context: AppContext) -> Iterator[_Library]:
    """Yield what is known; nothing but the workspace before the first ingest."""
    workspace = context.settings.workspace
    root = files.resolve_links(os.path.expanduser(workspace)) if workspace else ""  # noqa: PTH111 - a plain string
    planned = [Source(name=root, root=root, kind="folder")] if root else []
    try:
        reader = context.open_reader()
    except NotIndexed:
        yield _Library(sources=planned)
        return
    with reader:
        catalogue = context.build_catalogue(reader)
        sources = catalogue.list_sources()
        yield _Library(
            sources=[*sources, *planned],
            documents={join_path(name): name for name in catalogue.list_names()},
            named=frozenset(_list_named_files(reader, sources)),
            catalogue=catalogue,
        )


def _list_named_files(reader: "SqliteReader", sources: list[Source]) -> Iterator[str]:
    """Yield the absolute paths of the files that rules skip but the user named."""
    for source in sources:
        names = parse_named_files(reader.get_value(build_named_files_key(source.name)))
        yield from (files.join_root(source.root, name) for name in names)


class _Explainer:
    """Explains one path.

    A caller that may only ask about indexed folders learns nothing that depends on what is outside
    of them: no link is followed out of a folder.
    """

    def __init__(self, context: AppContext, library: _Library, path: str) -> None:
        self._context = context
        self._library = library
        self._settings = context.settings.ingest
        self._rules = context.build_scan_rules()
        self._confined = not context.is_owner
        # The name stays as it is: a link is a document under its own name.
        self._file = resolve_folder_of(path).rstrip("/") or "/"
        self._shown = escape_undecodable(path)
        self._container = files.find_container(self._file)
        self._source = self._find_source()
        self._detail = library.load(self._file)

    def explain(self) -> PathExplanation:
        """Return the first reason that leaves the path out, else how the index holds it."""
        media = detect_media_type(self._file, self._rules.added)
        if media is None and self._detail is not None and self._container != self._file:
            media = self._detail.summary.media
        known = get_media_type(media) if media else None
        unread = describe_unsupported(files.get_suffix(os.path.basename(self._file)))  # noqa: PTH119 - a plain string
        base = PathExplanation(
            path=self._shown,
            file=escape_undecodable(self._file),
            included=False,
            reason="",
            message="",
            source=self._source.name if self._source else None,
            media=media,
            label=known.label if known else unread.label if unread else None,
            detected_by="name" if media else None,
            parser=self._get_parser_version(media) if media else None,
            indexed=_describe_document(self._detail) if self._detail else None,
        )
        if self._confined and (self._source is None or not self._is_inside()):
            # The same answer for what exists and what does not.
            return _leave_out(base, "symlink_outside" if self._source else "no_source")
        try:
            status = os.stat(self._container)  # noqa: PTH116 - a plain string
        except OSError:
            broken = os.path.islink(self._file)  # noqa: PTH114 - a plain string
            return _leave_out(base, "symlink_broken" if broken else "missing")
        folder = modes.S_ISDIR(status.st_mode)
        return self._explain_existing(
            base if folder else replace(base, size=status.st_size), status, folder=folder
        )

    def _explain_existing(
        self, base: PathExplanation, status: os.stat_result, *, folder: bool
    ) -> PathExplanation:
        """Explain a path that exists, by the rules and the links first."""
        if not folder and self._is_secret(status):
            rule = SkipRule(path=self._file, setting=files.SECRET_SETTING)
            return replace(_leave_out(base, "secret", _ALLOW_SECRET), rule=rule)
        if self._source is None:
            return _leave_out(base, "no_source", f"kebab ingest {shlex.quote(self._shown)}")
        if found := self._find_rule(folder=folder):
            cause, rule = found
            # A file that the user names is always read.
            named = f"kebab ingest {shlex.quote(self._shown)}"
            hint = None if rule.setting == "data_dir" else named
            return replace(_leave_out(base, cause, hint), rule=rule)
        if reason := self._find_link_reason(status, folder=folder):
            return _leave_out(base, reason)
        if folder:
            return replace(base, included=True, reason="included", message="a folder that is read")
        return self._explain_file(base, status)

    def _find_source(self) -> Source | None:
        """Return the source that contains the path: the folder nearest above it, or its own."""
        if name := self._library.documents.get(self._file):
            return next(one for one in self._library.sources if one.name == name.source)
        above = [
            one
            for one in self._library.sources
            if one.kind == "folder"
            and (one.root == self._file or files.is_below(self._file, one.root))
        ]
        return max(above, key=lambda one: len(one.root), default=None)

    def _find_rule(self, *, folder: bool) -> tuple[str, SkipRule] | None:
        """Return the reason and the rule that leaves the path out."""
        from kebab.source.ignore import explain_skip

        assert self._source is not None, "the caller has looked for it"
        root, own = self._source.root, map(files.to_slashes, self._context.private_folders)
        own_here = [path for path in own if not files.is_below(root, path)]  # mirrors are below it
        if any(self._file == path or files.is_below(self._file, path) for path in own_here):
            return "excluded", SkipRule(path=self._file, setting="data_dir")
        path = files.cut_root(self._file, self._source.root)
        named = self._source.kind != "folder" or self._file in self._library.named
        if not path or named:
            return None
        return explain_skip(self._source.root, self._rules, path, folder=folder)

    def _is_secret(self, status: os.stat_result) -> bool:
        """Return whether a regular file usually holds secrets, and no setting asks for it."""
        from kebab.source.walk import is_secret_file

        if not modes.S_ISREG(status.st_mode):
            return False
        root = self._source.root if self._source else os.path.dirname(self._file)  # noqa: PTH120 - a plain string
        path, real = files.cut_root(self._file, root), files.resolve_links(self._file)
        with suppress(OSError):
            return is_secret_file(self._rules, path, real, status.st_size)
        return False

    def _find_link_reason(self, status: os.stat_result, *, folder: bool) -> str | None:
        """Return why a link, a device or a pipe is left out."""
        assert self._source is not None, "the caller has looked for it"
        if os.path.islink(self._file) and not self._is_inside():  # noqa: PTH114 - a plain string
            return "symlink_outside"
        return None if folder or modes.S_ISREG(status.st_mode) else "special_file"

    def _is_inside(self) -> bool:
        """Return whether the path, with its links resolved, is within its source."""
        assert self._source is not None, "the caller has looked for it"
        real = files.resolve_links(self._file)
        return real in {self._source.root, self._file} or files.is_below(real, self._source.root)

    def _explain_file(self, base: PathExplanation, status: os.stat_result) -> PathExplanation:
        """Explain a file that no rule leaves out, by its format, its size and its content."""
        limit = self._settings.max_file_bytes
        base = self._detect_by_content(base, status.st_size)
        if base.media is None:
            unread = describe_unsupported(files.get_suffix(os.path.basename(self._file)))  # noqa: PTH119 - a plain string
            return _leave_out(base, "unsupported", unread.hint if unread else None)
        if base.media == files.IMAGE and not (self._settings.ocr or self._settings.captions):
            rule = SkipRule(path=self._file, setting=files.OCR_SETTING)
            hint = f"export {build_variable_name(files.OCR_SETTING)}=true"
            return replace(_leave_out(base, "ocr_off", hint), rule=rule)
        is_member = self._container != self._file
        if not is_member and choose_limit(base.media, status.st_size, limit) is None:
            rule = SkipRule(path=self._file, setting="ingest.max_file_bytes")
            hint = f"raise `ingest.max_file_bytes`, now {limit:,}"
            return replace(_leave_out(base, "over_limit", hint), rule=rule)
        if not os.access(self._container, os.R_OK):
            return _leave_out(base, "unreadable", f"chmod u+r {shlex.quote(self._shown)}")
        if base.indexed is not None and base.indexed.freshness == "fresh":
            return replace(base, included=True, reason="included", message="it is in the index")
        return self._try_to_read(base, base.media)

    def _detect_by_content(self, base: PathExplanation, size: int) -> PathExplanation:
        """Return the explanation with the format that the first bytes show."""
        from kebab.source.walk import find_media

        if base.media not in {None, files.ZIP} or not os.access(self._file, os.R_OK):
            return base
        media = find_media(self._file, size, self._rules)
        if media is None:
            return replace(base, media=None)
        return replace(
            base,
            media=media,
            label=get_media_type(media).label,
            detected_by="content",
            parser=self._get_parser_version(media),
        )

    def _find_parser(self, media: str) -> "Parser":
        return find_parser(self._context, build_parsers(self._context), media)

    def _get_parser_version(self, media: str) -> str | None:
        return self._find_parser(media).version or None

    def _try_to_read(self, base: PathExplanation, media: str) -> PathExplanation:
        """Parse a file that is not in the index as it is now."""
        try:
            from kebab.parse.containers import read_document

            parse_file(read_document(self._file), self._file, self._find_parser(media))
        except OSError:
            return _leave_out(base, "unreadable")
        except Signal as signal:
            view = build_view(self._context.settings)
            error = build_error_reply(signal, operation="ingest", view=view)
            out = replace(base, reason=error.code, error=error)
            return replace(out, message=error.message, hint=error.hint)
        message = "it has changed since it was read" if base.indexed else "it is not read yet"
        hint = f"kebab ingest {shlex.quote(self._shown)}"
        return replace(base, included=True, reason="included", message=message, hint=hint)


_ALLOW_SECRET = f"to read it nevertheless, name it in `{files.SECRET_SETTING}`"
_MESSAGES = {
    "missing": "there is no such file",
    "no_source": "no folder that kebab reads contains it",
    "ignored": "an ignore file names it",
    "excluded": "the settings or the built-in rules exclude it",
    "hidden": "hidden files are left out",
    "secret": "files of this name or content usually hold keys or passwords",
    "generated": "a build tool wrote it",
    "unsupported": "kebab does not read this format",
    "ocr_off": "the text of images is not recognised",
    "over_limit": "it is larger than the limit",
    "unreadable": "there is no permission to read it",
    "symlink_broken": "it is a link that leads nowhere",
    "symlink_outside": "it is a link that leads out of the folder",
    "special_file": "it is no ordinary file",
}


def _leave_out(base: PathExplanation, reason: str, hint: str | None = None) -> PathExplanation:
    return replace(base, reason=reason, message=_MESSAGES[reason], hint=hint or None)


def _describe_document(detail: DocumentDetail) -> IndexedState:
    document = detail.summary
    return IndexedState(
        doc_id=document.doc_id,
        title=document.title,
        chunk_count=document.chunks,
        indexed_at=format_timestamp(document.indexed_at),
        parser_version=detail.parser_version,
        freshness=check_freshness(document),
        warnings=list(document.warnings),
    )

"""Explains why files are in the index or not, without writing anything."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kebab.app.classify import build_error_reply, build_view
from kebab.app.context import AppContext
from kebab.app.file_text import build_parsers, parse_file
from kebab.app.references import require_path, resolve_folder_of
from kebab.core import files
from kebab.core.content import describe_unsupported
from kebab.core.documents import (
    DocumentDetail,
    Source,
    build_named_files_key,
    check_freshness,
    parse_named_files,
)
from kebab.core.ids import DocId
from kebab.core.media import PLAIN, detect_media_type
from kebab.errors.catalog import NotIndexed
from kebab.errors.hints import build_variable_name
from kebab.errors.signal import Signal
from kebab.errors.system import translate_os_errors
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import (
    ExplainPathsRequest,
    PathExplanation,
    PathExplanations,
    SkipRule,
)

if TYPE_CHECKING:
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


class _Library(NamedTuple):
    """The sources, the files that the user named, and the catalogue if there is an index."""

    sources: list[Source]
    named: frozenset[str] = frozenset()
    catalogue: "Catalogue | None" = None

    def load(self, file: str) -> DocumentDetail | None:
        """Return the document of an absolute path."""
        if self.catalogue is None:
            return None
        found = self.catalogue.resolve_document(file)
        return self.catalogue.load_document(DocId(found)) if isinstance(found, str) else None


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
        self._rules = context.build_scan_rules()
        self._confined = not context.is_owner
        # The name stays as it is: a link is a document under its own name.
        self._file = resolve_folder_of(path).rstrip("/") or "/"
        self._shown = escape_undecodable(path)
        self._ingest = f"kebab ingest {shlex.quote(self._shown)}"
        self._container = files.find_container(self._file)
        self._detail = library.load(self._file)
        self._source = self._find_source()

    def explain(self) -> PathExplanation:
        """Return the first reason that leaves the path out, else how the index holds it."""
        source = self._source
        base = PathExplanation(
            path=self._shown,
            file=escape_undecodable(self._file),
            included=False,
            reason="",
            message="",
            source=source.name if source else None,
            media=detect_media_type(self._file, self._rules.added),
            doc_id=self._detail.summary.doc_id if self._detail else None,
        )
        if self._confined and (source is None or not self._is_inside(source)):
            # The same answer for what exists and what does not.
            return _leave_out(base, "symlink_outside" if source else "no_source")
        if not os.path.exists(self._container):  # noqa: PTH110 - a plain string
            broken = os.path.islink(self._file)  # noqa: PTH114 - a plain string
            return _leave_out(base, "symlink_broken" if broken else "missing")
        reason, media = self._scan_file()
        if reason == "secret":
            return self._explain_skip(base, reason)
        if source is None:
            return _leave_out(base, "no_source", self._ingest)
        if found := self._find_rule(source):
            cause, rule = found
            # A file that the user names is always read.
            hint = None if rule.setting == "data_dir" else self._ingest
            return replace(_leave_out(base, cause, hint), rule=rule)
        if os.path.islink(self._file):  # noqa: PTH114 - a plain string
            inside = reason if self._detail else "symlink"  # a person may have named it
            reason = inside if self._is_inside(source) else "symlink_outside"
        is_member = self._container != self._file
        base = base if is_member else replace(base, media=media)
        return self._explain_skip(base, reason) if reason else self._explain_included(base)

    def _explain_included(self, base: PathExplanation) -> PathExplanation:
        """Return how the index holds a path that a scan does not leave out."""
        base = replace(base, included=True, reason="included")
        if os.path.isdir(self._container):  # noqa: PTH112 - a plain string
            return replace(base, message="a folder that is read")
        if self._detail is not None and check_freshness(self._detail.summary) == "fresh":
            return replace(base, message="it is in the index")
        if fault := self._find_fault(base.media or PLAIN):
            view = build_view(self._context.settings)
            error = build_error_reply(fault, operation="ingest", view=view)
            out = replace(base, included=False, reason=error.code, error=error)
            return replace(out, message=error.message, hint=error.hint)
        message = "it has changed since it was read" if base.doc_id else "it is not read yet"
        return replace(base, message=message, hint=self._ingest)

    def _scan_file(self) -> tuple[str | None, str | None]:
        """Return why a scan leaves out the file on disk, None when it does not, and its format."""
        from kebab.source.walk import FolderScanner

        found, container = files.ScanResult(), self._container
        if os.path.isdir(container):  # noqa: PTH112 - a plain string
            return None, None
        root = self._source.root if self._source else os.path.dirname(container)  # noqa: PTH120 - a plain string
        name = files.cut_root(container, root)
        FolderScanner().add_named_files(found, root, [name], self._rules)
        media = found.entries[0].media if found.entries else None
        return next(iter(found.skips.by_reason), None), media

    def _explain_skip(self, base: PathExplanation, reason: str) -> PathExplanation:
        """Return why a scan leaves out a file, with the setting that decides and the next step."""
        limit = self._context.settings.ingest.max_file_bytes
        unread = describe_unsupported(files.get_suffix(os.path.basename(self._file)))  # noqa: PTH119 - a plain string
        hints = {
            "secret": f"to read it nevertheless, name it in `{files.SECRET_SETTING}`",
            "ocr_off": f"export {build_variable_name(files.OCR_SETTING)}=true",
            "over_limit": f"raise `ingest.max_file_bytes`, now {limit:,}",
            "unreadable": f"chmod u+r {shlex.quote(self._shown)}",
            "unsupported": unread.hint if unread else None,
        }
        out = _leave_out(base, reason, hints.get(reason))
        if reason == "unsupported" and unread:
            out = replace(out, message=f"{out.message}: {unread.label}")
        setting = _SETTINGS.get(reason)
        return replace(out, rule=SkipRule(path=self._file, setting=setting)) if setting else out

    def _find_source(self) -> Source | None:
        """Return the source that contains the path: the folder nearest above it, or its own."""
        if self._detail is not None:
            name = self._detail.summary.source
            return next(one for one in self._library.sources if one.name == name)
        above = [
            one
            for one in self._library.sources
            if one.kind == "folder"
            and (one.root == self._file or files.is_below(self._file, one.root))
        ]
        return max(above, key=lambda one: len(one.root), default=None)

    def _find_rule(self, source: Source) -> tuple[str, SkipRule] | None:
        """Return the reason and the rule that leaves the path out."""
        from kebab.source.ignore import explain_skip

        own = self._context.private_folders
        own_here = [path for path in own if not files.is_below(source.root, path)]  # no mirrors
        if any(self._file == path or files.is_below(self._file, path) for path in own_here):
            return "excluded", SkipRule(path=self._file, setting="data_dir")
        path = files.cut_root(self._file, source.root)
        named = source.kind != "folder" or self._file in self._library.named
        if named or not path:
            return None
        folder = os.path.isdir(self._container)  # noqa: PTH112 - a plain string
        return explain_skip(source.root, self._rules, path, folder=folder)

    def _is_inside(self, source: Source) -> bool:
        """Return whether the path, with its links resolved, is within its source."""
        real = files.resolve_links(self._file)
        return real in {source.root, self._file} or files.is_below(real, source.root)

    def _find_fault(self, media: str) -> Signal | None:
        """Return why a file that is not in the index as it is now cannot be parsed."""
        from kebab.parse.containers import read_document
        from kebab.parse.plugin import find_parser

        try:
            plugins = self._context.settings.plugins
            parser = find_parser(plugins, build_parsers(self._context), media)
            with translate_os_errors(self._file, "read"):
                parse_file(read_document(self._file), self._file, parser)
        except Signal as signal:
            return signal
        return None


_SETTINGS = {
    "secret": files.SECRET_SETTING,
    "ocr_off": files.OCR_SETTING,
    "over_limit": "ingest.max_file_bytes",
}
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
    "symlink": "it is a link, and only what it leads to is read",
    "symlink_broken": "it is a link that leads nowhere",
    "symlink_outside": "it is a link that leads out of the folder",
    "special_file": "it is no ordinary file",
}


def _leave_out(base: PathExplanation, reason: str, hint: str | None = None) -> PathExplanation:
    return replace(base, reason=reason, message=_MESSAGES[reason], hint=hint or None)

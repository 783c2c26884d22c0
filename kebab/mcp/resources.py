"""Lists, reads and completes the documents of the index as resources."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from kebab.app.dispatch import report_failure
from kebab.core.media import PLAIN, detect_media_type
from kebab.errors.catalog import NotIndexed
from kebab.errors.signal import Signal
from kebab.mcp.calls import ToolCaller
from kebab.mcp.links import SCHEME, TEMPLATE, encode_path, format_resource_uri
from kebab.wire.citation import CodeCitation, LineCitation
from kebab.wire.fetch import FetchRequest
from kebab.wire.library import DocSummary, FetchResult, ListRequest
from kebab.wire.record import encode_json
from kebab.wire.sources import SourceListRequest

if TYPE_CHECKING:
    from kebab.app.facade import Kebab

_PAGE = 50
_MOST_COMPLETIONS = 100


class ResourceError(Exception):
    """A request for a resource or a page cannot be answered; `data` says more."""

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.data = data


class Resources:
    """The documents of one knowledge base as resources."""

    def __init__(self, caller: ToolCaller) -> None:
        self._caller = caller

    def list(self, cursor: str | None) -> dict[str, Any]:
        """Return a page of documents, those indexed last first.

        Raises:
            ResourceError: The cursor is not one of ours, or the index cannot be read.
        """
        offset = _read_cursor(cursor)

        def use(kebab: "Kebab") -> dict[str, Any]:
            request = ListRequest(limit=_PAGE, offset=offset, sort="indexed")
            try:
                reply = kebab.list(request)
            except NotIndexed:
                return {"resources": []}
            folders = _list_folders(kebab)
            page = {"resources": [_describe(one, folders) for one in reply.documents]}
            more = reply.has_more
            return {**page, "nextCursor": _write_cursor(offset + _PAGE)} if more else page

        page: dict[str, Any] = self._run(use)
        return page

    def list_templates(self) -> dict[str, Any]:
        """Return the one template: a document by its path."""
        template = {
            "uriTemplate": TEMPLATE,
            "name": "document",
            "description": "An indexed file by its absolute path; `#L5-L9` selects lines.",
        }
        return {"resourceTemplates": [template]}

    def read(self, uri: str) -> dict[str, Any]:
        """Return the text that a URI names.

        Raises:
            ResourceError: No document of the index has this URI.
        """
        if not uri.startswith(SCHEME):
            raise ResourceError(f"not a URI of kebab: {uri}", {"uri": uri})
        reply = self._run(lambda kebab: kebab.fetch(FetchRequest(refs=[uri])))
        (found,) = reply.results
        if not isinstance(found, FetchResult):
            data = {"uri": uri, "candidates": found.error.candidates}
            raise ResourceError(f"no such resource: {uri}", data)
        return {"contents": [{"uri": uri, "mimeType": _get_media(found), "text": found.text}]}

    def complete(self, typed: str | None) -> dict[str, Any]:
        """Return absolute paths of documents: those that begin with a text, then that contain it.

        The text and the paths are percent-encoded, as in a URI.
        """
        if typed is None:
            return {"completion": {"values": []}}

        def use(kebab: "Kebab") -> Iterable[str]:
            documents = kebab.list(ListRequest(limit=None)).documents
            folders = _list_folders(kebab)
            return [encode_path(file) for one in documents if (file := _join(one, folders))]

        try:
            paths = self._run(use)
        except ResourceError:
            paths = []
        folded = typed.casefold()
        found = [path for path in paths if folded in path.casefold()]
        found.sort(key=lambda path: (not path.casefold().startswith(folded), path))
        values = found[:_MOST_COMPLETIONS]
        more = len(found) > len(values)
        return {"completion": {"values": values, "total": len(found), "hasMore": more}}

    def _run(self, use: Any) -> Any:
        """Return what a function makes of the knowledge base.

        Raises:
            ResourceError: It raises a signal, which becomes `error.v1`.
        """
        try:
            return self._caller.run(use)
        except Signal as fault:
            reply = report_failure("fetch", fault, self._caller.settings).reply
            raise ResourceError(reply.message, msgspec.json.decode(encode_json(reply))) from fault


def _describe(document: DocSummary, folders: dict[str, str]) -> dict[str, Any]:
    """Return the entry of a document in `resources/list`."""
    entry = {
        "uri": format_resource_uri(_join(document, folders), document.doc_id),
        "name": document.doc_path,
        "mimeType": document.media,
        "size": document.size,
        "annotations": {"lastModified": document.modified_at},
    }
    return entry | ({"title": document.title} if document.title else {})


def _list_folders(kebab: "Kebab") -> dict[str, str]:
    """Return the folder of each source by its name; text without a file has none."""
    sources = kebab.source_list(SourceListRequest()).sources
    return {one.name: one.folder for one in sources if one.kind != "stdin"}


def _join(document: DocSummary, folders: dict[str, str]) -> str | None:
    """Return the absolute path of a document; None for text without a file."""
    folder = folders.get(document.source)
    return None if folder is None else f"{folder.rstrip('/')}/{document.doc_path}"


def _get_media(found: FetchResult) -> str:
    """Return the media type of a text: that of its file, plain for text that was extracted."""
    has_own_text = isinstance(found.citation, LineCitation | CodeCitation)
    return (detect_media_type(found.doc_path) if has_own_text else None) or PLAIN


def _write_cursor(offset: int) -> str:
    return urlsafe_b64encode(f"{offset}".encode()).decode()


def _read_cursor(cursor: str | None) -> int:
    """Return the number of documents to skip.

    Raises:
        ResourceError: The cursor is not one of ours.
    """
    try:
        return 0 if cursor is None else max(0, int(urlsafe_b64decode(cursor)))
    except ValueError as fault:
        message = f"not a cursor of this list: {cursor}"
        raise ResourceError(message) from fault

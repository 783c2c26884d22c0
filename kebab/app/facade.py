"""The facade: a knowledge base that runs the operations of `kebab.wire.operations`.

Python programs call them as methods: `kebab.open().search("…")`. Also lists the names that a shell
can complete: tags, documents, sources, models, sessions, codes.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec.structs import fields

from kebab.app.context import MERGED, AppContext
from kebab.config.settings import Settings
from kebab.core.queries import Filters
from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Exit
from kebab.wire.operations import OPERATIONS, Operation, find_operation
from kebab.wire.record import (
    Reply,
    Request,
    decode_request,
    drop_empty_fields,
    find_exit_status,
    to_invalid_input,
)

if TYPE_CHECKING:
    from kebab.app.methods import Methods  # which is generated, and has types only
    from kebab.app.model_adapters import Embedders
    from kebab.config.load import SettingsReport
    from kebab.core.progress import Cancel
else:
    Methods = object


R = TypeVar("R", bound=Reply)


class Kebab(AbstractContextManager["Kebab"], Methods):
    """One knowledge base. Stores and models are opened when an operation first needs them.

    Use it as a context manager, or call `close`. Each operation is also a method that takes the
    fields of its request, `report` and `cancel`, and returns its reply. The first argument may be
    positional: it is the first field that the request declares itself, and a single value stands
    for a list with it. Fields that are left out have the values of the settings.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        config_path: Path,
        read_only: bool = False,
        report: "SettingsReport | None" = None,
        embedders: "Embedders | None" = None,
        is_owner: bool = True,
    ) -> None:
        """Open nothing yet.

        With `report` invalid settings are findings instead of errors; `embedders` are the models
        of another knowledge base with the same settings. `is_owner` says that the caller is the
        user of the files, and not a client of a server. To a client no operation shows secrets, and
        none that reads tells anything about files outside of the indexed folders.
        """
        self.settings = settings
        self._context = AppContext(
            settings,
            config_path=config_path,
            read_only=read_only,
            report=report,
            embedders=embedders,
            is_owner=is_owner,
        )

    def __exit__(self, *_: object) -> None:
        self.close()

    if not TYPE_CHECKING:  # `Methods` declares them

        def __getattr__(self, name: str) -> Callable[..., Any]:
            operation = OPERATIONS.get(name.removesuffix("_"))
            if operation is None:
                message = f"{type(self).__name__} has no operation: {name}"
                raise AttributeError(message, name=name, obj=self)
            return partial(self._call, operation)

    def _call(
        self,
        operation: Operation,
        /,
        *first: object,
        report: Callable[[Any], None] | None = None,
        cancel: "Cancel | None" = None,
        **given: object,
    ) -> Reply:
        form = operation.request
        if first:
            own = [*vars(form).get("__annotations__", ()), *form.__struct_fields__]
            given |= zip(own[:1], first, strict=True)
        lists = {one.name for one in fields(form) if "list[" in str(one.type)}
        values = {name: _read(value, is_list=name in lists) for name, value in given.items()}
        request = convert_operation_request(operation.name, values, self.settings)
        return self.run(request, report=report, cancel=cancel)

    def close(self) -> None:
        """Close the stores that stay open between calls; the next call opens them again."""
        self._context.close()

    def run(
        self,
        request: Request[R],
        *,
        report: Callable[[Any], None] | None = None,
        cancel: "Cancel | None" = None,
    ) -> R:
        """Run the operation that a request asks for, and return the object that `--json` prints.

        Args:
            request: The request of an operation.
            report: Receives the events of an operation that reports any; for `ask` all but `final`
                and `error`.
            cancel: Stops an operation that can be cancelled.

        Raises:
            Signal: The operation fails.
        """
        operation = find_operation(request)
        self._context.follow_published()
        masks = self._context.masks
        masks.begin(exact=operation.exact and self._context.is_owner)
        options: list[object] = []
        if operation.events_path:
            options.append(lambda event: report and report(masks.mask_event(event)))
        if operation.cancellable:
            from kebab.core.progress import Cancel

            options.append(cancel or Cancel())
        handler = operation.import_handler()
        context = self._context
        names = getattr(request, "base", None)
        if names and operation.name not in MERGED:
            context = context.bases.choose(names)
        hidden: AbstractContextManager[None] = nullcontext()
        if not self._context.is_owner:
            from kebab.app.references import hide_other_folders

            hidden = hide_other_folders(cache(self._context.list_folders))
        with hidden:
            reply: R = handler(context, request, *options)
        return masks.mask_reply(reply)


def list_request_defaults(operation: str, settings: Settings) -> dict[str, Any]:
    """Return the fields of a request that settings give.

    A field that is missing has the default that its record declares.
    """
    if operation == "search":
        defaults: dict[str, Any] = msgspec.to_builtins(settings.search)
        if not settings.search.rerank:
            del defaults["rerank"]  # the engine decides
        return defaults
    if operation != "ask":
        return {}
    fields = {"mode": settings.search.mode, "limit": settings.ask.limit}
    # With reranking the engine decides.
    return fields if settings.ask.rerank else {**fields, "rerank": False}


def decode_operation_request(operation: str, raw: bytes, settings: Settings) -> Request[Reply]:
    """Return the request of a JSON object in bytes; nothing at all means an empty object.

    Raises:
        InvalidInput: The text is not JSON, or breaks the schema; `field` is the JSON path.
    """
    fields = decode_request(raw if raw.strip() else b"{}", dict[str, Any])
    return convert_operation_request(operation, fields, settings)


def convert_operation_request(
    operation: str, fields: Mapping[str, Any], settings: Settings
) -> Request[Reply]:
    """Return the request of a JSON object.

    Fields that it leaves out have the values of the settings, as on the command line.

    Raises:
        InvalidInput: The object breaks the schema; `field` is the JSON path.
    """
    form = OPERATIONS[operation].request
    filled = list_request_defaults(operation, settings) | drop_empty_fields(fields, form)
    try:
        return msgspec.convert(filled, form)
    except (msgspec.ValidationError, RecursionError) as fault:
        raise to_invalid_input(fault) from fault


def find_operation_status(reply: Reply, cancel: "Cancel | None" = None) -> Exit:
    """Return the exit status of a reply; a cancelled change of models leaves passages pending."""
    is_change = reply.__struct_config__.tag == "model_report.v1"
    if is_change and cancel is not None and cancel.requested and getattr(reply, "pending", False):
        return Exit.INTERRUPTED
    return find_exit_status(reply)


def _read(value: object, *, is_list: bool) -> object:
    """Return a value as a request has it: a path is text, and a single value a list if need be."""
    if is_list:
        many = value if isinstance(value, list | tuple) else [value]
        return [_read(one, is_list=False) for one in many]
    return fspath(value) if isinstance(value, PathLike) else value


NameKind: TypeAlias = Literal[
    "authors",
    "codes",
    "documents",
    "languages",
    "media",
    "models",
    "schemas",
    "sessions",
    "sources",
    "tags",
]

MAX_NAMES = 500
"""The most names that are returned; a shell shows no more at once."""


def list_names(settings: Settings, config_path: Path, kind: NameKind, prefix: str) -> list[str]:
    """Return the names of a kind that begin with a prefix, sorted.

    Raises:
        NotIndexed: The names are in the knowledge base, and there is none.
    """
    from kebab.text.names import join_name, read_names

    context = AppContext(settings, config_path=config_path, read_only=True)
    try:
        names = {name for name in _SOURCES[kind](context) if name.startswith(prefix)}
        if kind == "documents" and not names:
            # Of these a file name, title or alias begins with the letters.
            start = join_name(prefix)
            with context.open_catalogue() as catalogue:
                targets = catalogue.list_link_targets()
            for _, _, path, title, aliases in targets if start else ():
                forms = read_names(path, title, aliases).weights
                if any(join_name(form).startswith(start) for form in forms):
                    names.add(path)
    finally:
        context.close()
    return sorted(names)[:MAX_NAMES]


def _list_document_values(field: str) -> Callable[[AppContext], Iterable[str]]:
    """Return a function that lists the values of a field, which may be lists, of every document."""

    def list_values(context: AppContext) -> list[str]:
        with context.open_catalogue() as catalogue:
            documents = catalogue.list_documents(Filters(), limit=-1).documents
        values = [getattr(document, field) for document in documents]
        lists = ([value] if isinstance(value, str) else value or () for value in values)
        return list(filter(None, chain.from_iterable(lists)))

    return list_values


def _list_models(_: AppContext) -> list[str]:
    from kebab.embed.registry import MODELS

    return ["auto", *(model.key for model in MODELS)]


def _list_schemas(_: AppContext) -> list[str]:
    from kebab.wire.json_schema import list_schema_names

    return list_schema_names()


_SOURCES: dict[NameKind, Callable[[AppContext], Iterable[str]]] = {
    "authors": _list_document_values("authors"),
    "codes": lambda _: list(build_catalog()),
    "documents": _list_document_values("path"),
    "languages": _list_document_values("lang"),
    "media": _list_document_values("media"),
    "models": _list_models,
    "schemas": _list_schemas,
    "sessions": lambda context: [one.name for one in context.session_store.list_sessions()],
    "sources": _list_document_values("source"),
    "tags": _list_document_values("tags"),
}

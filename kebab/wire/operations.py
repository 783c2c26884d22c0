"""The operations of a knowledge base: one row holds what every surface needs to know of one.

`kebab.app.facade.Kebab.run` runs them. The surfaces are the command line, HTTP, MCP and Python.
Flags, routes, tools and tests are derived from these rows or held to them.
"""

from collections.abc import Mapping
from functools import cached_property, partial
from importlib import import_module
from typing import Any, ForwardRef, Literal, TypeAlias, get_args

from msgspec import Struct

from kebab.wire.record import LookupRequest, NotFound, Reply, Request

Effect: TypeAlias = Literal["reads", "writes", "deletes"]
"""What an operation does to the knowledge base and its models.

An operation that `writes` or `deletes` is refused under `--read-only`, except a dry run of
`import`, `repair`, `reset`, `source_rm` or `review_apply`.
`review` and `translate` read: they store only their run, in a database of its own, and nothing
under `--read-only`.
`ask` reads: it writes only the turn of a named session, which `--read-only` refuses.
"""


class Operation(Struct, frozen=True, dict=True):
    """An operation of a knowledge base.

    Records and handlers are named as `module:name` and imported on first use: the modules of all
    records would delay every command.
    """

    name: str
    module: str
    """The module of `kebab.wire` that declares the request, which is named after the operation:
    `list` has `ListRequest`. The declaration of the request names the replies."""
    handler_path: str
    """The function that does the work, below `kebab.app`: it takes the context of the knowledge
    base, the request, then the receiver of events if there are any, then `Cancel` if the operation
    is cancellable."""
    effect: Effect = "reads"
    events_path: str | None = None
    """The events that it reports; None when it reports none."""
    takes_long: bool = False
    """Whether it may take long, though it neither writes nor reports events."""
    cancellable: bool = False
    """Whether the caller can cancel it between two steps."""
    flag_of: str | None = None
    """The command that runs it by a flag; None when it has a command of its own."""
    local: bool = False
    """Whether no server offers it, because it reads or writes files that the caller names."""

    exact: bool = False
    """Whether the command line shows the text of files exactly, also keys and passwords, which all
    other operations and surfaces mask."""

    @property
    def command(self) -> str:
        """The command in the shell, which a reply names in its field `command`."""
        return self.flag_of or self.name.replace("_", " ")

    @cached_property
    def request(self) -> type[Request[Reply]]:
        """The record that callers send."""
        title = self.name.title().replace("_", "")
        request: type[Request[Reply]] = _import_name(f"kebab.wire.{self.module}:{title}Request")
        return request

    @cached_property
    def replies(self) -> tuple[type[Reply], ...]:
        """The records that it may return, the usual one first."""
        reply = get_args(self.request.__orig_bases__[0])[0]  # type: ignore[attr-defined]
        if isinstance(reply, ForwardRef):
            reply = _import_name(f"{self.request.__module__}:{reply.__forward_arg__}")
        may_miss = issubclass(self.request, LookupRequest)
        return (*(get_args(reply) or (reply,)), *((NotFound,) if may_miss else ()))

    @cached_property
    def events(self) -> type[Reply] | None:
        """The record of its events; None when it reports none."""
        return _import_name(f"kebab.wire.{self.events_path}") if self.events_path else None

    def import_handler(self) -> Any:
        """Return the function that does the work."""
        return _import_name(f"kebab.app.{self.handler_path}")


def _import_name(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


_PROGRESS = "ingest:IngestProgress"
_work = partial(Operation, effect="writes", events_path=_PROGRESS, cancellable=True)
_transfer = partial(Operation, events_path=_PROGRESS, local=True)
_review = partial(Operation, events_path="stream:ReviewEvent", cancellable=True, exact=True)

OPERATIONS: Mapping[str, Operation] = {
    row.name: row
    for row in (
        Operation("search", "search", "search:search_all"),
        Operation("grep", "fetch", "grep:grep", exact=True),
        Operation("ask", "ask", "ask:ask", events_path="ask:AnswerEvent"),
        Operation("related", "library", "library:find_related"),
        Operation("dupes", "library", "library:find_duplicates", events_path=_PROGRESS),
        Operation("list", "library", "library:list_documents"),
        Operation("inspect_doc", "library", "library:inspect_doc"),
        Operation("inspect_chunk", "library", "library:inspect_chunk"),
        Operation("outline", "fetch", "outline:outline"),
        Operation("fetch", "fetch", "fetch:fetch", exact=True),
        Operation("session_list", "ask", "ask:list_sessions"),
        Operation("session_show", "ask", "ask:show_session"),
        Operation("session_rm", "ask", "ask:remove_sessions", "deletes"),
        _work("ingest", "ingest", "ingest:ingest"),
        _work("ingest_text", "ingest", "ingest:ingest_text", flag_of="ingest"),
        Operation("rm", "library", "library:remove_documents", "deletes"),
        Operation("source_list", "library", "library:list_sources"),
        Operation("source_rm", "library", "library:remove_source", "deletes"),
        _transfer("export", "published", "archive:export"),
        _transfer("import", "published", "archive:import_archive", "deletes"),
        _transfer("publish", "published", "publish:publish"),
        _transfer("source_add", "published", "published:add_source", "writes"),
        Operation("reset", "health", "own_files:reset", "deletes"),
        Operation("init", "health", "own_files:init", "writes"),
        Operation("model_list", "health", "models:list_models"),
        _work("model_pull", "health", "models:pull_model"),
        _work("model_use", "health", "models:use_model"),
        Operation("doctor", "health", "doctor:check_health", takes_long=True),
        _work("repair", "health", "doctor:repair", flag_of="doctor"),
        Operation("schema", "health", "schema:describe_build"),
        Operation("errors", "error", "errors:count_errors"),
        Operation("inspect_error", "error", "errors:inspect_error", flag_of="errors"),
        Operation("explain", "error", "errors:explain_codes"),
        _review("review", "review", "review:review"),
        _review("translate", "review", "translate:translate"),
        Operation(
            "review_apply", "review", "review:apply_fixes", "writes", flag_of="review", exact=True
        ),
    )
}
"""Every operation by its name: the command in the shell, with `_` for each space."""

REMOTE_OPERATIONS: Mapping[str, Operation] = {
    name: row for name, row in OPERATIONS.items() if not row.local
}
"""The operations that servers offer."""

_BY_TAG = {f"{name}_request.v1": row for name, row in OPERATIONS.items()}


def find_operation(request: Request[Reply]) -> Operation:
    """Return the operation that a request asks for."""
    return _BY_TAG[str(request.__struct_config__.tag)]

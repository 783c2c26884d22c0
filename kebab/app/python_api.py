"""The operations as methods, for Python programs: `kebab.open().search("…")`.

Each operation of the registry is a method that takes the fields of its request and returns its
reply. The first argument may be positional: it is the first field that the request declares itself,
and a single value stands for a list with it. Fields that are left out have the values of the
settings, as on the command line.
"""

from collections.abc import Callable
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

from msgspec.structs import fields

from kebab.app.request_defaults import convert_operation_request
from kebab.core.progress import Cancel
from kebab.wire.operations import OPERATIONS, Operation
from kebab.wire.record import Reply, Request

if TYPE_CHECKING:
    from kebab.config.settings import Settings
    from kebab.wire.archive import ExportRequest, ImportRequest
    from kebab.wire.ask import AskRequest, SessionListRequest, SessionRmRequest, SessionShowRequest
    from kebab.wire.error import ErrorsRequest, ExplainRequest, InspectErrorRequest
    from kebab.wire.fetch import FetchRequest, GrepRequest, OutlineRequest
    from kebab.wire.health import (
        DoctorRequest,
        InitRequest,
        ModelListRequest,
        ModelPullRequest,
        ModelUseRequest,
        ResetRequest,
        SchemaRequest,
    )
    from kebab.wire.ingest import IngestRequest, IngestTextRequest
    from kebab.wire.library import (
        ExplainPathsRequest,
        InspectChunkRequest,
        InspectDocRequest,
        ListRequest,
        RmRequest,
        SourceListRequest,
        SourceRmRequest,
    )
    from kebab.wire.published import PublishRequest, SourceAddRequest
    from kebab.wire.related import DupesRequest, RelatedRequest
    from kebab.wire.repair import RepairRequest
    from kebab.wire.review import (
        ReviewApplyRequest,
        ReviewRequest,
        ReviewRmRequest,
        ReviewRulesRequest,
        ReviewRunsRequest,
        TranslateRequest,
    )
    from kebab.wire.search import SearchRequest

P = ParamSpec("P")
R = TypeVar("R", bound=Reply)
R_co = TypeVar("R_co", bound=Reply, covariant=True)


class Method(Protocol[P, R_co]):
    """A method that runs one operation."""

    @overload
    def __call__(self, *args: P.args, **given: P.kwargs) -> R_co: ...

    @overload
    def __call__(
        self,
        first: object,
        /,
        *,
        report: Callable[[Any], None] | None = None,
        cancel: Cancel | None = None,
        **given: Any,
    ) -> R_co: ...


def _declare(form: Callable[P, Request[R]]) -> Method[P, R]:
    """Return the type of the method of a request; at run time `__getattr__` makes the method."""
    raise NotImplementedError


class OperationMethods:
    """A method for each operation.

    Each takes `report`, which receives the events of the operation, and `cancel`, which stops one
    that can be cancelled.
    """

    settings: "Settings"

    if TYPE_CHECKING:
        search = _declare(SearchRequest)
        grep = _declare(GrepRequest)
        ask = _declare(AskRequest)
        related = _declare(RelatedRequest)
        dupes = _declare(DupesRequest)
        list = _declare(ListRequest)
        inspect_doc = _declare(InspectDocRequest)
        inspect_chunk = _declare(InspectChunkRequest)
        outline = _declare(OutlineRequest)
        fetch = _declare(FetchRequest)
        session_list = _declare(SessionListRequest)
        session_show = _declare(SessionShowRequest)
        session_rm = _declare(SessionRmRequest)
        ingest = _declare(IngestRequest)
        ingest_text = _declare(IngestTextRequest)
        explain_paths = _declare(ExplainPathsRequest)
        rm = _declare(RmRequest)
        source_list = _declare(SourceListRequest)
        source_rm = _declare(SourceRmRequest)
        export = _declare(ExportRequest)
        import_ = _declare(ImportRequest)
        publish = _declare(PublishRequest)
        source_add = _declare(SourceAddRequest)
        reset = _declare(ResetRequest)
        init = _declare(InitRequest)
        model_list = _declare(ModelListRequest)
        model_pull = _declare(ModelPullRequest)
        model_use = _declare(ModelUseRequest)
        doctor = _declare(DoctorRequest)
        repair = _declare(RepairRequest)
        schema = _declare(SchemaRequest)
        errors = _declare(ErrorsRequest)
        inspect_error = _declare(InspectErrorRequest)
        explain = _declare(ExplainRequest)
        review = _declare(ReviewRequest)
        translate = _declare(TranslateRequest)
        review_runs = _declare(ReviewRunsRequest)
        review_rm = _declare(ReviewRmRequest)
        review_apply = _declare(ReviewApplyRequest)
        review_rules = _declare(ReviewRulesRequest)

    def run(
        self,
        request: Request[R],
        *,
        report: Callable[[Any], None] | None = None,
        cancel: Cancel | None = None,
    ) -> R:
        """Run the operation that a request asks for, and return its reply."""
        raise NotImplementedError

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Reply]:
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
        cancel: Cancel | None = None,
        **given: Any,
    ) -> Reply:
        form, named = operation.request, dict(given)
        if first:
            own = [*vars(form).get("__annotations__", ()), *form.__struct_fields__]
            named |= zip(own[:1], first, strict=True)
        lists = {one.name for one in fields(form) if "list[" in str(one.type)}
        values = {name: _read(value, is_list=name in lists) for name, value in named.items()}
        request = convert_operation_request(operation.name, values, self.settings)
        return self.run(request, report=report, cancel=cancel)


def _read(value: object, *, is_list: bool) -> object:
    """Return a value as a request has it: a path is text, and a single value a list if need be."""
    if is_list:
        many = value if isinstance(value, list | tuple) else [value]
        return [_read(one, is_list=False) for one in many]
    return fspath(value) if isinstance(value, PathLike) else value

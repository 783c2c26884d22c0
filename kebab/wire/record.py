"""Base classes of wire records, their conversion to and from JSON, exit statuses, and citations.

A citation is the place of a passage in the user's file; each kind of place has its own record.

The docstring of a field is published as its description in the schema. A field of a reply whose
name says all has none.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from kebab.errors.catalog import InvalidInput
from kebab.errors.hints import limit_hint
from kebab.errors.signal import Exit

R = TypeVar("R", bound="Reply")
F = TypeVar("F", bound=Struct)
R_co = TypeVar("R_co", bound="Reply", covariant=True)

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised for bytes that are not JSON, not UTF-8, or nested too deeply."""

_FLOAT_PLACES = 6
_encoder = msgspec.json.Encoder()


class Record(Struct, frozen=True, kw_only=True, tag_field="schema_version"):
    """An object that may be part of others; readers ignore fields that they do not know."""


FinishName = Literal["stop", "length", "content_filter", "tool_calls"]
"""Why a language model stopped, in the words of its server."""

VectorState = Literal["pending", "committed", "unsupported"]
"""Whether a passage waits for a vector, has one, or is in a script unknown to its model."""

MASKED = "keys or passwords are masked here"
"""What a reader of text is told once for each reply with a mask."""


class Reply(Record, frozen=True, kw_only=True):
    """An object that may be at the top level, where it has the fields of the envelope."""

    command: str | UnsetType = UNSET
    """The command that replies; at the top level only."""
    timestamp: str | UnsetType = UNSET
    """The time of the reply, RFC 3339 in UTC with `Z`; at the top level only."""
    exit_code: int | UnsetType | None = UNSET
    """The exit status of the process, null while it is not known; at the top level only."""
    output_format: Literal["json"] | UnsetType = UNSET
    """Always `json`; at the top level only."""
    masked: bool | UnsetType = UNSET
    """True when keys or passwords are masked in this reply; absent otherwise."""


class Hinted(Struct, frozen=True, kw_only=True):
    """A record with a `hint` or a `fix`: one line of at most `MAX_HINT_CHARS`, else null."""

    def __post_init__(self) -> None:
        """Leave out a hint that does not fit."""
        name = "hint" if "hint" in self.__struct_fields__ else "fix"
        hint = getattr(self, name)
        if hint is not None and limit_hint(hint) is None:
            msgspec.structs.force_setattr(self, name, None)


class Request(
    Struct,
    Generic[R_co],
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="schema_version",
):
    """An object that callers send; an unknown field is an error.

    The parameter names the records that may answer it, as in `Request["Outline"]`.
    """


class LookupFault(Struct, frozen=True, kw_only=True):
    """The reason why a name was not found."""

    kind: Literal["not_found", "ambiguous"]
    """Whether no object has this name, or several have it."""
    message: str
    retryable: bool
    """Always false: the same name gives the same result."""
    candidates: list[str]
    """What an ambiguous name could mean, or names that are nearly the same; `fetch` takes each."""


class NotFound(Reply, frozen=True, kw_only=True, tag="not_found.v1"):
    """The reply that no object has the given name; it is a result, not an error."""

    name: str
    found: Literal[False]
    error: LookupFault


class LookupRequest(Request[R_co | NotFound], Generic[R_co], frozen=True, kw_only=True):
    """A request that names an object, which may not exist."""


def fill_record(form: type[F], *sources: Any, **given: Any) -> F:
    """Return a record whose fields are `given`, or attributes of this name of the first source.

    Values have the types of JSON: a tuple becomes a list, a member of an enumeration its value.
    """
    for name in form.__struct_fields__:
        source = next((one for one in sources if hasattr(one, name)), None)
        if name not in given and source is not None:
            value = getattr(source, name)
            value = value.value if isinstance(value, Enum) else value
            given[name] = list(value) if isinstance(value, tuple) else value
    return form(**given)


def format_timestamp(seconds: float) -> str:
    """Return seconds since the epoch as RFC 3339 in UTC, to the millisecond."""
    time = datetime.fromtimestamp(seconds, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def add_envelope(reply: R, *, command: str, timestamp: str, exit_code: int | None) -> R:
    """Return the reply with the fields of the envelope."""
    return msgspec.structs.replace(
        reply, command=command, timestamp=timestamp, exit_code=exit_code, output_format="json"
    )


def encode_json(record: Record | Request[Reply]) -> bytes:
    """Return one line of JSON in UTF-8 without a newline, floats rounded to 6 places."""
    return _encoder.encode(_round_floats(msgspec.to_builtins(record)))


def decode_request(raw: bytes, record_type: Any) -> Any:
    """Decode a request from JSON; `record_type` is its type, or a union with simpler types.

    Raises:
        InvalidInput: The text is not JSON, or breaks the schema; `field` is the JSON path.
    """
    try:
        return msgspec.json.decode(raw, type=record_type)
    except DECODE_ERRORS as fault:
        raise to_invalid_input(fault) from fault


def drop_empty_fields(given: Mapping[str, Any], kind: type[Struct]) -> dict[str, Any]:
    """Return the fields of a request without empty strings, which mean that one is left out.

    A field that the request needs stays.
    """
    optional = {one.encode_name for one in structs.fields(kind) if not one.required}
    return {name: value for name, value in given.items() if value != "" or name not in optional}


def to_invalid_input(fault: Exception) -> InvalidInput:
    """Convert an exception of msgspec; its message ends in the JSON path of the field."""
    cause, _, path = str(fault).partition(" - at `")
    return InvalidInput(field=path.rstrip("`") or "$", cause=cause)


def _round_floats(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _FLOAT_PLACES)
    if isinstance(value, dict):
        return {key: _round_floats(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_round_floats(item) for item in value]
    return value


COMMON_DESCRIPTIONS = {
    "allow_write": "Whether operations may write and delete.",
    "backlinks": "The documents that link to the document.",
    "bytes": "The size in bytes.",
    "cancel_observed": "Whether the person asked to stop while the answer was written.",
    "chunk_count": "The number of passages.",
    "chunk_id": "The id of the passage; `kebab fetch ID` returns its whole text.",
    "chunks": "The number of passages.",
    "citation": "The place of the passage in the file.",
    "corpus_revision": "The revision of the index.",
    "coverage": "What the index covers of all sources; null without an index that can be read.",
    "created_at": "The time when it was made, RFC 3339 in UTC.",
    "data_dir": "The data directory of the knowledge base.",
    "degraded": "The channels that were not available.",
    "doc_id": "The id of the document.",
    "doc_path": "The path of the document below its source, exactly as on disk.",
    "documents": "The number of documents.",
    "dry_run": "Whether only what would happen is reported.",
    "duration_ms": "The time that it took.",
    "embedding_version": "The embedding version of the vectors; null without vectors.",
    "file": "The absolute path of the file; null for text from standard input.",
    "freshness": "How the file on disk compares with what was indexed.",
    "has_more": "Whether there are further ones.",
    "heading_path": "The headings that lead to the passage.",
    "hint": "The command or the step that helps; null without one.",
    "indexed_at": "The time when it was indexed, RFC 3339.",
    "indexing": "The ingest that another process runs now; absent when there is none.",
    "kebab_version": "The version of kebab.",
    "lang": "The language of the document; null when unknown.",
    "media": "The media type of the document.",
    "message": "One sentence for a person.",
    "name": "Its name.",
    "next_cursor": "The cursor of the next page; null at the end.",
    "no_passages": "The reason why the document has no text, so that only its name finds it, e.g."
    " `no text`; null when it has some.",
    "path": "The path of the file.",
    "pid": "The id of the process.",
    "severity": "The severity of the error.",
    "skip_examples": "A few names for each reason.",
    "source": "The name of the source.",
    "tags": "The tags of the document.",
    "timing_ms": "The time that it took.",
    "title": "The title of the document.",
    "unmatched_filters": "The filters that no document passes, alone or together; else empty.",
    "vectors": "The number of passages with a vector.",
    "workspace": "The folder that `kebab ingest` reads without a path.",
}
"""The descriptions of fields without a docstring, by the name of the field."""


def read_field_docstrings(record_type: type) -> dict[str, str]:
    """Return the docstring of each field of a class, inherited fields included."""
    found: dict[str, str] = {}
    for ancestor in reversed(record_type.__mro__):
        if ancestor.__module__.startswith("kebab."):
            found |= _read_module_docstrings(ancestor.__module__).get(ancestor.__name__, {})
    return found


@cache
def _read_module_docstrings(module: str) -> dict[str, dict[str, str]]:
    common = COMMON_DESCRIPTIONS if module.startswith("kebab.wire.") else {}
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.ClassDef):
            texts, name = found.setdefault(node.name, {}), ""
            for one in node.body:
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                    name = one.target.id
                    texts |= {name: common[name]} if name in common else {}
                elif name and isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                    texts[name] = " ".join(str(one.value.value).split())
    return found


def find_exit_status(reply: Reply) -> Exit:
    """Return the exit status of a result; an HTTP or MCP reply carries it as `exit_code`.

    `NO` is an honest negative result, such as a search without a convincing hit.
    """
    find = _STATUSES.get(str(reply.__struct_config__.tag))
    return find(reply) if find else Exit.DONE


def _find_answer_status(reply: Any) -> Exit:
    if reply.grounded:
        return Exit.DONE
    return Exit.INTERRUPTED if reply.refusal_reason == "llm_stream_aborted" else Exit.NO


def _find_review_status(reply: Any) -> Exit:
    """Return the status of a page: `NO` for a finding, or text that the model left unanswered.

    Text without an answer counts only when the model was asked for by name.
    """
    severities = ("error", "warning", "suggestion")
    failing = () if reply.fail_on == "never" else severities[: severities.index(reply.fail_on) + 1]
    left_out = reply.translation.findings if reply.translation else ()
    # Translated segments are no findings.
    found = [item for item in reply.items if item.k != "translation"]
    if reply.model_required and reply.unanswered_count:
        return Exit.NO
    return Exit.NO if any(item.s in failing for item in [*found, *left_out]) else Exit.DONE


def _find_repair_status(reply: Any) -> Exit:
    if reply.cancelled:
        return Exit.INTERRUPTED
    return Exit.DONE if reply.ok else Exit.UNUSABLE


def _unless(is_negative: Callable[[Any], object], status: Exit = Exit.NO) -> Callable[[Any], Exit]:
    """Return a function that gives `status` for a negative reply, else `DONE`."""
    return lambda reply: status if is_negative(reply) else Exit.DONE


# The names of the records, because importing their modules slows every command.
_STATUSES: dict[str, Callable[[Any], Exit]] = {
    "agent_items.v2": _find_review_status,
    "answer.v1": _find_answer_status,
    "doc_list.v1": _unless(lambda reply: reply.unmatched_filters),
    "doctor.v1": _unless(lambda reply: not reply.ok, Exit.UNUSABLE),
    "duplicates.v1": _unless(lambda reply: not reply.groups),
    "fetch_list.v1": _unless(lambda reply: reply.missing),
    "grep_response.v1": _unless(lambda reply: not reply.files),
    "ingest_report.v1": _unless(lambda reply: reply.cancelled, Exit.INTERRUPTED),
    "not_found.v1": lambda _: Exit.NO,
    "related_docs.v1": _unless(lambda reply: not reply.related),
    "repair_report.v1": _find_repair_status,
    "search_response.v1": _unless(lambda reply: not (reply.hits and reply.convincing)),
}


Freshness = Literal["fresh", "changed", "gone", "published"]
"""How a file compares with what was indexed; `published` files stayed with their publisher."""
ABSENT: tuple[Freshness, ...] = ("gone", "published")
"""The states of files that are not on this machine."""
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]


class LineSpan(Struct, frozen=True, kw_only=True):
    """Lines of a file."""

    start: Positive
    """The first line, 1-based."""
    end: Positive
    """The last line, inclusive."""


class PageSpan(Struct, frozen=True, kw_only=True):
    """A page of a document."""

    number: Positive
    """The number of the page, from 1."""
    of: Positive


class CellSpan(Struct, frozen=True, kw_only=True):
    """A cell of a notebook, or the cells of a sheet."""

    index: Count
    """The index of the cell in the notebook, or of the sheet in the workbook, from 0."""
    sheet: str | None = None
    """The name of the sheet; null for a notebook."""
    range: str | None = None
    """The cells of the sheet, e.g. `A2:F20`; null for a notebook."""


class SlideSpan(Struct, frozen=True, kw_only=True):
    """A slide of a presentation."""

    number: Positive
    """The number of the slide, from 1."""


class SectionSpan(Struct, frozen=True, kw_only=True):
    """A section of a document that has neither lines nor pages."""

    title: str
    """The heading of the section."""


class CodeSpan(LineSpan, frozen=True, kw_only=True):
    """Lines of source code."""

    symbol: str
    """The function, class or section."""
    language: str


class _Citation(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """The place of a passage in the user's file."""

    schema_version: Literal["citation.v1"] = "citation.v1"
    path: str
    """The path of the document below its source, exactly as on disk."""
    uri: str
    """The path, percent-encoded where needed, with a fragment that names the place."""
    origin: str | UnsetType = UNSET
    """What wrote the passage where a model did, e.g. `caption by llava` or `text read by llava`: it
    may be wrong. Left out for the text of the file itself."""

    @property
    def cited_lines(self) -> tuple[int, int] | None:
        """The first and the last line; None for a place without lines."""
        span: LineSpan | None = getattr(self, "line", None) or getattr(self, "code", None)
        return None if span is None else (span.start, span.end)


class LineCitation(_Citation, frozen=True, kw_only=True, tag="line"):
    """Lines of a text file that contain the quoted text."""

    line: LineSpan


class PageCitation(_Citation, frozen=True, kw_only=True, tag="page"):
    """A page."""

    page: PageSpan


class CellCitation(_Citation, frozen=True, kw_only=True, tag="cell"):
    """A notebook cell."""

    cell: CellSpan


class SlideCitation(_Citation, frozen=True, kw_only=True, tag="slide"):
    """A slide."""

    slide: SlideSpan


class SectionCitation(_Citation, frozen=True, kw_only=True, tag="section"):
    """A section."""

    section: SectionSpan


class CodeCitation(_Citation, frozen=True, kw_only=True, tag="code"):
    """Lines of source code with their symbol."""

    code: CodeSpan


Citation = (
    LineCitation | PageCitation | CellCitation | SlideCitation | SectionCitation | CodeCitation
)


def find_fragment(uri: str) -> str:
    """Return the place that a URI of a citation names, with its `#`; empty for a whole file."""
    _, mark, place = uri.partition("#")
    return mark + place


class FetchedPlace(Struct, frozen=True, kw_only=True):
    """Where a page, a slide, a cell or rows of a sheet begin in a fetched text."""

    line: int
    """The line of its first line, counted as `start_line` is."""
    uri: str
    """Its citation, which `fetch` takes, e.g. `paper.pdf#page=3`."""
    origin: str | UnsetType = UNSET
    """What wrote its text where a model did, as in the citation."""

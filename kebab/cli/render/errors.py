"""Renders errors, the error catalog and the error log."""

import shlex
from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, clean, format_tabs, pluralize, render_fields
from kebab.wire.error import (
    ErrorAudit,
    ErrorCatalog,
    ErrorCount,
    ErrorGroup,
    ErrorReply,
    ErrorRow,
    ErrorStats,
    describe_backoff,
)

_MINUTE = len("2025-01-31T12:00")
_ID = 12
_HEADS = ("count", "share", "last (UTC)", "last id")
_FIGURES = 2 + len("count") + 2 + len("share") + 2 + _MINUTE + 2 + _ID
"""The number of cells of the columns after the first."""


def render_error(reply: ErrorReply, canvas: Canvas, log: str | None = None) -> Iterator[str]:
    """Yield the message of a reported error, its hint, its code, its causes and the log."""
    yield from canvas.wrap_with_label("error:", clean(reply.message), canvas.error)
    if reply.hint:
        yield from canvas.hint(clean(reply.hint))
    yield canvas.dim(f"code: {reply.code}")
    chain: object = reply.details.get("chain")
    if isinstance(chain, list):
        yield from (canvas.dim(f"  caused by: {clean(str(cause))}") for cause in chain)
    if log:
        yield canvas.dim(f"log: {clean(log)}: {reply.correlation_id}")


def render_error_stats(reply: ErrorStats, canvas: Canvas) -> Iterator[str]:
    """Yield the counts: a table on a terminal, tab-separated fields in a pipe."""
    if canvas.width is None:
        yield from (_format_fields(group, row) for group in reply.groups for row in group.counts)
        return
    since = f" since {_format_minute(reply.since)} UTC" if reply.since else ""
    yield f"{pluralize(reply.total, 'error') if reply.total else 'no errors'}{since}"
    if reply.total:
        yield ""
        yield from _render_table(reply.groups[0], canvas)
        if rest := [(group.by, _format_counts(group)) for group in reply.groups[1:]]:
            yield ""
            yield from render_fields(rest, canvas)
        yield ""
        yield canvas.dim("show one: kebab errors --id ID")
    if reply.unreadable:
        lines = pluralize(reply.unreadable, "line")
        yield from canvas.note(f"{lines} not counted, broken or foreign: {clean(reply.log)}")


def render_error_entry(reply: ErrorAudit, canvas: Canvas) -> Iterator[str]:
    """Yield the whole log entry of one error."""
    meta = reply.meta
    time = f"{_format_minute(reply.occurred_at)} UTC"
    yield f"{canvas.strong(clean(reply.code))}  {canvas.dim(time)}"
    yield ""
    yield from canvas.wrap(clean(reply.message))
    yield ""
    yield from render_fields(
        [
            ("command", clean(shlex.join(["kebab", *meta.argv]))),
            ("exit status", str(reply.status)),
            ("kind", clean(reply.kind)),
            ("retry", reply.retry),
            ("severity", reply.severity),
            ("id", clean(reply.correlation_id)),
            ("data", clean(meta.data_dir or "")),
            ("build", clean(f"kebab {meta.kebab_version}, Python {meta.python}")),
            ("system", clean(f"{meta.platform}, pid {meta.pid}")),
        ],
        canvas,
    )
    chain = reply.chain[1:] and reply.chain  # a single cause repeats the message
    for title, lines in (("chain", chain), ("traceback", reply.traceback)):
        if lines:
            yield ""
            yield canvas.dim(title)
            yield from (f"  {clean(line)}".rstrip() for line in lines)


def _render_table(group: ErrorGroup, canvas: Canvas) -> Iterator[str]:
    """Yield one line per value; a narrow terminal gets no id."""
    widest = max(len(group.by), *(len(clean(row.value)) for row in group.counts))
    has_ids = canvas.width is None or canvas.width >= widest + _FIGURES
    count, share, last, name = _HEADS
    heads = f"{group.by:<{widest}}  {count}  {share}  {last:<{_MINUTE}}"
    yield canvas.dim(f"{heads}  {name}" if has_ids else heads.rstrip())
    for row in group.counts:
        value = canvas.strong(f"{clean(row.value):<{widest}}")
        figures = f"{row.count:>{len(count)}}  {row.share:>{len(share)}.0%}"
        line = f"{value}  {figures}  {canvas.dim(_format_minute(row.last_at))}"
        yield f"{line}  {clean(row.correlation_ids[0][:_ID])}" if has_ids else line
    if group.left_out:
        yield canvas.dim(f"and {group.left_out} more; --limit shows more of them")


def _format_counts(group: ErrorGroup) -> str:
    counts = ", ".join(f"{clean(row.value)} {row.count}" for row in group.counts)
    return f"{counts}, …" if group.left_out else counts


def _format_fields(group: ErrorGroup, row: ErrorCount) -> str:
    figures = (str(row.count), f"{row.share:.4f}")
    times = (row.first_at, row.last_at)
    return format_tabs(group.by, row.value, *figures, *times, row.correlation_ids[0])


def _format_minute(timestamp: str) -> str:
    return clean(timestamp[:_MINUTE]).replace("T", " ")


def render_error_table(reply: ErrorCatalog, canvas: Canvas) -> Iterator[str]:
    """Yield one line per error code."""
    width = max(len(row.code) for row in reply.errors)
    for row in reply.errors:
        blank = " " * (width + 5)
        first, *rest = canvas.wrap(row.message, blank)
        yield f"{canvas.strong(f'{row.code:<{width}}')}  {row.exit_code}  {first[len(blank) :]}"
        yield from rest
    if canvas.is_terminal:
        yield ""
        yield canvas.dim("more of one: kebab explain CODE")


def render_error_explanations(reply: ErrorCatalog, canvas: Canvas) -> Iterator[str]:
    """Yield the explanation and the facts of each error code."""
    for number, row in enumerate(reply.errors):
        if number:
            yield ""
        yield canvas.strong(row.code)
        yield ""
        for paragraph in row.explanation.split("\n\n"):
            yield from canvas.wrap(" ".join(paragraph.split()))
            yield ""
        yield from render_fields(_list_facts(row), canvas)


def _list_facts(row: ErrorRow) -> list[tuple[str, str]]:
    return [
        ("message", row.message),
        ("hint", row.hint or ""),
        ("details", ", ".join(f"{field.name} ({field.type})" for field in row.details)),
        ("exit status", str(row.exit_code)),
        ("retry", row.retry),
        ("try again", describe_backoff(row.backoff) if row.backoff else ""),
        ("reserved", "nothing raises it yet" if row.reserved else ""),
        ("kind", row.kind),
        ("http", str(row.http_status)),
        ("grpc", row.grpc_status),
    ]

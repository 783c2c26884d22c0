"""Renders errors, the catalogue and the audit log."""

import shlex
from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, pluralize, render_fields
from kebab.cli.render.width import clean
from kebab.wire.catalog import describe_backoff
from kebab.wire.error import (
    ErrorAudit,
    ErrorCatalog,
    ErrorCount,
    ErrorGroup,
    ErrorReply,
    ErrorRow,
    ErrorStats,
)

_MINUTE = len("2025-01-31T12:00")
_ID = 12
_HEADS = ("count", "share", "last (UTC)", "last id")
_FIGURES = 2 + len("count") + 2 + len("share") + 2 + _MINUTE + 2 + _ID
"""How many cells the columns after the first take."""


def render_error(reply: ErrorReply, canvas: Canvas, log: str | None = None) -> Iterator[str]:
    """Yield the message of a reported error, its hint, its code, its causes and the log."""
    yield from canvas.wrap_with_label("error:", clean(reply.message), canvas.error)
    if reply.hint:
        yield from canvas.hint(clean(reply.hint))
    yield canvas.dim(f"code: {reply.code}")
    chain: object = reply.details.get("chain")
    if isinstance(chain, list):
        yield from (canvas.dim(f"  caused by: {clean(str(one))}") for one in chain)
    if log:
        yield canvas.dim(f"log: {clean(log)}: {reply.correlation_id}")


def render_error_stats(reply: ErrorStats, canvas: Canvas) -> Iterator[str]:
    """Yield the counts: a table for a person, tab-separated fields for a pipe."""
    if canvas.width is None:
        yield from (_fields(group, one) for group in reply.groups for one in group.counts)
        return
    since = f" since {_minute(reply.since)} UTC" if reply.since else ""
    yield f"{pluralize(reply.total, 'error') if reply.total else 'no errors'}{since}"
    if reply.total:
        yield ""
        yield from _table(reply.groups[0], canvas)
        if rest := [(group.by, _inline(group)) for group in reply.groups[1:]]:
            yield ""
            yield from render_fields(rest, canvas)
        yield ""
        yield canvas.dim("show one: kebab errors --id ID")
    if reply.unreadable:
        lines = pluralize(reply.unreadable, "line")
        yield f"{canvas.warning('note:')} {lines} not counted, broken or foreign: {clean(reply.log)}"


def render_error_entry(reply: ErrorAudit, canvas: Canvas) -> Iterator[str]:
    """Yield all that the log holds of one error."""
    meta = reply.meta
    yield f"{canvas.strong(clean(reply.code))}  {canvas.dim(f'{_minute(reply.occurred_at)} UTC')}"
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
    chain = reply.chain[1:] and reply.chain  # alone it is the message again
    for title, lines in (("chain", chain), ("traceback", reply.traceback)):
        if lines:
            yield ""
            yield canvas.dim(title)
            yield from (f"  {clean(line)}".rstrip() for line in lines)


def _table(group: ErrorGroup, canvas: Canvas) -> Iterator[str]:
    """Yield one line per value; where the terminal is narrow, without the id."""
    widest = max(len(group.by), *(len(clean(one.value)) for one in group.counts))
    full = canvas.width is None or canvas.width >= widest + _FIGURES
    count, share, last, name = _HEADS
    heads = f"{group.by:<{widest}}  {count}  {share}  {last:<{_MINUTE}}"
    yield canvas.dim(f"{heads}  {name}" if full else heads.rstrip())
    for one in group.counts:
        value = canvas.strong(f"{clean(one.value):<{widest}}")
        figures = f"{one.count:>{len(count)}}  {one.share:>{len(share)}.0%}"
        line = f"{value}  {figures}  {canvas.dim(_minute(one.last_at))}"
        yield f"{line}  {clean(one.correlation_ids[0][:_ID])}" if full else line
    if group.left_out:
        yield canvas.dim(f"and {group.left_out} more; --limit shows more of them")


def _inline(group: ErrorGroup) -> str:
    said = ", ".join(f"{clean(one.value)} {one.count}" for one in group.counts)
    return f"{said}, …" if group.left_out else said


def _fields(group: ErrorGroup, one: ErrorCount) -> str:
    figures = (str(one.count), f"{one.share:.4f}")
    fields = (group.by, one.value, *figures, one.first_at, one.last_at, one.correlation_ids[0])
    return "\t".join(map(clean, fields))


def _minute(moment: str) -> str:
    return clean(moment[:_MINUTE]).replace("T", " ")


def render_error_table(reply: ErrorCatalog, canvas: Canvas) -> Iterator[str]:
    """Yield one line per code."""
    width = max(len(one.code) for one in reply.errors)
    for one in reply.errors:
        yield f"{canvas.strong(f'{one.code:<{width}}')}  {one.exit_code}  {one.message}"
    if canvas.is_terminal:
        yield ""
        yield canvas.dim("more of one: kebab explain CODE")


def render_error_explanations(reply: ErrorCatalog, canvas: Canvas) -> Iterator[str]:
    """Yield all that is to be said of each code."""
    for number, one in enumerate(reply.errors):
        if number:
            yield ""
        yield from _explained(one, canvas)


def _explained(one: ErrorRow, canvas: Canvas) -> Iterator[str]:
    yield canvas.strong(one.code)
    yield ""
    for paragraph in one.explanation.split("\n\n"):
        yield from canvas.wrap(" ".join(paragraph.split()))
        yield ""
    details = ", ".join(f"{field.name} ({field.type})" for field in one.details)
    yield from render_fields(
        [
            ("message", one.message),
            ("hint", one.hint or ""),
            ("details", details),
            ("exit status", str(one.exit_code)),
            ("retry", one.retry),
            ("try again", describe_backoff(one.backoff) if one.backoff else ""),
            ("reserved", "nothing raises it yet" if one.reserved else ""),
            ("kind", one.kind),
            ("http", str(one.http_status)),
            ("grpc", one.grpc_status),
        ],
        canvas,
    )

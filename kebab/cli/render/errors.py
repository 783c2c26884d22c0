"""Renders errors, the error catalog and the error log, without control characters (`clean`)."""

import shlex
from collections.abc import Iterator

from kebab.cli.render.canvas import (
    Canvas,
    Column,
    clean,
    format_minute,
    list_fields,
    render_columns,
    render_fields,
)
from kebab.wire.coverage import pluralize
from kebab.wire.error import ErrorAudit, ErrorCatalog, ErrorReply, ErrorStats

_ID = 12
"""How many characters of a correlation id are shown; `kebab errors --id` takes a prefix."""


def render_error(reply: ErrorReply, canvas: Canvas, log: str | None = None) -> Iterator[str]:
    """Yield the message of an error, its hint, code and causes, and the log that has the rest."""
    yield from canvas.wrap(clean(reply.message), f"{canvas.error('error:')} ")
    yield from canvas.hint(reply.hint or "")
    yield canvas.dim(f"code: {reply.code}")
    chain: object = reply.details.get("chain")
    if isinstance(chain, list):
        yield from (canvas.dim(f"  caused by: {clean(str(cause))}") for cause in chain)
    if log:
        yield canvas.dim(f"log: {clean(log)}: {reply.correlation_id}")


def render_error_stats(reply: ErrorStats, canvas: Canvas) -> Iterator[str]:
    """Yield the counts of the first field as a table, and the others in short form."""
    since = f" since {format_minute(reply.since)} UTC" if reply.since else ""
    yield f"{pluralize(reply.total, 'error') if reply.total else 'no errors'}{since}"
    if reply.total:
        yield ""
        # Without `--by` the first group counts codes, and the others follow in short form.
        first, *others = reply.groups
        columns = (
            Column(first.by, canvas.strong),
            Column("count", right=True),
            Column("share", right=True),
            Column("last (UTC)", canvas.dim),
            Column("last id"),
        )
        rows = [
            (
                clean(row.value),
                str(row.count),
                f"{row.share:.0%}",
                format_minute(row.last_at),
                clean(row.correlation_ids[0][:_ID]),
            )
            for row in first.counts
        ]
        yield from render_columns(columns, rows, canvas)
        short = [
            (group.by, ", ".join(f"{clean(row.value)} {row.count}" for row in group.counts))
            for group in others
        ]
        yield from ["", *render_fields(short, canvas)] if short else []
        yield from ["", canvas.dim("show one: kebab errors --id ID")]
    if reply.unreadable:
        lines = pluralize(reply.unreadable, "line")
        yield from canvas.note(f"{lines} not counted, broken or foreign: {reply.log}")


def render_error_entry(reply: ErrorAudit, canvas: Canvas) -> Iterator[str]:
    """Yield the whole log entry of one error."""
    meta = reply.meta
    time = f"{format_minute(reply.occurred_at)} UTC"
    yield f"{canvas.strong(clean(reply.code))}  {canvas.dim(time)}"
    yield ""
    yield from canvas.wrap(clean(reply.message))
    yield ""
    command = ("command", clean(shlex.join(["kebab", *meta.argv])))
    rows = [
        *list_fields(reply, "code", "message", "chain", "traceback"),
        *list_fields(meta, "argv"),
    ]
    yield from render_fields([command, *rows], canvas)
    chain = reply.chain[1:] and reply.chain  # a single cause repeats the message
    for title, lines in (("chain", chain), ("traceback", reply.traceback)):
        if lines:
            yield ""
            yield canvas.dim(title)
            yield from (f"  {clean(line)}".rstrip() for line in lines)


def render_error_table(reply: ErrorCatalog, canvas: Canvas) -> Iterator[str]:
    """Yield one line per error code."""
    columns = (Column("", canvas.strong), Column(), Column(wraps=True))
    rows = [(row.code, str(row.exit_code), row.message) for row in reply.errors]
    yield from render_columns(columns, rows, canvas)
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
        details = ", ".join(f"{field.name} ({field.type})" for field in row.details)
        facts = [*list_fields(row, "code", "explanation", "details"), ("details", details)]
        yield from render_fields(facts, canvas)

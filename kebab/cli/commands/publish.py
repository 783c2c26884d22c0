"""`kebab publish` writes the knowledge base where others can search it."""

from collections.abc import Iterator

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.render.canvas import Canvas, clean, format_bytes
from kebab.errors.signal import Exit
from kebab.wire.coverage import pluralize
from kebab.wire.published import PublishReport, PublishRequest


@declare_command(
    "publish",
    examples=(
        "kebab publish s3://team-bucket/handbook",
        "kebab publish /srv/www/kb",
    ),
)
@click.argument("dest", metavar="DEST")
def command(context: CommandContext, *, dest: str) -> Exit:
    """Publish the knowledge base, so that others can search it.

    DEST is a folder, or an address that begins with `s3://`, `gs://` or `az://`; credentials come
    from the environment. It becomes a LanceDB dataset. What did not change is not sent again.
    Readers see the earlier state until the new one is complete. It holds the text of your
    documents, also keys and passwords in them, but neither sessions nor reviews nor absolute paths.
    Readers use `kebab source add ADDRESS`, or `kebab --data-dir ADDRESS search`.
    """
    reply, _ = run_work(context, PublishRequest(dest=dest))
    return context.print_reply(reply, render_publication)


def render_publication(reply: PublishReport, canvas: Canvas) -> Iterator[str]:
    """Yield what is published, and how much of it was sent."""
    yield f"published to {canvas.location(clean(reply.dest))}"
    counts = {"document": reply.documents, "passage": reply.chunks, "vector": reply.vectors}
    yield f"  {', '.join(pluralize(count, name) for name, count in counts.items())}"
    changes = f"{pluralize(reply.added, 'passage')} new, {reply.removed:,} gone"
    sent, whole = format_bytes(reply.sent_bytes), format_bytes(reply.bytes)
    yield f"  {changes}; {sent} sent, a copy needs {whole}"

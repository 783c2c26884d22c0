"""`kebab publish` writes the knowledge base where others can search it."""

from collections.abc import Iterator

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.render.canvas import Canvas, clean, format_bytes, pluralize
from kebab.errors.signal import Exit
from kebab.wire.published import PublishReport, PublishRequest


@declare_command(
    "publish",
    exits=(Exit.UNUSABLE,),
    examples=(
        "kebab publish s3://team-bucket/handbook",
        "kebab publish /srv/www/kb",
        "kebab publish s3://team-bucket/handbook --dry-run",
    ),
)
@click.argument("dest", metavar="DEST")
@click.option("--dry-run", is_flag=True, help="Only say what would be sent.")
def command(context: CommandContext, *, dest: str, dry_run: bool) -> Exit:
    """Publish the knowledge base, so that others can search it.

    DEST is a folder, or an address that begins with `s3://`, `gs://` or `az://`; credentials come
    from the environment. It becomes a LanceDB dataset. What did not change is not sent again.
    Readers see the earlier state until the new one is complete. It holds the text of your
    documents, also keys and passwords in them, but neither sessions nor reviews nor absolute paths.
    Readers use `kebab source add ADDRESS`, or `kebab --data-dir ADDRESS search`.
    """
    request = PublishRequest(dest=dest, dry_run=dry_run)
    return context.print_reply(run_work(context, request)[0], render_publication)


def render_publication(reply: PublishReport, canvas: Canvas) -> Iterator[str]:
    """Yield what is published, and how much of it was sent."""
    done = "would publish" if reply.dry_run else "published"
    yield f"{done} to {canvas.location(clean(reply.dest))}"
    counts = {"document": reply.documents, "passage": reply.chunks, "vector": reply.vectors}
    yield f"  {', '.join(pluralize(count, name) for name, count in counts.items())}"
    changes = f"{pluralize(reply.added, 'passage')} new, {reply.removed:,} gone"
    if reply.dry_run:
        yield f"  {changes}"
    else:
        sent, whole = format_bytes(reply.sent_bytes), format_bytes(reply.bytes)
        yield f"  {changes}; {sent} sent, a copy needs {whole}"

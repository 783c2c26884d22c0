"""`kebab publish` writes a snapshot of the knowledge base where others can search it."""

from collections.abc import Iterator

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.render.canvas import Canvas, clean, format_bytes, pluralize
from kebab.errors.signal import Exit
from kebab.wire.published import PublishReport, PublishRequest


@click.command(
    "publish",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=(
        "kebab publish s3://team-bucket/handbook",
        "kebab publish /srv/www/kb --with-texts",
        "kebab publish s3://team-bucket/handbook --dry-run",
    ),
)
@click.argument("dest", metavar="DEST")
@click.option("--with-texts", is_flag=True, help="Publish the files of the documents too.")
@click.option("--dry-run", is_flag=True, help="Only say what would be sent.")
@click.pass_obj
def command(context: CommandContext, *, dest: str, with_texts: bool, dry_run: bool) -> Exit:
    """Publish the knowledge base, so that others can search it.

    DEST is a folder, or an address that begins with `s3://`, `gs://` or `az://`; credentials come
    from the environment. What did not change is not sent again. Readers see the earlier snapshot
    until the new one is complete. It holds the text of your documents, also keys and passwords in
    them, but neither sessions nor reviews nor absolute paths. Readers use
    `kebab source add ADDRESS`, or `kebab --data-dir ADDRESS search`.
    """
    request = PublishRequest(dest=dest, with_texts=with_texts, dry_run=dry_run)
    return context.print_reply(run_work(context, request), render_publication)


def render_publication(reply: PublishReport, canvas: Canvas) -> Iterator[str]:
    """Yield what is in the snapshot, and how much of it was sent."""
    manifest = reply.manifest
    done = "would publish" if reply.dry_run else "published"
    yield f"{done} snapshot {manifest.sequence:,} to {canvas.location(clean(reply.dest))}"
    counts = {
        "document": manifest.documents,
        "passage": manifest.chunks,
        "vector": manifest.vectors,
    }
    texts = "with their files" if manifest.with_texts else "without their files"
    yield f"  {', '.join(pluralize(count, name) for name, count in counts.items())}, {texts}"
    sent, whole = format_bytes(reply.sent_bytes), format_bytes(reply.bytes)
    yield f"  {sent} of {whole} {'to send' if reply.dry_run else 'sent'}"
    if reply.removed_objects:
        yield f"  {pluralize(reply.removed_objects, 'old object')} deleted"
    if reply.left_out_files:
        differing = pluralize(reply.left_out_files, "file")
        yield from canvas.note(f"{differing} left out: not as indexed; `kebab ingest` reads them")
    if reply.public_key:
        yield f"  key {reply.public_key}"

"""`kebab export` writes the knowledge base into one file."""

from collections.abc import Iterator

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.render.canvas import Canvas, clean, format_bytes
from kebab.errors.signal import Exit
from kebab.wire.coverage import pluralize
from kebab.wire.published import ArchiveManifest, ExportReport, ExportRequest


@declare_command("export", examples=("kebab export ~/kebab.zip", "kebab export kebab.zip --force"))
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--force", is_flag=True, help="Replace an existing regular file.")
def command(context: CommandContext, *, path: str, force: bool) -> Exit:
    """Write the knowledge base into one file.

    The file holds the index with its vectors, ask sessions, reviews and texts from standard input,
    so `kebab import` embeds nothing again. It holds the text of your documents, but not the files
    themselves, and neither model weights nor logs nor tokens. Keys in your documents are not masked
    in it. Another process may write at the same time; the file has one state. Only you can read it.
    A device, a pipe, a link or a folder is never replaced.
    """
    reply, _ = run_work(context, ExportRequest(path=path, force=force))

    def render(reply: ExportReport, canvas: Canvas) -> Iterator[str]:
        yield f"wrote {canvas.location(clean(reply.path))}, {format_bytes(reply.bytes)}"
        yield f"  {describe_manifest(reply.manifest)}"

    return context.print_reply(reply, render)


def describe_manifest(manifest: ArchiveManifest) -> str:
    """Return what an archive holds."""
    counts = {
        "document": manifest.documents,
        "passage": manifest.chunks,
        "vector": manifest.vectors,
        "session": manifest.sessions,
    }
    return ", ".join(pluralize(count, name) for name, count in counts.items())

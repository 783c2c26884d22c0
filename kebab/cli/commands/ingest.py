"""`kebab ingest` reads files into the knowledge base."""

import sys
from functools import partial
from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import ndjson_option, refuse_contradictions
from kebab.cli.progress import run_work
from kebab.cli.render.ingest import render_ingest_report
from kebab.config.load import replace_setting
from kebab.config.settings import resolve_paths
from kebab.errors.catalog import ConfigInvalid
from kebab.errors.signal import Exit
from kebab.wire.ingest import IngestRequest, IngestTextRequest


@declare_command(
    "ingest",
    examples=(
        "kebab ingest ~/notes",
        "kebab ingest",
        "kebab ingest --dry-run ~/notes",
        "kebab ingest --ray auto ~/notes",
        "kebab ingest s3://team-bucket/handbook",
        'pbpaste | kebab ingest --stdin --title "Call with Ada"',
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]…", type=click.Path())
@click.option("--stdin", "from_stdin", is_flag=True, help="Read one document from stdin.")
@click.option("--title", metavar="TITLE", help="The title of the document from stdin.")
@click.option("--source-uri", metavar="URI", help="The origin of the document from stdin.")
@click.option("--force", is_flag=True, help="Read unchanged files again too.")
@click.option("--dry-run", is_flag=True, help="Report what would happen, and change nothing.")
@click.option(
    "--ray",
    metavar="ADDRESS",
    help="Read and embed on a Ray cluster: `auto`, `local` or `HOST:PORT`.",
)
@ndjson_option("--stream", help="Send events as NDJSON on stdout, the last with the report.")
def command(context: CommandContext, /, paths: tuple[str, ...], **flags: Any) -> Exit:
    """Read files into the knowledge base.

    PATH is a folder, a file, or an address of object storage, which begins with `s3://`, `gs://` or
    `az://`: what is new there is downloaded first. Without PATH, the command reads the workspace,
    or every folder and address that was read before. It reads only what changed. The name of a file
    decides its format; where it says nothing, as for `README`, the first bytes do. A file that
    cannot be read is reported; it neither ends the run nor changes the exit status. Ctrl-C stops
    after the current document and keeps completed work; a second Ctrl-C leaves at once. With
    `--ray` the machines of a cluster read and embed; this one stores what they return, and does
    what they cannot.
    """
    stream = flags.pop("stream")
    stdin, described = flags["from_stdin"], flags["title"] or flags["source_uri"]
    others = paths or flags["force"] or flags["dry_run"]
    page = any(path.startswith(("http://", "https://")) for path in paths)
    refuse_contradictions(
        (page, "web pages are not read: save the page, and name the file"),
        (stdin and others, "`--stdin` takes neither PATH, `--force` nor `--dry-run`"),
        (stdin and not flags["title"], "`--stdin` needs `--title TITLE`"),
        (described and not stdin, "`--title` and `--source-uri` go with `--stdin`"),
    )
    settings = context.load_settings()
    if ray := flags.pop("ray"):
        try:
            settings = replace_setting(settings, "ingest.ray", ray)
        except ConfigInvalid:
            cause = f"`--ray` takes `auto`, `local` or `HOST:PORT`, not `{ray}`"
            raise click.UsageError(cause) from None
    from kebab.store.sqlite.connection import get_database_path

    data, err = resolve_paths(settings).data, context.channels.err
    is_first = not get_database_path(data).is_file()
    is_told = is_first and not (stream or flags["dry_run"] or context.flags.machine)
    if is_told and err.is_terminal:
        lines = [
            f"kebab keeps the text and an index in {data}",
            "your files stay where they are, and as they are",
            "Ctrl-C keeps what is done; the next `kebab ingest` goes on from there",
            "",
        ]
        err.write_lines(lines)
    request: IngestRequest | IngestTextRequest
    if stdin:
        text = sys.stdin.buffer.read() if sys.stdin else b""
        described = {name: flags[name] for name in ("title", "source_uri")}
        request = IngestTextRequest(text=text, **described)
    else:
        request = IngestRequest(paths=list(paths), force=flags["force"], dry_run=flags["dry_run"])
    reply, status = run_work(context, request, settings, stream=stream)
    if stream:
        return status
    verbose = context.flags.verbose
    render = partial(render_ingest_report, verbose=verbose, is_first=is_first)
    return context.print_reply(reply, render)

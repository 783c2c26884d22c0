"""`kebab open` opens a file at a hit or a reference, or the web page."""

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import complete
from kebab.errors.signal import Exit
from kebab.wire.citation import ABSENT, PageCitation
from kebab.wire.fetch import FetchRequest, OpenReport
from kebab.wire.library import FetchResult
from kebab.wire.record import NotFound

if TYPE_CHECKING:
    from kebab.cli.render.canvas import Canvas

_MAX_RANK_DIGITS = 4


@declare_command(
    "open",
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        "kebab open 2",
        "kebab open notes/backup.md:12",
        "kebab open paper.pdf#page=3",
        "kebab open 1 --print",
        "kebab open --web 'restore a backup'",
    ),
)
@click.argument("ref", metavar="N|REF|QUERY", required=False, shell_complete=complete("documents"))
@click.option("--web", is_flag=True, help="Open the web page, with the hits of a query.")
@click.option("--print", "print_only", is_flag=True, help="Print the command or the address only.")
def command(context: CommandContext, /, ref: str | None, *, web: bool, print_only: bool) -> Exit:
    """Open a file at a hit or a reference, or the web page.

    N is the rank of a hit of the last search at a terminal; REF is what `kebab fetch` takes. A text
    file opens in `$VISUAL` or `$EDITOR` at the line, any other file in the program that the system
    has for it.

    With `--web` the web page opens in `$BROWSER` or the browser of the system. The server that
    shows it is started when none runs, and ends two hours after the last request.
    """
    if web:
        return _open_page(context, ref, print_only=print_only)
    if ref is None:
        raise click.UsageError("missing argument 'N|REF'")
    found = _find_place(context, ref)
    if isinstance(found, NotFound):
        return context.print_reply(found, _render_command)
    from kebab.cli.editor import build_open_command, build_opener_command, run_command
    from kebab.cli.render.hits import get_line
    from kebab.core.files import find_container

    # Where a file no longer has the passage, its last line is shown.
    line = max(1, min(get_line(found.citation) or 1, found.line_count))
    file = find_container(str(found.file))
    if file == found.file:
        words = build_open_command(file, found.citation, line, os.environ)
    else:  # a program opens the file that holds the document
        words = build_opener_command(file, os.environ, f"kebab fetch {shlex.quote(ref)}")
    if not print_only:
        run_command(words, file, context.channels, quiet=context.flags.machine)
    report = OpenReport(
        doc_id=found.doc_id,
        doc_path=found.doc_path,
        file=file,
        line=line,
        page=found.citation.page.number if isinstance(found.citation, PageCitation) else None,
        command_line=words,
        ran=not print_only,
    )
    return context.print_reply(report, _render_command)


def _open_page(context: CommandContext, query: str | None, *, print_only: bool) -> Exit:
    """Open the web page with the hits of a query."""
    from kebab.cli.editor import open_browser
    from kebab.cli.servers import find_or_start_server
    from kebab.wire.health import WebPageReport

    settings = context.load_settings()
    folder, record, started = find_or_start_server(context, settings)
    url = folder.build_login(record.url, query)
    if not print_only:
        open_browser(url, os.environ)
    shown = url if print_only else record.url
    report = WebPageReport(url=shown, started=started, ran=not print_only)
    return context.print_reply(report, lambda reply, _: [reply.url])


def _find_place(context: CommandContext, ref: str) -> FetchResult | NotFound:
    """Return the place of a rank or a reference whose file can be opened."""
    from kebab.app.references import build_lookup_fault, find_hit

    refs: list[str] | NotFound = [ref]
    if ref.isdecimal() and ref.isascii() and len(ref) <= _MAX_RANK_DIGITS:
        refs = find_hit(context.load_settings(), int(ref))
    if isinstance(refs, NotFound):
        return refs
    results = context.run(FetchRequest(refs=refs)).results
    found = next((one for one in results if isinstance(one, FetchResult)), results[0])
    if isinstance(found, FetchResult):
        if found.freshness in ABSENT:
            state = "stayed with the publisher" if found.freshness == "published" else "is gone"
            return build_lookup_fault(ref, f"the file {state}: {found.doc_path}")
        if not isinstance(found.file, str):
            return build_lookup_fault(ref, f"this text has no file: {found.doc_path}")
    return found


def _render_command(reply: OpenReport, canvas: "Canvas") -> Iterator[str]:
    """Yield the command when it was not run."""
    if not reply.ran:
        yield shlex.join(reply.command_line)

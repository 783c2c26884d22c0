"""`kebab translate` translates a document with a language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
from msgspec.structs import replace

from kebab.app.events import ReviewEncoder
from kebab.app.own_files import replace_file
from kebab.app.review_text import ItemLocator
from kebab.cli.command import declare_command
from kebab.cli.event_lines import EventLines
from kebab.cli.options import (
    build_request,
    complete_paths,
    limit_option,
    merge_flags,
    ndjson_option,
)
from kebab.cli.progress import run_review, stream_review
from kebab.cli.prompt import confirm
from kebab.cli.render.review import render_no_page, render_outcome
from kebab.cli.render.review_formats import render_positions
from kebab.cli.review import PageDisplay, ReviewDisplay
from kebab.errors.signal import Exit
from kebab.errors.system import translate_os_errors
from kebab.wire.record import NotFound
from kebab.wire.review import (
    MAX_PAGE_ITEMS,
    TRANSLATION,
    AgentItems,
    FailOnName,
    TranslatedText,
    TranslateRequest,
)

if TYPE_CHECKING:
    from kebab.cli.context import CommandContext


def prepare_target(context: CommandContext, write: str, name: str | None, *, yes: bool) -> Path:
    """Return the file to write, before any work is done.

    Raises:
        ReadOnly: Writing is switched off.
        IoError: The folder does not exist, or the file is a folder.
        ConfirmationRequired: The file exists, and nobody confirms that it is replaced.
        Cancelled: The answer was no.
    """
    context.require_writable("translate --write")
    target = Path(write).expanduser()
    with translate_os_errors(target, "write"):
        target.parent.stat()
        if target.is_dir():
            raise IsADirectoryError
    if name:
        _refuse_source(target, Path(name))
    if target.exists() and not yes:
        operation = context.repeat_command().removeprefix("kebab ")
        confirm(context, operation, lambda _: [f"{target} exists and will be replaced"])
    return target


def _refuse_source(target: Path, source: Path) -> None:
    """Refuse to write over the document that is translated."""
    if target.exists() and source.exists() and target.samefile(source):
        raise click.UsageError("`--write` names the document itself")


class TranslationFindings(PageDisplay):
    """Collects the findings of pages, because the text comes first."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._locator = ItemLocator()

    def show(self, page: AgentItems) -> None:
        """Keep the findings of a page; translated segments are none."""
        found = [item for item in page.items if item.k != TRANSLATION]
        if isinstance(page.translation, TranslatedText):
            found += page.translation.findings
        if found and page.document:
            part = replace(page, items=found)
            self.lines += render_positions(part, self._locator.locate(part))


def translate_text(context: CommandContext, request: TranslateRequest, target: Path | None) -> Exit:
    """Print the translated document, or write it; the findings are on stderr."""
    findings = TranslationFindings()
    display = ReviewDisplay(context, findings, verb="translating")
    reply, cancelled = run_review(context, request, display)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, render_no_page)
    display.finish(reply, completed=not cancelled)
    text = reply.translation if isinstance(reply.translation, TranslatedText) else None
    if text and target:
        _write_text(reply, text, target)
    elif text:
        context.channels.out.write(text.text)
    channel = context.channels.err
    channel.write_lines(findings.lines)
    canvas = context.create_canvas(channel)
    channel.write_lines(render_outcome(reply, findings.lines, target, canvas))
    return Exit.INTERRUPTED if cancelled else display.status


def print_page(
    context: CommandContext, request: TranslateRequest, target: Path | None = None
) -> Exit:
    """Print a page, or write the document and print the last page; events are on stderr."""
    encoder = ReviewEncoder()
    events = EventLines(context, encoder, stream=False)
    reply, cancelled = run_review(context, request, events)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, render_no_page)
    if target and isinstance(reply.translation, TranslatedText):
        _write_text(reply, reply.translation, target)
    status = Exit.INTERRUPTED if cancelled else encoder.status if request.all_pages else None
    return context.print_reply(reply, render_no_page, status)


def _write_text(reply: AgentItems, translation: TranslatedText, target: Path) -> None:
    if reply.document:
        _refuse_source(target, Path(reply.document.file))
    with translate_os_errors(target, "write"):
        replace_file(target, translation.text.encode())


@declare_command(
    "translate",
    exits=(Exit.NO,),
    examples=(
        "kebab translate README.md --to ko | less",
        "kebab translate README.md --to ja --write README.ja.md",
        "kebab translate notes/backup.md --to de --json | jq .items",
    ),
)
@click.argument("name", required=False, metavar="[PATH]", shell_complete=complete_paths)
@click.option("--to", metavar="LANG", help="The language, such as `ko` or `pt-BR`.")
@click.option(
    "--write",
    metavar="FILE",
    type=click.Path(path_type=str),
    help="Write the translated document into a file.",
)
@click.option("--yes", is_flag=True, help="With `--write`, replace a file that exists.")
@click.option("--model", metavar="NAME", help="The language model.")
@click.option(
    "--fail-on",
    metavar="SEVERITY",
    type=click.Choice(get_args(FailOnName)),
    help="The least severity with the exit status 1; `error` by default.",
)
@limit_option(MAX_PAGE_ITEMS, "items on a page")
@click.option("--cursor", metavar="C", help="Show the page after this cursor of `--run-id`.")
@click.option("--run-id", metavar="R", help="Go on with this run, or show it again.")
@ndjson_option("--stream", help="Send events as NDJSON on stdout.")
def command(context: CommandContext, /, write: str | None, *, yes: bool, **flags: Any) -> Exit:
    """Translate a document.

    The language model translates the prose of a Markdown or text document. Code, links, images,
    HTML, tables, footnotes and front matter stay as they are, and this is checked. The translation
    is printed on stdout; a sentence that cannot be translated stays, and stderr names it, as it
    does where numbers, names or terms of a translation differ. `--json` prints one page of
    sentences. A run is stored: `--run-id` goes on where an interrupted one ended.

    A model that fails before its first answer is an error. Sentences that it did not answer stay,
    are named, and make the exit status 1; `--run-id` asks about them again.
    """
    stream = flags.pop("stream")
    _check_flags({**flags, "stream": stream, "write": write})

    target = prepare_target(context, write, flags["name"], yes=yes) if write else None
    if stream:
        request = _build_request(flags, all_pages=True)
        with context.open_kebab() as kebab:
            return stream_review(
                context, lambda report, cancel: kebab.run(request, report=report, cancel=cancel)
            )
    if context.flags.machine and target is None:
        return print_page(context, _build_request(flags))
    request = _build_request({**flags, "with_text": True}, all_pages=True)
    if context.flags.machine:
        return print_page(context, request, target)
    return translate_text(context, request, target)


def _check_flags(given: dict[str, Any]) -> None:
    """Refuse flags that exclude or need each other."""
    name, run_id, cursor, write = (given[one] for one in ("name", "run_id", "cursor", "write"))
    for is_wrong, cause in (
        (not name and not run_id, "give DOC, or `--run-id`"),
        (name and run_id, "DOC and `--run-id` exclude each other"),
        (name and not given["to"], "DOC goes with `--to`"),
        (cursor and not run_id, "`--cursor` goes with `--run-id`"),
        (cursor and write, "`--cursor` and `--write` exclude each other"),
        (given["stream"] and write, "`--stream` and `--write` exclude each other"),
    ):
        if is_wrong:
            raise click.UsageError(cause)


def _build_request(flags: dict[str, Any], *, all_pages: bool = False) -> TranslateRequest:
    """Return the request of a translation."""
    fields = {**flags, "all_pages": all_pages}
    return build_request(merge_flags({}, fields), TranslateRequest)

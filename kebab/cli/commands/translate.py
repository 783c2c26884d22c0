"""`kebab translate` translates a document with a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click
from msgspec.structs import replace

from kebab.cli.command import declare_command
from kebab.cli.commands.review import PageDisplay, ReviewDisplay, review_quietly
from kebab.cli.options import (
    build_request,
    limit_option,
    merge_flags,
    ndjson_option,
    refuse_contradictions,
)
from kebab.cli.progress import run_review, stream_review
from kebab.cli.render.review import render_outcome, render_positions
from kebab.errors.signal import Exit
from kebab.review.items import ItemLocator
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


@declare_command(
    "translate",
    examples=(
        "kebab translate README.md --to ko | less",
        "kebab translate README.md --to ja | tee README.ja.md",
        "kebab translate notes/backup.md --to de --json | jq .items",
    ),
)
@click.argument("name", required=False, metavar="[PATH]", type=click.Path())
@click.option("--to", metavar="LANG", help="The language, such as `ko` or `pt-BR`.")
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
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Translate a document.

    The language model translates the prose of a Markdown or text document. Code, links, images,
    HTML, tables, footnotes and front matter stay as they are, and this is checked. The translation
    is printed on stdout; a sentence that cannot be translated stays, and stderr names it, as it
    does where numbers or names of a translation differ. `--json` prints one page of
    sentences. A run is stored: `--run-id` goes on where an interrupted one ended.

    A model that fails before its first answer is an error. Sentences that it did not answer stay,
    are named, and make the exit status 1; `--run-id` asks about them again.
    """
    stream = flags.pop("stream")
    _check_flags(flags)
    if stream:
        return stream_review(context, _build_request(flags, all_pages=True))
    if context.flags.machine:
        page, cancelled = review_quietly(context, _build_request(flags))
        return context.print_reply(page, lambda *_: (), Exit.INTERRUPTED if cancelled else None)
    request = _build_request(flags, with_text=True, all_pages=True)
    findings = TranslationFindings()
    display = ReviewDisplay(context, findings, verb="translating")
    reply, cancelled = run_review(context, request, display)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, lambda *_: ())
    display.show_end(reply, completed=not cancelled)
    if isinstance(reply.translation, TranslatedText):
        context.channels.out.write(reply.translation.text)
    channel = context.channels.err
    channel.write_lines(findings.lines)
    channel.write_lines(render_outcome(reply, findings.lines, context.create_canvas(channel)))
    return Exit.INTERRUPTED if cancelled else display.status


def _check_flags(given: dict[str, Any]) -> None:
    """Refuse flags that exclude or need each other."""
    name, run_id, cursor = given["name"], given["run_id"], given["cursor"]
    refuse_contradictions(
        (not name and not run_id, "give DOC, or `--run-id`"),
        (name and run_id, "`DOC` and `--run-id` exclude each other"),
        (name and not given["to"], "`DOC` goes with `--to`"),
        (cursor and not run_id, "`--cursor` goes with `--run-id`"),
    )


def _build_request(flags: dict[str, Any], **more: bool) -> TranslateRequest:
    return build_request(merge_flags({}, {**flags, **more}), TranslateRequest)

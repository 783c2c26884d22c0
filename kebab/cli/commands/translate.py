"""`kebab translate` translates a document with a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from kebab.cli.command import declare_command
from kebab.cli.commands.review import RUN_HELP, ReviewDisplay, review_for_program
from kebab.cli.options import build_request, field_options, ndjson_option, refuse_contradictions
from kebab.cli.progress import run_review
from kebab.cli.render.review import render_outcome, render_positions
from kebab.errors.signal import Exit
from kebab.review.items import ItemLocator
from kebab.wire.record import NotFound
from kebab.wire.review import TRANSLATION, AgentItems, TranslatedText, TranslateRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.cli.context import CommandContext


def render_findings(page: AgentItems, locator: ItemLocator) -> Iterator[str]:
    """Yield the findings of a page; translated segments are none."""
    found = [item for item in page.items if item.k != TRANSLATION]
    if isinstance(page.translation, TranslatedText):
        found += page.translation.findings
    if found and page.document:
        part = replace(page, items=found)
        yield from render_positions(part, locator.locate(part))


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
@field_options(
    TranslateRequest,
    model="The language model.",
    fail_on="The least severity with the exit status 1; `error` by default.",
    limit="Show at most N items on a page.",
    **RUN_HELP,
)
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
    name, run_id = flags["name"], flags["run_id"]
    refuse_contradictions(
        (not name and not run_id, "give PATH, or `--run-id`"),
        (name and run_id, "`PATH` and `--run-id` exclude each other"),
        (name and not flags["to"], "`PATH` goes with `--to`"),
        (flags["cursor"] and not run_id, "`--cursor` goes with `--run-id`"),
    )
    if context.flags.machine:
        request = build_request(TranslateRequest, flags, all_pages=stream)
        return review_for_program(context, request, stream=stream)
    request = build_request(TranslateRequest, flags, with_text=True, all_pages=True)
    lines: list[str] = []  # the findings, because the text comes first
    locator = ItemLocator()
    display = ReviewDisplay(
        context, lambda page: lines.extend(render_findings(page, locator)), verb="translating"
    )
    reply, cancelled = run_review(context, request, display)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, lambda *_: ())
    display.show_last(reply)
    if isinstance(reply.translation, TranslatedText):
        context.channels.out.write(reply.translation.text)
    channel = context.channels.err
    channel.write_lines([*lines, *render_outcome(reply, lines, context.create_canvas(channel))])
    return Exit.INTERRUPTED if cancelled else display.status

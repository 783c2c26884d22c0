"""`kebab translate` translates one document."""

from typing import Any, get_args

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, complete, limit_option, merge_flags, ndjson_option
from kebab.errors.signal import Exit
from kebab.wire.review import MAX_PAGE_ITEMS, FailOnName, TranslateRequest, TranslateTierName


@click.command(
    "translate",
    cls=Command,
    exits=(Exit.NO,),
    examples=(
        "kebab translate README.md --to ko | less",
        "kebab translate README.md --to ja --tier micro-check --write README.ja.md",
        "kebab translate notes/backup.md --to de --tier quality --json | jq .stats",
    ),
)
@click.argument("name", required=False, metavar="[DOC]", shell_complete=complete("documents"))
@click.option("--to", metavar="LANG", help="The language, such as `ko` or `pt-BR`.")
@click.option(
    "--tier",
    type=click.Choice(get_args(TranslateTierName)),
    help="How far the work goes; `draft` by default.",
)
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
@click.pass_obj
def command(context: CommandContext, /, write: str | None, *, yes: bool, **flags: Any) -> Exit:
    """Translate a document.

    The language model translates the prose of a Markdown or text document. Code, links, images,
    HTML, tables, footnotes and front matter stay as they are, and this is checked. The translation
    is printed on stdout; a sentence that cannot be translated stays, and stderr names it. `--tier
    revise` reads the draft again, `micro-check` also checks numbers, names and terms, and `quality`
    rates each sentence. `--json` prints one page of sentences. A run is stored: `--run-id` goes on
    where an interrupted one ended.

    A failure of the model is an error. Sentences that it did not answer stay, are named, and make
    the exit status 1; `--run-id` asks about them again.
    """
    stream = flags.pop("stream")
    _check_flags({**flags, "stream": stream, "write": write})
    from kebab.cli.translate import prepare_target, print_page, stream_pages, translate_text

    target = prepare_target(context, write, flags["name"], yes=yes) if write else None
    if stream:
        return stream_pages(context, _build_request(flags, all_pages=True))
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
    """Return the request of a translation.

    Raises:
        InvalidInput: A field is invalid.
    """
    fields = {**flags, "all_pages": all_pages}
    return build_request(merge_flags({}, fields), TranslateRequest)

"""`kebab review` finds mistakes in documents.

It checks the flags and builds the request; `kebab.cli.review` shows findings and applies fixes.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, complete, limit_option, merge_flags, ndjson_option
from kebab.core.progress import Cancel
from kebab.errors.catalog import InvalidInput, TooLarge
from kebab.errors.signal import Exit
from kebab.errors.system import translate_os_errors
from kebab.wire.record import DECODE_ERRORS, NotFound, to_invalid_input
from kebab.wire.review import (
    MAX_PAGE_ITEMS,
    AgentItems,
    FailOnName,
    ItemV1,
    ReviewRequest,
    ReviewRmRequest,
    ReviewRulesRequest,
    ReviewRunsRequest,
    ReviewTierName,
)

if TYPE_CHECKING:
    from kebab.cli.render.review_formats import SarifLog
    from kebab.wire.stream import ReviewEvent

MAX_BYTES = 8_000_000
_STDIN = "-"
_STDIN_FILE = "stdin.md"
"""The name of a text on stdin that none was given for."""
_HEAD = "HEAD"


class _ItemsFile(msgspec.Struct):
    """An object with items; its other fields are ignored."""

    items: list[ItemV1]


def read_older_items(path: str) -> list[ItemV1]:
    """Return the findings of a file for `--import`, or of stdin for `-`.

    They have the older form, which quotes the text that is wrong and gives no lines. The file holds
    a list, an object with `items`, or one item per line.

    Raises:
        InvalidInput: It holds none of these; `field` is the JSON path.
        IoError: It cannot be read.
        TooLarge: It is too large.
    """
    raw = _read_file(path).removeprefix(b"\xef\xbb\xbf")
    try:
        whole = msgspec.json.decode(raw)
    except DECODE_ERRORS:
        return _decode_lines(raw)
    is_item = isinstance(whole, dict) and "items" not in whole and "evidence" in whole
    return _convert([whole] if is_item else whole)


def _read_file(path: str, what: str = "file with items") -> bytes:
    if path == _STDIN:
        raw = sys.stdin.buffer.read(MAX_BYTES + 1) if sys.stdin else b""
    else:
        with translate_os_errors(path, "read"), Path(path).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise TooLarge(what=what, size=len(raw), limit=MAX_BYTES)
    return raw


def _convert(whole: Any) -> list[ItemV1]:
    """Return the items of a list, or of an object with `items`."""
    try:
        if isinstance(whole, dict):
            return msgspec.convert(whole, _ItemsFile).items
        return msgspec.convert(whole, list[ItemV1])
    except (msgspec.ValidationError, RecursionError) as fault:
        raise to_invalid_input(fault) from fault


def _decode_lines(raw: bytes) -> list[ItemV1]:
    """Return the items of lines, one each; empty lines do not count."""
    items: list[ItemV1] = []
    for line in filter(None, map(bytes.strip, raw.split(b"\n"))):
        try:
            items.append(msgspec.json.decode(line, type=ItemV1))
        except DECODE_ERRORS as fault:
            found = to_invalid_input(fault)
            field = f"$[{len(items)}]{found.field.removeprefix('$')}"
            raise InvalidInput(field=field, cause=found.cause) from fault
    return items


OTHER_TASKS = ("show_runs", "forget", "explain", "replay")
"""The flags that ask for another task, which no flag but one for its output goes with."""

_OUTPUT_FLAGS = {"replay": "form"}
"""The flag for the output of a task; `--json` goes with the tasks that are not listed."""

_FLAGS = {
    "names": "DOC, PATH or GLOB",
    "form": "`--format`",
    "json": "`--json`",
    "deep": "`--tier deep`",
    "show_runs": "`--runs`",
    **{
        name: f"`--{name.replace('_', '-')}`"
        for name in (
            "apply",
            "changed",
            "cursor",
            "dry_run",
            "explain",
            "forget",
            "model",
            "no_llm",
            "replay",
            "stdin_filename",
            "stream",
        )
    },
    "stdin": "`-`",
    "imported": "`--import`",
    "run_id": "`--run-id`",
    "unsafe": "`--unsafe`",
    "yes": "`--yes`",
}
"""What a call can give, as messages write it."""
_EXCLUDING = (
    ("run_id", "names"),
    ("no_llm", "model"),
    ("no_llm", "deep"),
    ("run_id", "imported"),
    ("apply", "form"),
    ("apply", "stream"),
    ("apply", "cursor"),
    ("stream", "form"),
    ("json", "form"),
    *((one, "run_id") for one in ("changed", "stdin")),
    *((one, "stdin") for one in ("changed", "imported")),
)
_APPLY_FLAGS = ("dry_run", "unsafe", "yes")
_NEEDING = (
    ("cursor", "run_id"),
    ("yes", "apply"),
    ("dry_run", "apply"),
    ("unsafe", "apply"),
    ("stdin_filename", "stdin"),
)


def find_contradictions(given: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with flags that exclude or need each other, by the keys of `_FLAGS`."""
    given = set(given)
    for name in OTHER_TASKS:
        if name in given and given - {name, _OUTPUT_FLAGS.get(name, "json")}:
            yield f"{_FLAGS[name]} goes with no other argument"
    if not given & {"names", "run_id", *OTHER_TASKS}:
        yield "give DOC, PATH or GLOB, or `--run-id`"
    for one, other in _EXCLUDING:
        if {one, other} <= given:
            yield f"{_FLAGS[one]} and {_FLAGS[other]} exclude each other"
    for one, other in _NEEDING:
        if one in given and other not in given:
            yield f"{_FLAGS[one]} goes with {_FLAGS[other]}"


FORMS = ("text", "sarif", "github", "vimgrep")
_ALL = "all"


def _list_runs(context: CommandContext, _: object) -> Exit:
    from kebab.cli.render.review import render_runs

    return context.print_reply(context.run(ReviewRunsRequest()), render_runs)


def _forget_runs(context: CommandContext, runs: Sequence[str]) -> Exit:
    from kebab.cli.render.review import render_removed_runs

    return context.print_reply(context.run(ReviewRmRequest(runs=list(runs))), render_removed_runs)


def _explain_rules(context: CommandContext, rule: str) -> Exit:
    from kebab.cli.render.review import render_explanations, render_rules

    request = ReviewRulesRequest(rule=None if rule == _ALL else rule)
    reply = context.run(request)
    return context.print_reply(reply, render_rules if rule == _ALL else render_explanations)


_TASK_RUNNERS: Mapping[str, Callable[[CommandContext, Any], Exit]] = {
    "show_runs": _list_runs,
    "forget": _forget_runs,
    "explain": _explain_rules,
}
"""The functions of the other tasks but `replay`, which shows findings as a review does."""


@click.command(
    "review",
    cls=Command,
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        "kebab review README.md",
        "kebab review 'docs/**/*.md' --no-llm --fail-on error --format github",
        "kebab review notes/backup.md --tier deep --json",
        "kebab review notes --apply",
        "kebab review docs --changed main",
        "kebab review - --stdin-filename docs/setup.md < docs/setup.md",
        "kebab review --explain broken-link",
        "kebab review notes --stream | kebab review --replay -",
    ),
)
@click.argument("names", nargs=-1, metavar="[DOC|PATH|GLOB…]", shell_complete=complete("documents"))
@click.option(
    "--tier",
    type=click.Choice(get_args(ReviewTierName)),
    help="What the model looks for; `deep` also finds style and contradictions, and needs a model.",
)
@limit_option(MAX_PAGE_ITEMS, "findings on a page")
@click.option("--cursor", metavar="C", help="Show the page after this cursor of `--run-id`.")
@click.option("--run-id", metavar="R", help="Go on with this run, or show it again.")
@click.option("--rules", metavar="ID,…", help="Apply only these rules.")
@click.option("--no-llm", is_flag=True, help="Apply the rules only, without a language model.")
@click.option("--model", metavar="NAME", help="The language model.")
@click.option(
    "--fail-on",
    metavar="SEVERITY",
    type=click.Choice(get_args(FailOnName)),
    help="The least severity with the exit status 1; `suggestion` by default.",
)
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="text", help="The form of text output."
)
@click.option(
    "--import",
    "imported",
    metavar="FILE",
    help="Add the findings of version 1 in a JSON file; `-` reads stdin.",
)
@click.option("--replay", metavar="FILE", help="Show a recorded stream; `-` reads stdin.")
@click.option(
    "--changed",
    metavar="[REF]",
    is_flag=False,
    flag_value=_HEAD,
    help="Only files and lines that changed since this git revision, `HEAD` unless told.",
)
@click.option("--stdin-filename", metavar="PATH", help="The file that the text on stdin is of.")
@click.option("--apply", is_flag=True, help="Write the fixes that are certain into the files.")
@click.option("--unsafe", is_flag=True, help="With `--apply`, write all proposed fixes.")
@click.option("--dry-run", is_flag=True, help="With `--apply`, show the differences only.")
@click.option("--yes", is_flag=True, help="With `--apply`, do not ask for confirmation.")
@click.option("--runs", "show_runs", is_flag=True, help="List the stored runs.")
@click.option("--forget", metavar="R", multiple=True, help="Delete a stored run (repeatable).")
@click.option("--explain", metavar="RULE", help="Explain a rule; `all` lists them.")
@ndjson_option("--stream", help="Send the findings as NDJSON events, all pages.")
@click.pass_obj
def command(context: CommandContext, /, names: tuple[str, ...], form: str, **flags: Any) -> Exit:
    """Find mistakes in documents.

    Rules find broken links, near copies and stale dates, rumdl and typos faults of markup and
    spelling; a language model, if there is one, finds grammar and style. Documents of the index
    and other text files are reviewed as they are on disk now. `--json` prints one page of findings;
    text has all of them. A run is stored: `--run-id` goes on where an interrupted one ended.
    `--apply` shows the differences, asks, and keeps each original as `FILE.orig`; fixes that are
    not certain wait for `--unsafe`. The exit status is 1 when there are findings of at least the
    severity `--fail-on`.

    `<!-- kebab-ignore RULE: reason -->` ignores findings of its line, or of the next one. The
    settings `[review]` may also be in `kebab.toml` or `pyproject.toml` of a repository. A path
    behind `--changed` is what to review. `-` reads the text from stdin; with `--apply` the fixed
    text is on stdout.

    Without `--model` and `--tier deep` the rules go on alone when the model fails, and the output
    says so. With one of them a model without a usable answer is an error, and text that it did not
    answer makes the exit status 1; `--run-id` asks about it again.
    """
    names = _take_names(names, flags)
    given = {name for name, value in flags.items() if value}
    given |= {"names"} if names else set()
    given |= {"stdin"} if names == (_STDIN,) else set()
    given |= {"form"} if form != "text" else set()
    given |= {"json"} if context.flags.machine else set()
    given |= {"deep"} if flags["tier"] == "deep" else set()
    for cause in find_contradictions(given):
        raise click.UsageError(cause)
    for name, run in _TASK_RUNNERS.items():
        if flags[name]:
            return run(context, flags[name])
    if flags["apply"]:
        from kebab.cli.review import review_and_apply

        request = _build_request(names, flags, all_pages=True)
        return review_and_apply(context, request, **{name: flags[name] for name in _APPLY_FLAGS})
    if flags["replay"]:
        from kebab.cli.review import ReviewDisplay, choose_display, replay_review

        pages = choose_display(context, form, partial(_create_sarif, context))
        return replay_review(context, flags["replay"], ReviewDisplay(context, pages))
    if flags["stream"]:
        from kebab.cli.progress import stream_review

        return stream_review(context, partial(_review_pages, context, names, flags))
    if context.flags.machine:
        from kebab.cli.render.review import render_no_page
        from kebab.cli.review import review_quietly

        request = _build_request(names, flags)
        page, cancelled = review_quietly(context, request)
        return context.print_reply(page, render_no_page, Exit.INTERRUPTED if cancelled else None)
    request = _build_request(names, flags, all_pages=True)
    return _review_and_show(context, request, form)


def _take_names(names: tuple[str, ...], flags: dict[str, Any]) -> tuple[str, ...]:
    """Return what to review: a path behind `--changed` is a name, and without one it is `.`."""
    if _STDIN in names and len(names) > 1:
        raise click.UsageError("`-` goes with no other document")
    changed = flags["changed"]
    if changed is None:
        return names
    if changed != _HEAD and Path(changed).exists():
        flags["changed"], names = _HEAD, (changed, *names)
    return names or (() if flags["run_id"] else (".",))


def _build_request(
    names: tuple[str, ...], flags: dict[str, Any], *, all_pages: bool = False
) -> ReviewRequest:
    """Return the request of a review; without `all_pages` it asks for one page."""
    own = ("tier", "limit", "cursor", "run_id", "no_llm", "model", "fail_on", "changed")
    rules = flags["rules"]
    text = None
    if names == (_STDIN,):
        from kebab.parse.encoding import decode_raw

        names = (flags["stdin_filename"] or _STDIN_FILE,)
        # Its errors are those of a file with this name.
        text = decode_raw(_read_file(_STDIN, "text on stdin"), names[0]).text
    fields = {
        **{name: flags[name] for name in own},
        "names": names,
        "rules": [one.strip() for one in rules.split(",")] if rules is not None else None,
        "require_llm": flags["tier"] == "deep",
        "all_pages": all_pages,
        "text": text,
        "imported": read_older_items(flags["imported"]) if flags["imported"] else None,
    }
    return build_request(merge_flags({}, fields), ReviewRequest)


def _review_pages(
    context: CommandContext,
    names: tuple[str, ...],
    flags: dict[str, Any],
    report: "Callable[[ReviewEvent], None]",
    cancel: Cancel,
) -> AgentItems | NotFound:
    """Return the last page of a review; the others are reported."""
    request = _build_request(names, flags, all_pages=True)
    return context.run(request, report=report, cancel=cancel)


def _review_and_show(context: CommandContext, request: ReviewRequest, form: str) -> Exit:
    """Show all findings."""
    from kebab.cli.progress import run_review
    from kebab.cli.render.review import render_no_page
    from kebab.cli.review import ReviewDisplay, choose_display, write_notes

    pages = choose_display(context, form, partial(_create_sarif, context), request.text)
    display = ReviewDisplay(context, pages)
    reply, cancelled = run_review(context, request, display, display.announce_stop)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, render_no_page)
    display.finish(reply, completed=not cancelled)
    write_notes(context, display, completed=not cancelled, stored=request.text is None)
    return Exit.INTERRUPTED if cancelled else display.status


def _create_sarif(context: CommandContext) -> "SarifLog":
    from kebab.cli.render.review_formats import SarifLog

    reply = context.run(ReviewRulesRequest())
    return SarifLog([] if isinstance(reply, NotFound) else reply.rules, Path.cwd())

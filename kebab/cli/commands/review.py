"""`kebab review` finds mistakes in documents.

It checks the flags and builds the request; `kebab.cli.review` shows findings and applies fixes.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import (
    build_request,
    complete_paths,
    limit_option,
    merge_flags,
    ndjson_option,
)
from kebab.errors.signal import Exit
from kebab.wire.review import (
    MAX_PAGE_ITEMS,
    FailOnName,
    ReviewRequest,
    ReviewTierName,
)

_HEAD = "HEAD"
_APPLY_FLAGS = ("dry_run", "unsafe", "yes")


def _check_flags(flags: Mapping[str, Any], names: Sequence[str], form: str, *, json: bool) -> None:
    """Refuse flags that exclude or need each other; the library checks those of a request."""
    given = {name for name, value in flags.items() if value} | ({"names"} if names else set())
    for_apply = [f"--{name.replace('_', '-')}" for name in _APPLY_FLAGS if flags[name]]
    is_form = form != "text"
    for is_wrong, cause in (
        (not given & {"names", "run_id"}, "give DOC, PATH or GLOB, or `--run-id`"),
        (names and flags["run_id"], "`--run-id` and DOC, PATH or GLOB exclude each other"),
        (flags["cursor"] and not flags["run_id"], "`--cursor` goes with `--run-id`"),
        (flags["no_llm"] and flags["model"], "`--no-llm` and `--model` exclude each other"),
        (flags["no_llm"] and flags["tier"] == "deep", "`--tier deep` needs a model"),
        (is_form and json, "`--json` and `--format` exclude each other"),
        (is_form and given & {"apply", "stream"}, "`--format` is for findings as text"),
        (flags["apply"] and given & {"stream", "cursor"}, "`--apply` is for all pages"),
        (for_apply and not flags["apply"], f"`{''.join(for_apply[:1])}` goes with `--apply`"),
    ):
        if is_wrong:
            raise click.UsageError(cause)


FORMS = ("text", "sarif")


@declare_command(
    "review",
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        "kebab review README.md",
        "kebab review 'docs/**/*.md' --no-llm --fail-on error --format sarif",
        "kebab review notes/backup.md --tier deep --json",
        "kebab review notes --apply",
        "kebab review docs --changed main",
    ),
)
@click.argument("names", nargs=-1, metavar="[PATH|GLOB…]", shell_complete=complete_paths)
@click.option(
    "--tier",
    type=click.Choice(get_args(ReviewTierName)),
    help="What the model looks for; `deep` also finds style, and needs a model.",
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
    "--changed",
    metavar="[REF]",
    is_flag=False,
    flag_value=_HEAD,
    help="Only files and lines that changed since this git revision, `HEAD` unless told.",
)
@click.option("--apply", is_flag=True, help="Write the fixes that are certain into the files.")
@click.option("--unsafe", is_flag=True, help="With `--apply`, write all proposed fixes.")
@click.option("--dry-run", is_flag=True, help="With `--apply`, show the differences only.")
@click.option("--yes", is_flag=True, help="With `--apply`, do not ask for confirmation.")
@ndjson_option("--stream", help="Send the findings as NDJSON events, all pages.")
def command(context: CommandContext, /, names: tuple[str, ...], form: str, **flags: Any) -> Exit:
    """Find mistakes in documents.

    Rules find broken links, stale dates and more without a model; a language model, if there is
    one, finds spelling and grammar. Files are reviewed as they are on disk now. `--json` prints one
    page of findings; text has all of them. A run is stored: `--run-id` goes on where an interrupted
    one ended. `--apply` shows the differences, asks, and keeps each original as `FILE.orig`; fixes
    that are not certain wait for `--unsafe`. The exit status is 1 when there are findings of at
    least the severity `--fail-on`.

    `<!-- kebab-ignore RULE: reason -->` ignores findings of its line, or of the next one. The
    settings are in `[review]`. A path behind `--changed` is what to review.

    Without `--model` and `--tier deep` the rules go on alone when the model fails, and the output
    says so. With one of them a model without a usable answer is an error, and text that it did not
    answer makes the exit status 1; `--run-id` asks about it again.
    """
    names = _take_names(names, flags)
    _check_flags(flags, names, form, json=context.flags.machine)
    if flags["apply"]:
        from kebab.cli.review import review_and_apply

        request = _build_request(names, flags, all_pages=True)
        return review_and_apply(context, request, **{name: flags[name] for name in _APPLY_FLAGS})
    if flags["stream"]:
        from kebab.cli.progress import stream_review

        request = _build_request(names, flags, all_pages=True)
        return stream_review(
            context, lambda report, cancel: context.run(request, report=report, cancel=cancel)
        )
    if context.flags.machine:
        from kebab.cli.render.review import render_no_page
        from kebab.cli.review import review_quietly

        request = _build_request(names, flags)
        page, cancelled = review_quietly(context, request)
        return context.print_reply(page, render_no_page, Exit.INTERRUPTED if cancelled else None)
    from kebab.cli.review import review_and_show

    return review_and_show(context, _build_request(names, flags, all_pages=True), form)


def _take_names(names: tuple[str, ...], flags: dict[str, Any]) -> tuple[str, ...]:
    """Return what to review: a path behind `--changed` is a name, and without one it is `.`."""
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
    fields = {
        **{name: flags[name] for name in own},
        "names": names,
        "rules": [one.strip() for one in rules.split(",")] if rules is not None else None,
        "all_pages": all_pages,
    }
    return build_request(merge_flags({}, fields), ReviewRequest)

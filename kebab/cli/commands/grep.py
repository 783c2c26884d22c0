"""`kebab grep` searches the indexed files for a pattern."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import Count, build_request, complete, filter_options, read_form
from kebab.errors.signal import Exit
from kebab.wire.fetch import GrepRequest


@declare_command(
    "grep",
    examples=(
        "kebab grep 'restic (backup|restore)'",
        "kebab grep -F 'a[0]' runbooks --context 2",
        "kebab grep -il backup --path '**/*.md'",
    ),
)
@click.argument("pattern")
@click.argument("paths", nargs=-1, metavar="[PATH]…", shell_complete=complete("documents"))
@click.option("-F", "--fixed", is_flag=True, help="Take the pattern as plain text.")
@click.option("-i", "--ignore-case", is_flag=True, help="Ignore the case of letters.")
@click.option("-w", "--word", is_flag=True, help="Match whole words only.")
@click.option("-l", "--files", "files_only", is_flag=True, help="Print paths only.")
@click.option(
    *("-n", "-r", "-R", "-E", "-H", "-I", "-P", "-s", "--line-number"),
    is_flag=True,
    expose_value=False,
    help="As for `grep`; they change nothing.",
)
@click.option("-c", "--count", "count_only", is_flag=True, help="Print paths with line counts.")
@click.option("-C", "--context", "around", type=Count(0), help="Show N lines around.")
@click.option("-B", "--before", type=Count(0), help="Show N lines before.")
@click.option("-A", "--after", type=Count(0), help="Show N lines after.")
@click.option("-m", "--max-count", type=Count(1), help="Show at most N lines of a file.")
@click.option("--limit", type=Count(1), help="Show at most N lines, or files with `-l` or `-c`.")
@click.option(
    "--max-columns",
    type=Count(0),
    default=400,
    show_default=True,
    help="Cut longer lines around the match; 0 never cuts.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "compact", "json"]),
    default="text",
    callback=read_form,
    help="The form of output; `compact` names each file once, `json` is `--json`.",
)
@filter_options
def command(context: CommandContext, /, pattern: str, form: str, **flags: Any) -> Exit:
    """Search files for a regular expression.

    PATH limits the search to files and folders. The indexed files are searched as they are on disk
    now; files that are gone are reported. The pattern has the syntax of Python and is compared line
    by line. In a pipe, lines are `path:line:text`, which `kebab fetch -` reads. Files must match
    all filters.
    """
    forms = {"-l": flags["files_only"], "-c": flags["count_only"], "--format": form != "text"}
    given = [name for name, is_given in forms.items() if is_given]
    if len(given) > 1:
        raise click.UsageError(f"`{given[0]}` and `{given[1]}` exclude each other")
    around, columns = flags.pop("around"), flags.pop("max_columns")
    for side in ("before", "after"):
        flags[side] = around if flags[side] is None else flags[side]
    request = build_request(GrepRequest, flags, pattern=pattern, max_columns=columns or None)
    reply = context.run(request)
    from kebab.cli.render import lines

    render = lines.render_below_files if form == "compact" else lines.render_matches
    if request.files_only or request.count_only:
        render = partial(lines.render_matching_files, counted=request.count_only)
    status = context.print_reply(reply, render)
    context.print_notes(reply, lines.list_grep_notes)
    return status

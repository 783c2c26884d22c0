"""`kebab eval run|compare|init`."""

from pathlib import Path
from typing import Any, get_args

import click

from kebab.cli.command import Command, Group
from kebab.cli.context import CommandContext
from kebab.cli.progress import report_measurements
from kebab.cli.render.evals import render_comparison, render_draft, render_evaluation
from kebab.errors.catalog import ReadOnly, UsageInvalid
from kebab.errors.signal import Exit
from kebab.wire.evals import PairedMetric
from kebab.wire.search import MAX_LIMIT

_EXITS = (Exit.UNUSABLE,)
_LEAST = 10
_MOST = 10_000
_FILE = click.Path(path_type=Path)
_MODES = click.Choice(["hybrid", "lexical", "vector"])


@click.group(
    "eval",
    cls=Group,
    exits=_EXITS,
    examples=(
        "kebab eval init --out queries.jsonl",
        "kebab eval run queries.jsonl --out before.json",
        "kebab eval compare before.json after.json",
    ),
)
def command() -> None:
    """Measure how well search finds what it should."""


@command.command(
    "run",
    cls=Command,
    exits=_EXITS,
    examples=(
        "kebab eval run queries.jsonl",
        "kebab eval run queries.jsonl --unanswerable nothing.jsonl --mode hybrid --out after.json",
        "kebab eval run queries.jsonl --qrels qrels.tsv --json | jq '.modes[].figures[]'",
    ),
)
@click.argument("queries", type=_FILE, metavar="QUERIES")
@click.option("--mode", "modes", multiple=True, type=_MODES, help="Only these modes (repeatable).")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(_LEAST, MAX_LIMIT),
    default=_LEAST,
    show_default=True,
    help="How many hits to look at.",
)
@click.option("--per-doc", type=click.IntRange(1), help="Show at most N hits of one document.")
@click.option("--by-doc", is_flag=True, help="Any passage of the right document is right.")
@click.option(
    "--unanswerable", type=_FILE, metavar="FILE", help="More questions, which nothing answers."
)
@click.option("--qrels", type=_FILE, metavar="FILE", help="Grades: query, document and grade.")
@click.option("--out", type=_FILE, metavar="FILE", help="Keep the report here.")
@click.pass_obj
def run(context: CommandContext, /, out: Path | None, **flags: Any) -> Exit:
    """Ask golden questions and count what is found.

    QUERIES has one JSON object a line: `query`, and `doc`, the path of the document that answers
    (its end is enough), with `line_start` and `line_end` where only these lines do, or
    `relevant`, grades by document; or `answerable: false` where nothing answers. Without
    `--mode` every mode that can be had is measured. The knowledge base is only read, and no
    question is remembered.
    """
    from kebab.evals.golden import GoldenFiles, check_output_path, write_file
    from kebab.evals.run import EvalOptions, evaluate

    settings = context.load_settings()
    files = {name: flags.pop(name) for name in ("queries", "unanswerable", "qrels")}
    if out:
        _refuse_when_read_only(context, "eval run --out")
        check_output_path(out)
        if out.resolve() in {one.resolve() for one in files.values() if one}:
            raise UsageInvalid(option="--out", cause=f"{out} is read, and would be replaced")
    sources = GoldenFiles(**files)
    with (
        context.open_kebab(settings, read_only=True) as kebab,
        report_measurements(context) as tell,
    ):
        reply = evaluate(kebab, sources, EvalOptions(**flags), tell)
    if out:
        write_file(out, context.encode_reply(reply, Exit.DONE))
    return context.print_reply(reply, render_evaluation)


@command.command(
    "compare",
    cls=Command,
    examples=(
        "kebab eval compare before.json after.json",
        "kebab eval compare before.json after.json --mode hybrid --metric hit@1 --metric ndcg@10",
        "kebab eval compare now.json now.json --mode lexical --against hybrid",
    ),
)
@click.argument("before", type=_FILE, metavar="A")
@click.argument("after", type=_FILE, metavar="B")
@click.option("--mode", "modes", multiple=True, type=_MODES, help="Only these modes (repeatable).")
@click.option("--against", type=_MODES, help="Compare with this mode of B.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=click.Choice(get_args(PairedMetric)),
    default=("mrr@10",),
    show_default=True,
    help="By what (repeatable).",
)
@click.pass_obj
def compare(context: CommandContext, /, before: Path, after: Path, **flags: Any) -> Exit:
    """Compare two reports question by question.

    A and B are reports that `kebab eval run --out` kept, on the same golden set. Intervals are
    bootstrapped; p is how often random signs give a difference as large, two-sided.
    """
    from kebab.evals.compare import CompareOptions
    from kebab.evals.compare import compare_reports as compared

    return context.print_reply(compared(before, after, CompareOptions(**flags)), render_comparison)


@command.command(
    "init",
    cls=Command,
    exits=(Exit.NO, *_EXITS),
    examples=("kebab eval init", "kebab eval init --out golden.jsonl --count 200 --seed 7"),
)
@click.option(
    "--out", type=_FILE, metavar="FILE", default="queries.jsonl", show_default=True, help="Where."
)
@click.option(
    "--count",
    type=click.IntRange(1, _MOST),
    default=50,
    show_default=True,
    help="How many questions to make.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="What to draw by.")
@click.option("--force", is_flag=True, help="Replace the file when it is already there.")
@click.pass_obj
def init(context: CommandContext, /, out: Path, *, force: bool, **flags: Any) -> Exit:
    """Make golden questions from the notes, without any model.

    They ask for sentences and headings of the notes in fewer words, spread over documents and
    languages; for every five comes one of made-up words, which nothing answers. Good for comparing
    two states of one knowledge base; questions of your own tell more.
    """
    from kebab.evals.draft import DraftOptions, draft_golden_set
    from kebab.evals.golden import check_output_path, encode_queries, write_file
    from kebab.evals.run import ProgressReporter

    settings = context.load_settings()
    _refuse_when_read_only(context, "eval init")
    check_output_path(out)
    if out.exists() and not force:
        raise UsageInvalid(option="--out", cause=f"{out} is there already; `--force` replaces it")
    with (
        context.open_kebab(settings, read_only=True) as kebab,
        report_measurements(context) as tell,
    ):
        made = draft_golden_set(kebab, out, DraftOptions(**flags), ProgressReporter(tell))
    if made.report.written:
        write_file(out, encode_queries(made.queries))
    status = Exit.DONE if made.report.written else Exit.NO
    return context.print_reply(made.report, render_draft, status)


def _refuse_when_read_only(context: CommandContext, operation: str) -> None:
    """Refuse to write a file where every write is to be refused.

    Raises:
        ReadOnly: Writing is switched off.
    """
    if context.flags.read_only:
        raise ReadOnly(operation=operation)

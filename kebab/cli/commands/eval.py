"""`kebab eval run|compare|init` measures search quality."""

from pathlib import Path
from typing import Any, get_args

import click

from kebab.cli.command import Group
from kebab.cli.context import CommandContext
from kebab.cli.options import MODES, per_doc_option
from kebab.cli.progress import report_measurements
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.evals import render_comparison, render_draft, render_evaluation
from kebab.cli.render.picture import draw_terminal
from kebab.errors.catalog import UsageInvalid
from kebab.errors.signal import Exit
from kebab.wire.evals import PairedMetric
from kebab.wire.search import MAX_LIMIT

_EXITS = (Exit.UNUSABLE,)
_MIN_LIMIT = 10
_MAX_COUNT = 10_000
_FILE = click.Path(path_type=Path)
_modes_option = click.option(
    "--mode", "modes", multiple=True, type=MODES, help="Only these modes (repeatable)."
)


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
    """Measure search quality."""


@command.command(
    "run",
    exits=_EXITS,
    examples=(
        "kebab eval run queries.jsonl",
        "kebab eval run queries.jsonl --unanswerable nothing.jsonl --mode hybrid --out after.json",
        "kebab eval run queries.jsonl --svg quality.svg",
        "kebab eval run queries.jsonl --qrels qrels.tsv --json | jq '.modes[].figures[]'",
    ),
)
@click.argument("queries", type=_FILE, metavar="QUERIES")
@_modes_option
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(_MIN_LIMIT, MAX_LIMIT),
    default=_MIN_LIMIT,
    show_default=True,
    help="Judge the first N hits.",
)
@per_doc_option
@click.option("--rerank", is_flag=True, help="Rerank the first passages.")
@click.option("--by-doc", is_flag=True, help="Accept any passage of the right document.")
@click.option(
    "--unanswerable", type=_FILE, metavar="FILE", help="More questions without an answer."
)
@click.option(
    "--qrels", type=_FILE, metavar="FILE", help="Relevance grades: query, document, grade."
)
@click.option("--out", type=_FILE, metavar="FILE", help="Write the report to this file.")
@click.option("--svg", type=_FILE, metavar="FILE", help="Draw the report into this file.")
@click.pass_obj
def run(context: CommandContext, /, out: Path | None, svg: Path | None, **flags: Any) -> Exit:
    """Measure search with golden questions.

    QUERIES has one JSON object per line with `query` and one of these: `doc`, the path of the
    document that answers, or the end of this path, with optional `line_start` and `line_end`;
    `relevant`, grades by document; or `answerable: false` when nothing answers. Without `--mode`,
    every available mode is measured. The command only reads the knowledge base and stores no
    question.
    """
    from kebab.evals.metrics import GoldenFiles, check_output_path, write_file
    from kebab.evals.run import EvalOptions, evaluate

    settings = context.load_settings()
    files = {name: flags.pop(name) for name in ("queries", "unanswerable", "qrels")}
    for option, path in (("--out", out), ("--svg", svg)):
        if path:
            context.require_writable(f"eval run {option}")
            check_output_path(path)
            if path.resolve() in {file.resolve() for file in files.values() if file}:
                raise UsageInvalid(option=option, cause=f"{path} is an input file")
    sources = GoldenFiles(**files)
    with (
        context.open_kebab(settings, read_only=True) as kebab,
        report_measurements(context) as report,
    ):
        reply = evaluate(kebab, sources, EvalOptions(**flags), report)
    if out:
        write_file(out, context.encode_reply(reply, Exit.DONE))
    if svg:
        lines = render_evaluation(reply, Canvas(width=100, color=True))
        write_file(svg, draw_terminal(f"kebab eval run {sources.queries}", lines).encode())
    return context.print_reply(reply, render_evaluation)


@command.command(
    "compare",
    examples=(
        "kebab eval compare before.json after.json",
        "kebab eval compare before.json after.json --mode hybrid --metric hit@1 --metric ndcg@10",
        "kebab eval compare now.json now.json --mode lexical --against hybrid",
    ),
)
@click.argument("before", type=_FILE, metavar="A")
@click.argument("after", type=_FILE, metavar="B")
@_modes_option
@click.option("--against", type=MODES, help="Compare with this mode of B.")
@click.option(
    "--metric",
    "metrics",
    metavar="METRIC",
    multiple=True,
    type=click.Choice(get_args(PairedMetric)),
    default=("mrr@10",),
    show_default=True,
    help="Compare by this metric (repeatable).",
)
@click.pass_obj
def compare(context: CommandContext, /, before: Path, after: Path, **flags: Any) -> Exit:
    """Compare two reports question by question.

    A and B are reports of `kebab eval run --out` for the same golden set. Intervals are
    bootstrapped. p is how often random signs give a difference as large, two-sided.
    """
    from kebab.evals.run import CompareOptions, compare_reports

    reply = compare_reports(before, after, CompareOptions(**flags))
    return context.print_reply(reply, render_comparison)


@command.command(
    "init",
    exits=(Exit.NO, *_EXITS),
    examples=("kebab eval init", "kebab eval init --out golden.jsonl --count 200 --seed 7"),
)
@click.option(
    "--out",
    type=_FILE,
    metavar="FILE",
    default="queries.jsonl",
    show_default=True,
    help="The file to write.",
)
@click.option(
    "--count",
    type=click.IntRange(1, _MAX_COUNT),
    default=50,
    show_default=True,
    help="Make N questions.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="The seed of the random choice."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.pass_obj
def init(context: CommandContext, /, out: Path, *, force: bool, **flags: Any) -> Exit:
    """Make golden questions from the notes.

    No model is needed: the questions shorten sentences and headings of the notes, from all
    documents and languages. For every five there is one of made-up words, which nothing answers.
    Use them to compare two states of one knowledge base; questions of your own are more reliable.
    """
    from kebab.evals.draft import DraftOptions, draft_golden_set
    from kebab.evals.metrics import check_output_path, encode_queries, write_file
    from kebab.evals.run import ProgressReporter

    settings = context.load_settings()
    context.require_writable("eval init")
    check_output_path(out)
    if out.exists() and not force:
        raise UsageInvalid(option="--out", cause=f"{out} is there already; `--force` replaces it")
    with (
        context.open_kebab(settings, read_only=True) as kebab,
        report_measurements(context) as report,
    ):
        draft = draft_golden_set(kebab, out, DraftOptions(**flags), ProgressReporter(report))
    if draft.report.written:
        write_file(out, encode_queries(draft.queries))
    status = Exit.DONE if draft.report.written else Exit.NO
    return context.print_reply(draft.report, render_draft, status)

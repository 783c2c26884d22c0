"""`kebab eval` measures search quality with golden questions."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.progress import choose_work_display, report_events
from kebab.cli.render.canvas import Canvas, Column, clean, render_columns
from kebab.errors.signal import Exit
from kebab.wire import evals
from kebab.wire.coverage import pluralize
from kebab.wire.search import ModeName


@declare_command(
    "eval",
    examples=(
        "kebab eval queries.jsonl",
        "kebab eval queries.jsonl --mode hybrid --rerank",
        "kebab eval queries.jsonl --json | jq '.modes[].figures[]'",
    ),
)
@click.argument("queries", type=click.Path(path_type=Path), metavar="QUERIES")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(get_args(ModeName)),
    help="Only these modes (repeatable).",
)
@click.option("--rerank", is_flag=True, help="Rerank the first passages.")
def command(
    context: CommandContext, /, queries: Path, *, modes: tuple[ModeName, ...], rerank: bool
) -> Exit:
    """Measure search with golden questions.

    QUERIES has one JSON object per line with `query` and one of these: `doc`, the path of the
    document that answers, or the end of this path, with optional `line_start` and `line_end`;
    `relevant`, grades by document; or `answerable: false` when nothing answers. Without `--mode`,
    every available mode is measured. The command only reads the knowledge base and stores no
    question. The report has the rank of each question, so two reports can be compared.
    """
    from kebab.evals import evaluate

    with (
        context.open_kebab(read_only=True) as kebab,
        report_events(context, choose_work_display(context)) as reporter,
    ):
        reply = evaluate(kebab, queries, reporter, modes=modes, rerank=rerank)
        reporter.finish(Exit.DONE, cancelled=False)
    return context.print_reply(reply, render_evaluation)


def render_evaluation(reply: evals.EvalReport, canvas: Canvas) -> Iterator[str]:
    """Yield the questions, a table of every metric by mode, and notes."""
    golden, model = reply.golden, reply.models.embedding_version or "no embedding model"
    yield canvas.strong(f"kebab v{reply.kebab_version}") + f", {model}"
    source = f"{pluralize(golden.answerable, 'question')} of {clean(golden.path)}"
    nothing = f", {golden.unanswerable} that nothing answers" if golden.unanswerable else ""
    yield f"{source}{nothing}; revision {reply.models.corpus_revision}"
    figures = [{one.metric: one for one in mode.figures} for mode in reply.modes]
    rows = [
        (metric, *(_format_value(by[metric]) for by in figures))
        for metric in figures[0]
        if any(by[metric].value is not None for by in figures)
    ]
    if rows:
        yield ""
        columns = [Column(), *(Column(mode.mode, right=True) for mode in reply.modes)]
        yield from render_columns(columns, rows, canvas)
    if golden.missing:
        more = golden.missing_count - len(golden.missing)
        named = ", ".join(map(clean, golden.missing)) + (f" and {more} more" if more else "")
        yield from canvas.note(f"not indexed, and so never found: {named}")
    for skipped in reply.skipped:
        yield from canvas.note(f"{skipped.mode} was not measured: {clean(skipped.reason)}")
    for mode in reply.modes:
        for channel in mode.degraded:
            count = pluralize(channel.questions, "question")
            failure = f"{mode.mode}: {channel.channel} did not answer {count}"
            yield from canvas.note(f"{failure}: {clean(channel.reason)}")


def _format_value(figure: evals.EvalFigure) -> str:
    if figure.value is None:
        return "-"
    return f"{figure.value:.1f}" if figure.unit == "ms" else f"{figure.value:.3f}"

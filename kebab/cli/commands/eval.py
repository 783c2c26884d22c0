"""`kebab eval` measures search quality with golden questions."""

from pathlib import Path
from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import MODES, Count, per_doc_option
from kebab.cli.progress import report_work
from kebab.cli.render.evals import render_evaluation
from kebab.errors.catalog import UsageInvalid
from kebab.errors.signal import Exit
from kebab.wire.search import MAX_LIMIT, ModeName

_MIN_LIMIT = 10
_FILE = click.Path(path_type=Path)


@declare_command(
    "eval",
    exits=(Exit.UNUSABLE,),
    examples=(
        "kebab eval queries.jsonl",
        "kebab eval queries.jsonl --mode hybrid --out after.json",
        "kebab eval queries.jsonl --qrels qrels.tsv --json | jq '.modes[].figures[]'",
    ),
)
@click.argument("queries", type=_FILE, metavar="QUERIES")
@click.option("--mode", "modes", multiple=True, type=MODES, help="Only these modes (repeatable).")
@click.option(
    "-n",
    "--limit",
    type=Count(_MIN_LIMIT, MAX_LIMIT),
    default=_MIN_LIMIT,
    show_default=True,
    help="Judge the first N hits.",
)
@per_doc_option
@click.option("--rerank", is_flag=True, help="Rerank the first passages.")
@click.option("--by-doc", is_flag=True, help="Accept any passage of the right document.")
@click.option(
    "--qrels", type=_FILE, metavar="FILE", help="Relevance grades: query, document, grade."
)
@click.option("--out", type=_FILE, metavar="FILE", help="Write the report to this file.")
def command(
    context: CommandContext,
    /,
    queries: Path,
    out: Path | None,
    *,
    modes: tuple[ModeName, ...],
    qrels: Path | None,
    **flags: Any,
) -> Exit:
    """Measure search with golden questions.

    QUERIES has one JSON object per line with `query` and one of these: `doc`, the path of the
    document that answers, or the end of this path, with optional `line_start` and `line_end`;
    `relevant`, grades by document; or `answerable: false` when nothing answers. Without `--mode`,
    every available mode is measured. The command only reads the knowledge base and stores no
    question. The report has the rank of each question, so two reports can be compared.
    """
    from kebab.evals import check_output_path, evaluate, write_file
    from kebab.wire.evals import EvalSettings

    settings = context.load_settings()
    if out:
        context.require_writable("eval --out")
        check_output_path(out)
        if out.resolve() in {file.resolve() for file in (queries, qrels) if file}:
            raise UsageInvalid(option="--out", cause=f"{out} is an input file")
    with (
        context.open_kebab(settings, read_only=True) as kebab,
        report_work(context) as reporter,
    ):
        measured = EvalSettings(**flags)
        reply = evaluate(kebab, queries, measured, reporter, modes=modes, qrels=qrels)
        reporter.finish(Exit.DONE, cancelled=False)
    if out:
        write_file(out, context.encode_reply(reply, Exit.DONE))
    return context.print_reply(reply, render_evaluation)

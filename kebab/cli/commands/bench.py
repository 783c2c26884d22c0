"""`kebab bench` measures speed and size."""

from typing import Any

import click

from kebab.bench.run import MEASUREMENTS, BenchOptions, run_benchmark
from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.progress import report_measurements
from kebab.cli.render.evals import render_benchmark
from kebab.config.settings import resolve_paths
from kebab.errors.signal import Exit

_DEFAULTS = BenchOptions()


@click.command(
    "bench",
    cls=Command,
    exits=(Exit.NO,),
    examples=(
        "kebab bench",
        "kebab bench --only startup --only search",
        "kebab bench --json | jq '.figures[] | select(.within == false)'",
    ),
)
@click.option(
    "--chunks",
    type=click.IntRange(10),
    default=_DEFAULTS.chunks,
    show_default=True,
    help="Index N passages.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=_DEFAULTS.runs,
    show_default=True,
    help="Repeat short measurements N times.",
)
@click.option(
    "--seed",
    type=int,
    default=_DEFAULTS.seed,
    show_default=True,
    help="The seed of the generated notes.",
)
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(MEASUREMENTS)),
    help="Only these measurements (repeatable).",
)
@click.pass_obj
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Measure speed and size against budgets.

    The command generates notes in a temporary folder. It does not open your knowledge base and
    downloads nothing. Machines differ, so each figure is compared with a yardstick that runs in
    turns with it. A missed budget does not change the exit status; the status is 1 when a
    measurement could not run.
    """
    models = resolve_paths(context.load_settings()).models
    with report_measurements(context) as report:
        reply = run_benchmark(BenchOptions(**flags), models, report)
    failed = any(gap.failed for gap in reply.gaps)
    return context.print_reply(reply, render_benchmark, Exit.NO if failed else Exit.DONE)

"""`kebab bench`."""

from typing import Any

import click

from kebab.bench.rig import BenchOptions
from kebab.bench.run import MEASUREMENTS, run
from kebab.bench.sizes import parse_sizes, short_size
from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.render.bench import draw
from kebab.cli.render.pace import Lines
from kebab.config.paths import places
from kebab.errors.signal import Exit

_DEFAULTS = BenchOptions()


def _sizes(context: click.Context, option: click.Parameter, value: str) -> tuple[int, ...]:
    """Return the sizes that a person wrote, or fail as a usage error."""
    try:
        return parse_sizes(value)
    except ValueError:
        wrong = f"{value!r} is no list of sizes such as `1k,10k`"
        raise click.BadParameter(wrong, context, option) from None


@click.command(
    "bench",
    cls=Command,
    exits=(Exit.NO,),
    examples=(
        "kebab bench",
        "kebab bench --only startup --only search",
        "kebab bench --only growth --sizes 1k,10k,100k",
        "kebab bench --json | jq '.figures[] | select(.within == false)'",
    ),
)
@click.option(
    "--chunks",
    type=click.IntRange(10),
    default=_DEFAULTS.chunks,
    show_default=True,
    help="How many passages to embed with the model.",
)
@click.option(
    "--files",
    type=click.IntRange(10),
    default=_DEFAULTS.files,
    show_default=True,
    help="How many files to read by words alone.",
)
@click.option(
    "--sizes",
    callback=_sizes,
    default=",".join(map(short_size, _DEFAULTS.sizes)),
    show_default=True,
    help="On how many passages to measure growth, such as `1k,10k,100k` or `1m`.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=_DEFAULTS.runs,
    show_default=True,
    help="How often to repeat what is quick.",
)
@click.option(
    "--seed", type=int, default=_DEFAULTS.seed, show_default=True, help="What notes to make up."
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

    Notes are made up in a folder that goes afterwards; your knowledge base is not touched and
    nothing is fetched. Whole processes run in turns with the yardstick they are compared with,
    since machines differ. Growth is measured with synthetic vectors, since a model would take
    hours on the large sizes. Budgets are reported and do not change the exit status; it is 1
    when something could not run.
    """
    models = places(context.load_settings()).models
    lines = Lines(context.channels.err)
    try:
        reply = run(
            BenchOptions(**flags), models, context.write_event if context.flags.machine else lines
        )
    finally:
        if not context.flags.machine:
            lines.end()
    failed = any(gap.failed for gap in reply.gaps)
    return context.print_reply(reply, draw, Exit.NO if failed else Exit.DONE)

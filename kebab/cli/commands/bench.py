"""`kebab bench`."""

from typing import Any

import click

from kebab.bench.rig import BenchOptions
from kebab.bench.run import MEASUREMENTS, run
from kebab.cli.command import Command
from kebab.cli.render.bench import Lines, draw
from kebab.cli.session import Session
from kebab.config.paths import places
from kebab.errors.signal import Exit

_DEFAULTS = BenchOptions()


@click.command(
    "bench",
    cls=Command,
    exits=(Exit.NO,),
    examples=("kebab bench", "kebab bench --only startup --runs 5"),
)
@click.option(
    "--chunks",
    type=click.IntRange(100),
    default=_DEFAULTS.chunks,
    show_default=True,
    help="How many passages the notes have.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=_DEFAULTS.runs,
    show_default=True,
    help="How often each figure is taken.",
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
def command(session: Session, /, **flags: Any) -> Exit:
    """Measure speed and size against budgets.

    Notes are made up in a folder that goes afterwards; your knowledge base is not touched and
    nothing is fetched. Budgets are ratios to what is measured beside them in the same run, since
    machines differ. The status is 1 when a figure is over its budget or could not be taken.
    """
    models = places(session.settings()).models
    lines = Lines(session.channels.err)
    try:
        reply = run(
            BenchOptions(**flags), models, session.aside if session.flags.machine else lines
        )
    finally:
        if not session.flags.machine:
            lines.end()
    missed = any(one.within is False for one in reply.figures)
    failed = any(one.failed for one in reply.gaps)
    return session.answer(reply, draw, Exit.NO if missed or failed else Exit.DONE)

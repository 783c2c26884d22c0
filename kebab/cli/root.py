"""The root command: the flags of the whole program, and everything below it."""

import click

from kebab import __version__
from kebab.cli.lazy import LazyGroup


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it
    del param
    if value and ctx.obj is not None:
        ctx.obj.channels.out.write(f"kebab {__version__}\n")
        ctx.exit()


@click.group(
    "kebab",
    cls=LazyGroup,
    examples=(
        "kebab ingest ~/notes",
        'kebab search "how do I restore a backup"',
        "kebab fetch chunk ID --context 5",
    ),
    subcommand_metavar="COMMAND …",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Print the version.",
)
def root() -> None:
    """Keep your files searchable on your own machine.

    kebab finds exact passages in your notes, by words and by meaning, in English and Korean and
    more, with or without a network. Every command speaks strict JSON with `--json`.
    """

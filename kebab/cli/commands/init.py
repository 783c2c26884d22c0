"""`kebab init` writes a settings file."""

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.render.health import render_init
from kebab.errors.catalog import ConfigInvalid
from kebab.errors.hints import NO_FOLDER
from kebab.errors.signal import Exit
from kebab.errors.system import resolve_path
from kebab.wire.health import InitRequest


@declare_command(
    "init",
    examples=("kebab init --workspace ~/notes", "kebab init --config ./kebab.toml"),
)
@click.option("--workspace", metavar="DIR", help="The folder that a bare `kebab ingest` reads.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def command(context: CommandContext, *, workspace: str | None, force: bool) -> Exit:
    """Write a commented settings file.

    The file goes to the path in `--config` or `KEBAB_CONFIG`, whose folder must exist, else to the
    settings folder of the platform. Every line shows a default, so an unchanged file has no effect.
    """
    path = context.config_path
    if context.named_config_path and not path.parent.is_dir():
        raise ConfigInvalid(path=resolve_path(path), cause=NO_FOLDER)
    if path.exists() and not force:
        context.load_settings()  # an invalid file is replaced with `--force` only
    with context.open_kebab(report=context.report_settings()) as kebab:
        reply = kebab.run(InitRequest(workspace=workspace, force=force))
    return context.print_reply(reply, render_init)

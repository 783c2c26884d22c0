"""`kebab init` writes a settings file."""

import os
from pathlib import Path

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.render.health import render_init
from kebab.config.load import SettingsReport, load_settings
from kebab.config.settings import Settings
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
    settings = _choose_settings(context, force=force)
    with context.open_kebab(report=SettingsReport(settings)) as kebab:
        reply = kebab.run(InitRequest(workspace=workspace, force=force))
    return context.print_reply(reply, render_init)


def _choose_settings(context: CommandContext, *, force: bool) -> Settings:
    """Return the current settings; `--force` ignores an invalid file, because it is replaced."""
    path = context.config_path
    if path.exists():
        try:
            return context.load_settings()
        except ConfigInvalid:
            if not force:
                raise
    elif context.named_config_path and not path.parent.is_dir():
        raise ConfigInvalid(path=resolve_path(path), cause=NO_FOLDER)
    environ = {name: value for name, value in os.environ.items() if name != "KEBAB_CONFIG"}
    return load_settings(
        Path(os.devnull), environ=environ, flags={"data_dir": context.flags.data_dir}
    )

"""`kebab init`."""

import os
from pathlib import Path

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.render.health import render_init
from kebab.config.load import load_settings
from kebab.config.settings import Settings
from kebab.errors.catalog import ConfigInvalid
from kebab.errors.signal import Exit
from kebab.errors.system import resolve_path
from kebab.wire.health import InitRequest


@click.command(
    "init",
    cls=Command,
    examples=("kebab init --workspace ~/notes", "kebab init --config ./kebab.toml"),
)
@click.option("--workspace", metavar="DIR", help="The folder that a bare `kebab ingest` reads.")
@click.option("--force", is_flag=True, help="Write the file anew when it is already there.")
@click.pass_obj
def command(context: CommandContext, *, workspace: str | None, force: bool) -> Exit:
    """Write a commented settings file.

    It goes where `--config` or `KEBAB_CONFIG` says, in a folder that exists, else into the
    platform's settings folder. Every line shows a default, so an untouched file changes nothing.
    """
    settings = _settings(context, force=force)
    with context.open_kebab(settings) as kebab:
        reply = kebab.init(InitRequest(workspace=workspace, force=force))
    return context.print_reply(reply, render_init)


def _settings(context: CommandContext, *, force: bool) -> Settings:
    """Return the settings that hold now, or without a file that cannot be used and is replaced.

    Raises:
        ConfigInvalid: The file is there, stays, and cannot be used; or its folder is missing.
    """
    path = context.config_path
    if path.exists():
        try:
            return context.load_settings()
        except ConfigInvalid:
            if not force:
                raise
    elif context.named_config_path and not path.parent.is_dir():
        raise ConfigInvalid(path=resolve_path(path), cause="no such folder")
    environ = {name: value for name, value in os.environ.items() if name != "KEBAB_CONFIG"}
    return load_settings(
        Path(os.devnull), environ=environ, flags={"data_dir": context.flags.data_dir}
    )

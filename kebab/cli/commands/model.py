"""`kebab model list|pull|use` lists, downloads or changes embedding models."""

import click

from kebab.cli.command import Group
from kebab.cli.context import CommandContext
from kebab.cli.options import complete
from kebab.cli.progress import run_work
from kebab.cli.render.health import render_model_list, render_model_report
from kebab.config.settings import AUTO
from kebab.errors.signal import Exit
from kebab.wire.health import ModelListRequest, ModelPullRequest, ModelUseRequest

_folder = click.option(
    "--from",
    "folder",
    metavar="FOLDER",
    type=click.Path(),
    help="Take the files of the model from this folder.",
)


@click.group("model", cls=Group, examples=("kebab model list",))
def command(context: CommandContext, /) -> None:
    """List, download or change the embedding model."""


@command.command("list", examples=("kebab model list",))
def list_(context: CommandContext, /) -> Exit:
    """List the embedding models.

    The active one is marked.
    """
    return context.print_reply(context.run(ModelListRequest()), render_model_list)


@command.command("pull", examples=("kebab model pull multilingual-e5-small",))
@click.argument("name", metavar="[NAME]", default=AUTO, shell_complete=complete("models"))
@_folder
def pull(context: CommandContext, /, name: str, folder: str | None) -> Exit:
    """Download an embedding model.

    It works without a network afterwards. Without NAME, or with `auto`, it is the model in the
    settings, or the one that the knowledge base uses. Before the first ingest it is the best one
    that can be downloaded.
    """
    reply, status = run_work(context, ModelPullRequest(name=name, folder=folder))
    return context.print_reply(reply, render_model_report, status)


@command.command("use", examples=("kebab model use auto",))
@click.argument("name", metavar="NAME", shell_complete=complete("models"))
@_folder
def use(context: CommandContext, /, name: str, folder: str | None) -> Exit:
    """Change the embedding model.

    Everything is embedded again. Meanwhile searches use words, and the new vectors that are there
    already. The next ingest continues an interrupted change. `auto` selects the model in the
    settings, or the best one for the languages of the documents.
    """
    reply, status = run_work(context, ModelUseRequest(name=name, folder=folder))
    return context.print_reply(reply, render_model_report, status)

"""`kebab completion` prints the script that completes commands and names in a shell."""

import click

from kebab.cli.command import Command
from kebab.cli.completion import SHELLS, build_completion_script
from kebab.cli.context import CommandContext
from kebab.errors.signal import Exit
from kebab.wire.command_help import CompletionScript


@click.command(
    "completion",
    cls=Command,
    examples=(
        'eval "$(kebab completion bash)"    # in ~/.bashrc',
        'eval "$(kebab completion zsh)"     # in ~/.zshrc',
        "kebab completion fish > ~/.config/fish/completions/kebab.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_obj
def command(context: CommandContext, /, shell: str) -> Exit:
    """Print the completion script of a shell.

    It completes commands, flags, paths of documents, tags, languages, sources, models, sessions,
    schemas and error codes.
    """
    reply = CompletionScript(shell=shell, script=build_completion_script(shell))
    return context.print_reply(reply, lambda reply, _: [reply.script.rstrip()])

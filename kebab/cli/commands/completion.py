"""`kebab completion` prints the script that completes commands and names in a shell."""

import click

from kebab.cli.command import declare_command, root
from kebab.cli.context import CommandContext
from kebab.cli.main import COMPLETION_VARIABLE
from kebab.errors.signal import Exit
from kebab.wire.health import CompletionScript


@declare_command(
    "completion",
    examples=("kebab completion bash", "kebab completion zsh", "kebab completion fish"),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(context: CommandContext, /, shell: str) -> Exit:
    """Print the completion script of a shell.

    Bash and Zsh load it with `eval "$(kebab completion bash)"` in `~/.bashrc` or `~/.zshrc`; Fish
    reads it from `~/.config/fish/completions/kebab.fish`. It completes commands,
    flags, paths of documents, tags, languages, sources, models, sessions, schemas and error codes.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(root, {}, "kebab", COMPLETION_VARIABLE).source()
    reply = CompletionScript(shell=shell, script=script)
    return context.print_reply(reply, lambda reply, _: [reply.script.rstrip()])

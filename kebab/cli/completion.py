"""Completes words in a shell: what `TAB` offers for the values of flags and arguments."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kebab.app.names import NameKind

SHELLS = ("bash", "zsh", "fish")
COMPLETION_VARIABLE = "_KEBAB_COMPLETE"
"""The environment variable by which a shell asks for completions."""

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete(kind: "NameKind") -> Completer:
    """Return the completer of a flag or an argument."""

    def list_matches(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        del param
        try:
            return _list_names(ctx, kind, incomplete)
        except Exception:  # noqa: BLE001 - a shell that completes a word must never show an error
            return []

    return list_matches


def complete_paths(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """Let the shell complete the names of files and folders."""
    from click.shell_completion import CompletionItem

    del ctx, param
    return [CompletionItem(incomplete, type="file")]


def _list_names(ctx: click.Context, kind: "NameKind", incomplete: str) -> list[str]:
    from kebab.app.names import list_names
    from kebab.cli.context import CommandContext
    from kebab.config.settings import Settings

    context = ctx.find_object(CommandContext)
    assert context is not None
    settings = context.find_settings() or Settings()
    return list_names(settings, context.config_path, kind, incomplete)


def print_completions(instruction: str) -> int:
    """Answer the request of a shell, such as `bash_complete`; return the exit status."""
    from click.shell_completion import shell_complete

    from kebab.cli.channels import OutputChannel, OutputChannels
    from kebab.cli.command import root
    from kebab.cli.context import CommandContext
    from kebab.cli.interrupt import Interrupts

    channels = OutputChannels(
        OutputChannel(1, "<stdout>"), OutputChannel(2, "<stderr>", best_effort=True)
    )
    context = CommandContext(channels, Interrupts(lambda: None))
    return shell_complete(root, {"obj": context}, "kebab", COMPLETION_VARIABLE, instruction)


def build_completion_script(shell: str) -> str:
    """Return the script that makes a shell complete the words of kebab."""
    from click.shell_completion import get_completion_class

    from kebab.cli.command import root

    kind = get_completion_class(shell)
    assert kind is not None
    return kind(root, {}, "kebab", COMPLETION_VARIABLE).source()

"""Completes words in a shell: what `TAB` offers for the values of flags and arguments."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kebab.app.names import NameKind

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
    from kebab.config.settings import Settings

    settings = ctx.obj.find_settings() or Settings()
    return list_names(settings, ctx.obj.config_path, kind, incomplete)

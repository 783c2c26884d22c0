"""Answers a word that is no command: with the command that was meant, and a call that works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kebab.cli.hints import OUTPUT_FLAGS, change_flags, join_words
from kebab.core.spelling import find_likely_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VERBS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("find", "lookup", "query"), ("search",)),
    **dict.fromkeys(("index", "add", "update", "refresh", "reindex", "sync", "scan"), ("ingest",)),
    **dict.fromkeys(("show", "cat", "read", "get", "view", "print"), ("fetch",)),
    **dict.fromkeys(("delete", "remove", "forget"), ("rm",)),
    **dict.fromkeys(("status", "check", "health"), ("doctor",)),
    **dict.fromkeys(("stats", "info"), ("schema",)),
    **dict.fromkeys(("config", "settings", "configure"), ("help", "settings")),
    **dict.fromkeys(("ls", "documents"), ("list",)),
    **dict.fromkeys(("similar", "like"), ("related",)),
    **dict.fromkeys(("toc", "headings"), ("outline",)),
    **dict.fromkeys(("web", "ui", "server"), ("serve",)),
    "backlinks": ("list", "--links-to"),
    "duplicates": ("dupes",),
    "edit": ("open",),
    "lint": ("review",),
    "models": ("model", "list"),
    "setup": ("install",),
    "uninstall": ("help", "uninstall"),
    "version": ("--version",),
}
"""Words of other programs, with what does the same here."""

_COMPLETE = ("help", "--version")
"""Calls that take no argument of the refused one."""
_UNSAFE = frozenset({"rm", "reset", "import", "publish", "delete", "remove"})
"""Commands that change or send much; a mistyped name leads only to their help."""
_HELP = ("-h", "--help")
_SENTENCE = 3
"""The fewest words that are read as a question instead of a command."""


class UnknownName(click.UsageError):
    """A word that names no command; `hint` is the call that was probably meant."""

    def __init__(self, message: str, near: str | None, hint: str, ctx: click.Context) -> None:
        super().__init__(f"{message}, did you mean `{near}`?" if near else message, ctx)
        self.hint = hint


def refuse_topic(name: str, names: Iterable[str], ctx: click.Context, above: str) -> UnknownName:
    """Return the error for a word after `above` that names neither a page nor a command."""
    near = find_likely_name(name, names)
    hint = join_words([*above.split(), near]) if near else f"{ctx.command_path}"
    return UnknownName(f"no such page or command `{name}`", near, hint, ctx)


def refuse_command(group: click.Group, ctx: click.Context, words: Sequence[str]) -> UnknownName:
    """Return the error for words whose first names no command of a group."""
    name, *rest = change_flags(words, drop=OUTPUT_FLAGS, with_value=OUTPUT_FLAGS[1:])
    message = f"no such command `{name}`"
    above = ctx.command_path.split()
    own, after = _find_call(group, ctx, name, rest)
    if not own:
        return UnknownName(message, None, join_words([*above, "--help"]), ctx)
    meant = [*own, *after]
    unsafe = meant[0] in _UNSAFE and name not in VERBS
    if unsafe or not {*_HELP}.isdisjoint(rest) or not _can_parse(group, meant):
        meant = [meant[0], "--help"]
    return UnknownName(message, " ".join(own), join_words([*above, *meant]), ctx)


def _find_call(
    group: click.Group, ctx: click.Context, name: str, rest: list[str]
) -> tuple[Sequence[str], list[str]]:
    """Return the command that was meant, and its arguments; no command if none is likely."""
    if ctx.parent is None:
        if name == "uninstall" and rest:
            return ("install", "--uninstall"), rest
        if own := VERBS.get(name):
            return own, [] if own[0] in _COMPLETE else rest
        if _is_sentence([name, *rest]):
            return ("search",), [name, *rest]
    near = find_likely_name(name, group.list_commands(ctx))
    if near is not None:
        return (near,), rest
    many = ctx.parent is None and len(rest) + 1 >= _SENTENCE
    return (("search",), [name, *rest]) if many else ((), [])


def _is_sentence(words: list[str]) -> bool:
    """Return whether words are one quoted text of several, or a question."""
    from kebab.search.query_parser import is_question

    return " " in words[0].strip() or (len(words) > 1 and is_question(" ".join(words)))


def _can_parse(group: click.Group, words: Sequence[str]) -> bool:
    """Return whether the arguments of a call are complete and known; nothing runs."""
    if words[0].startswith("-"):
        return True
    try:
        name, command, rest = group.resolve_command(click.Context(group), list(words))
        if isinstance(command, click.Group):
            return bool(rest) and _can_parse(command, rest)
        assert command is not None
        command.make_context(name, rest)
    except click.UsageError:
        return False
    return True

"""Turns the templates of hints into commands for the caller's shell, and answers wrong names.

A hint of a lower layer names a command without knowing how kebab was called. Here it meets the
call: `complete_hint` adds the flags that select the knowledge base, and `repeat_call` writes the
whole command line again with other flags. A word that is no command is answered with the one that
was meant, and a call that works.
"""

from __future__ import annotations

import itertools
import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kebab.core.spelling import find_likely_name
from kebab.text.normalize import escape_undecodable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from msgspec import Struct

    from kebab.cli.options import Flags
    from kebab.errors.hints import Rerun

S = TypeVar("S", bound="Struct")

_PROGRAM = "kebab"
_END = "--"
OUTPUT_FLAGS = ("--json", "--output-format", "--color")
"""Flags that a repeated command does without; they change only how the result looks."""

_COMMAND = re.compile(rf"((?:KEBAB_\w+=\S+ )*{_PROGRAM})(?= )(.*)", re.DOTALL)
_LITERAL = re.compile(r"(?<=`)[^`]+(?=`)")
_NEED_NO_SETTINGS = ("completion", "errors", "explain")
"""Commands that read neither settings nor a knowledge base."""

_INFORM = ("--help", "--version")
"""Flags with which no command reads them."""

_HINT_FIELDS = ("hint", "fix")
_TEMPLATES = "error_row.v1"
"""The record whose hints are templates for everybody."""


class Chunk(NamedTuple):
    """A part of a command line: a flag with its value, or one other word with the name `""`."""

    name: str
    words: tuple[str, ...]


def complete_hint(hint: str, flags: Flags) -> str:
    """Return a hint whose commands use the settings and the knowledge base of this call.

    A hint is a command, or a sentence with commands in backticks. One that is completed again
    does not change.
    """
    if not (flags.config or flags.data_dir):
        return hint
    if _COMMAND.match(hint):
        return _complete_command(hint, flags)
    return _LITERAL.sub(lambda match: _complete_command(match[0], flags), hint)


def complete_reply(reply: S, flags: Flags) -> S:
    """Return a reply in which every hint is complete, at any depth."""
    return _replace_hints(reply, flags) if flags.config or flags.data_dir else reply


def repeat_call(
    arguments: Sequence[str], params: Iterable[click.Parameter], rerun: Rerun
) -> str | None:
    """Return the command line of a call with other flags; None if the command has no such flag."""
    params = list(params)
    known = {name for param in params for name in param.opts}
    if not {word for word in rerun.add if word.startswith("--")} <= known:
        return None
    words = change_flags(
        arguments,
        drop=(*OUTPUT_FLAGS, *rerun.drop),
        add=rerun.add,
        with_value=list_flags_with_value(params),
    )
    variables = [f"{name}={shlex.quote(value)}" for name, value in rerun.variables]
    return " ".join([*variables, join_words([_PROGRAM, *words])])


def join_words(words: Iterable[str]) -> str:
    """Return words as a command line for a shell; bytes that are not UTF-8 are escaped."""
    return " ".join(map(_quote_word, words))


def _quote_word(word: str) -> str:
    if escape_undecodable(word) == word:
        return shlex.quote(word)
    return "$'" + escape_undecodable(word.replace("\\", "\\\\").replace("'", "\\'")) + "'"


def change_flags(
    arguments: Sequence[str],
    *,
    drop: Collection[str] = (),
    add: Sequence[str] = (),
    with_value: Collection[str] = (),
) -> list[str]:
    """Return the words of a command line without some flags and with others, which precede `--`.

    The flags of `with_value` take a value, which is dropped with its flag.
    """
    chunks = list(split_arguments(arguments, with_value))
    end = next((at for at, chunk in enumerate(chunks) if chunk.name == _END), len(chunks))
    kept = [word for chunk in chunks[:end] if chunk.name not in drop for word in chunk.words]
    return [*kept, *add, *(word for chunk in chunks[end:] for word in chunk.words)]


def split_arguments(arguments: Sequence[str], with_value: Collection[str]) -> Iterator[Chunk]:
    """Yield the flags of a command line with their values, and its other words."""
    rest = iter(arguments)
    for word in rest:
        name, equals, _ = word.partition("=")
        if word == _END:
            yield Chunk(_END, (word, *rest))
        elif word.startswith("--"):
            value = () if equals or name not in with_value else tuple(_take(rest))
            yield Chunk(name, (word, *value))
        elif word.startswith("-") and len(word) > 1:
            yield Chunk(word[:2], (word, *(_take(rest) if word in with_value else ())))
        else:
            yield Chunk("", (word,))


def list_flags_with_value(params: Iterable[click.Parameter]) -> set[str]:
    """Return the spellings of the flags that take a value."""
    flags = (param for param in params if param.param_type_name == "option")
    return {
        name
        for flag in flags
        if not (getattr(flag, "is_flag", False) or getattr(flag, "count", False))
        for name in flag.opts
    }


def _take(rest: Iterator[str]) -> Iterator[str]:
    word = next(rest, None)
    if word is not None:
        yield word


def _complete_command(text: str, flags: Flags) -> str:
    """Return a command with the missing flags after its program; other text is returned as is."""
    match = _COMMAND.fullmatch(text)
    if match is None:
        return text
    words = list(itertools.takewhile(lambda word: word != _END, _split_shell(match[2])))
    if not {*words[:1]}.isdisjoint(_NEED_NO_SETTINGS) or not {*words}.isdisjoint(_INFORM):
        return text
    missing = [
        word
        for name, value in (("--config", flags.config), ("--data-dir", flags.data_dir))
        if value and not any(word == name or word.startswith(f"{name}=") for word in words)
        for word in ([f"{name}={value}"] if value.startswith("-") else [name, value])
    ]
    return f"{match[1]} {join_words(missing)}{match[2]}" if missing else text


def _split_shell(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an open quote
        return text.split()


def _replace_hints(value: Any, flags: Flags) -> Any:
    import msgspec

    if isinstance(value, list | tuple):
        if not value or isinstance(value[0], (str, int, float)):
            return value
        items = [_replace_hints(item, flags) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else items
    if not isinstance(value, msgspec.Struct) or value.__struct_config__.tag == _TEMPLATES:
        return value
    changed: dict[str, Any] = {}
    for name in value.__struct_fields__:
        old = getattr(value, name)
        is_hint = isinstance(old, str) and name in _HINT_FIELDS
        new = complete_hint(old, flags) if is_hint else _replace_hints(old, flags)
        if new is not old:
            changed[name] = new
    return msgspec.structs.replace(value, **changed) if changed else value


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
    "backlinks": ("inspect",),
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

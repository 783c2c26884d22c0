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
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kebab.errors.hints import limit_hint
from kebab.errors.system import escape_undecodable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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


def complete_hint(hint: str, flags: Flags) -> str:
    """Return a hint whose commands use the settings and the knowledge base of this call.

    A hint is a command, or a sentence with commands in backticks. One that is completed again
    does not change.
    """
    if _COMMAND.match(hint):
        return _complete_command(hint, flags)
    return _LITERAL.sub(lambda match: _complete_command(match[0], flags), hint)


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
    quoted = (
        shlex.quote(word)
        if escape_undecodable(word) == word
        else "$'" + escape_undecodable(word.replace("\\", "\\\\").replace("'", "\\'")) + "'"
        for word in words
    )
    return " ".join(quoted)


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
    kept: list[str] = []
    after: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == _END:
            after = [word, *rest]
            break
        is_long, is_short = word.startswith("--"), word.startswith("-") and len(word) > 1
        name, equals, _ = word.partition("=") if is_long else (word[:2], "", "")
        takes_value = not equals and (name if is_long else word) in with_value
        words = [word, *(itertools.islice(rest, 1) if is_short and takes_value else ())]
        if not (is_short and name in drop):
            kept += words
    return [*kept, *add, *after]


def list_flags_with_value(params: Iterable[click.Parameter]) -> set[str]:
    """Return the spellings of the flags that take a value."""
    flags = (param for param in params if param.param_type_name == "option")
    return {
        name
        for flag in flags
        if not (getattr(flag, "is_flag", False) or getattr(flag, "count", False))
        for name in flag.opts
    }


def _complete_command(text: str, flags: Flags) -> str:
    """Return a command with the missing flags after its program; other text is returned as is."""
    match = _COMMAND.fullmatch(text)
    if match is None:
        return text
    try:
        words = shlex.split(match[2])
    except ValueError:  # an open quote
        words = match[2].split()
    words = list(itertools.takewhile(lambda word: word != _END, words))
    if not {*words[:1]}.isdisjoint(_NEED_NO_SETTINGS) or not {*words}.isdisjoint(_INFORM):
        return text
    missing = [
        word
        for name, value in (("--config", flags.config), ("--data-dir", flags.data_dir))
        if value and not any(word == name or word.startswith(f"{name}=") for word in words)
        for word in ([f"{name}={value}"] if value.startswith("-") else [name, value])
    ]
    return f"{match[1]} {join_words(missing)}{match[2]}" if missing else text


def complete_hints(value: Any, flags: Flags) -> Any:
    """Return a reply of built-in types in which every hint is complete, at any depth.

    One that is too long then is null. Those of a row of the catalogue are templates and stay.
    """
    if isinstance(value, list):
        return [complete_hints(one, flags) for one in value]
    if not isinstance(value, dict) or value.get("schema_version") == "error_row.v1":
        return value
    return {
        name: limit_hint(complete_hint(one, flags))
        if name in ("hint", "fix") and isinstance(one, str)
        else complete_hints(one, flags)
        for name, one in value.items()
    }


@cache
def read_synonyms(table: str) -> dict[str, list[str]]:
    """Return the words of a table of `synonyms.toml`, each with what means the same here."""
    import tomllib

    text = Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)[table].items()
    return {word: own.split() for own, words in rows for word in words.split()}


_NEED_NAME = ("ask", "fetch", "open", "review")
"""Commands that read a name, although none of their arguments is required."""
_UNSAFE = {"rm", "reset", "import", "publish", "delete", "remove", "--yes", "--apply", "--unsafe"}
"""What changes or sends much; a mistyped name or flag leads only to the help."""
_QUERIES = ("search", "ask")
"""Commands whose words may begin with a dash, as in `-draft`."""
_SENTENCE = 3
"""The fewest words that are read as a question instead of a command."""


class UsageHintError(click.UsageError):
    """A usage error whose `hint` is the call that was probably meant; `near` is its name."""

    def __init__(
        self, message: str, hint: str, ctx: click.Context | None = None, near: str | None = None
    ) -> None:
        super().__init__(f"{message}, did you mean `{near}`?" if near else message, ctx)
        self.hint = hint


def refuse_command(group: click.Group, ctx: click.Context, words: Sequence[str]) -> UsageHintError:
    """Return the error for words whose first names no command of a group."""
    name, *rest = change_flags(words, drop=OUTPUT_FLAGS, with_value=OUTPUT_FLAGS[1:])
    message = f"no such command `{name}`"
    above = ctx.command_path.split()
    own, after = _find_call(group, ctx, name, rest)
    if not own:
        return UsageHintError(message, join_words([*above, "--help"]), ctx)
    meant = [*own, *after]
    unsafe = meant[0] in _UNSAFE and (name not in read_synonyms("commands") or "--yes" in after)
    if unsafe or not _can_parse(group, meant):
        meant = [meant[0], "--help"]
    return UsageHintError(message, join_words([*above, *meant]), ctx, " ".join(own))


def _find_call(
    group: click.Group, ctx: click.Context, name: str, rest: list[str]
) -> tuple[Sequence[str], list[str]]:
    """Return the command that was meant, and its arguments; no command if none is likely."""
    verbs = read_synonyms("commands")
    own: Sequence[str] = verbs.get(name, [""])
    is_sentence = ctx.parent is None and len(rest) + 1 >= _SENTENCE
    is_sentence = is_sentence and not any("/" in word for word in rest)  # paths are no sentence
    if ctx.parent and own[0] in group.list_commands(ctx):
        return own[:1], rest
    if ctx.parent is None:
        if name == "uninstall" and rest:
            return ("install", "--uninstall"), rest
        after = [] if own[0] in ("help", "--version") else rest
        if name in verbs and (not is_sentence or _can_parse(group, [*own, *after])):
            return own, after
        from kebab.search.query_parser import is_question

        # One quoted text of several words, or a question.
        if " " in name.strip() or (rest and is_question(" ".join([name, *rest]))):
            return ("search",), [name, *rest]

    from kebab.core.spelling import find_likely_name

    near = find_likely_name(name, group.list_commands(ctx))
    if near is not None:
        return (near,), rest
    return (("search",), [name, *rest]) if is_sentence else ((), [])


def find_meant_flag(error: click.NoSuchOption) -> str | None:
    """Return the flag of the command that was probably meant; None if none is likely."""
    from kebab.core.spelling import find_likely_name

    known = {name for param in error.ctx.command.params for name in param.opts} if error.ctx else {}
    (meant,) = read_synonyms("flags").get(error.option_name, [""])
    if error.ctx and (error.ctx.command.name, error.option_name) == ("grep", "-v"):
        return None  # the program shows all other lines
    long = [name for name in known if name.startswith("--")]
    return meant if meant in known else find_likely_name(error.option_name, long)


def correct_flag(error: click.NoSuchOption, arguments: Sequence[str]) -> str | None:
    """Return the call with the flag that was meant; None if that is no complete call.

    A word such as `-draft` in a query becomes a part of the argument before it.
    """
    ctx, name, near = error.ctx, error.option_name, find_meant_flag(error)
    if ctx is None or not _UNSAFE.isdisjoint({ctx.command.name, near}):
        return None
    words = change_flags(arguments, drop=OUTPUT_FLAGS, with_value=OUTPUT_FLAGS[1:])
    at = next((at for at, one in enumerate(words) if one.startswith(name)), None)
    if at is None:
        return None
    if near:
        words[at] = near + words[at].removeprefix(name)
    elif ctx.command.name in _QUERIES and " " in words[at]:  # a query that begins with a dash
        words = [*words[:at], *words[at + 1 :], _END, words[at]]
    elif ctx.command.name in _QUERIES and words[at] != name and words[at - 2][:1] != "-":
        words[at - 1 : at + 1] = [f"{words[at - 1]} {words[at]}"]
    else:
        return None
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    shared = {flag for param in root.params for flag in param.opts}
    own = change_flags(words, drop=shared, with_value=list_flags_with_value(root.params))
    return join_words([_PROGRAM, *words]) if own and _can_parse(root, own) else None


def _can_parse(group: click.Group, words: Sequence[str]) -> bool:
    """Return whether the arguments of a call are complete and known; nothing runs."""
    if not {"-h", "--help"}.isdisjoint(words):
        return False
    if words[0].startswith("-"):
        return True
    try:
        name, command, rest = group.resolve_command(click.Context(group), list(words))
        if isinstance(command, click.Group):
            return bool(rest) and _can_parse(command, rest)
        assert command is not None
        made = command.make_context(name, rest)
    except click.UsageError:
        return False
    named = (
        made.params[str(one.name)] for one in command.params if isinstance(one, click.Argument)
    )
    return name not in _NEED_NAME or any(named) or not {"--web", "--run-id"}.isdisjoint(words)

"""Suggests the command line that was meant by one that cannot be understood."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import click

from kebab.cli.hints import (
    OUTPUT_FLAGS,
    change_flags,
    join_words,
    list_flags_with_value,
    split_arguments,
)
from kebab.core.spelling import find_likely_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CUTOFF = 0.5
"""How alike a mistyped command and the one that was meant have to be."""

_DESTRUCTIVE = ("reset", "rm")
"""Commands that a mistake must not lead to."""


class UnknownCommand(click.UsageError):
    """The command line names a command that does not exist: the first of `words`."""

    def __init__(
        self, words: Sequence[str], names: Sequence[str], ctx: click.Context, noun: str = "command"
    ) -> None:
        self.name = words[0]
        self.is_question = ctx.parent is None and _is_question(words)
        self.near = find_likely_name(self.name, names)
        if self.near is None and not self.is_question:
            close = difflib.get_close_matches(self.name, names, n=1, cutoff=_CUTOFF)
            self.near = next(iter(close), None)
        suggestion = f", did you mean `{self.near}`?" if self.near else ""
        super().__init__(f"no such {noun} `{self.name}`{suggestion}", ctx)


def suggest_correction(error: click.ClickException, arguments: Sequence[str]) -> str | None:
    """Return the whole command line without the mistake; None when it cannot be guessed."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    words = change_flags(arguments, drop=OUTPUT_FLAGS, with_value=["--output-format", "--color"])
    if isinstance(error, UnknownCommand):
        corrected = None
        if error.name in words and error.near not in _DESTRUCTIVE:
            at = words.index(error.name)
            if error.near:
                corrected = [*words[:at], error.near, *words[at + 1 :]]
            elif error.is_question:
                corrected = [*words[:at], "search", *words[at:]]
    elif isinstance(error, click.NoSuchOption) and ctx is not None:
        corrected = _correct_flag(error.option_name, ctx.command.params, words)
    elif isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        corrected = _correct_value(error.param, words)
    else:
        corrected = None
    return join_words(["kebab", *corrected]) if corrected else None


def find_near_flag(name: str, params: Iterable[click.Parameter]) -> str | None:
    """Return the long flag that was probably meant."""
    flags = [flag for param in params if isinstance(param, click.Option) for flag in param.opts]
    return find_likely_name(name, [flag for flag in flags if flag.startswith("--")])


def describe_unknown_flag(name: str, params: Iterable[click.Parameter]) -> str:
    """Return what is wrong with a flag that does not exist."""
    near = find_near_flag(name, params)
    return f"no such option `{name}`" + (f", did you mean `{near}`?" if near else "")


def _is_question(words: Sequence[str]) -> bool:
    """Return whether words are more likely a question than a mistyped command."""
    first = words[0]
    several = len([word for word in words if not word.startswith("-")]) > 1
    return several or " " in first or first.endswith("?") or not first.isascii()


def _correct_flag(
    name: str, params: Iterable[click.Parameter], words: list[str]
) -> list[str] | None:
    near = find_near_flag(name, params)
    for at, word in enumerate(words if near else []):
        flag, equals, value = word.partition("=")
        if flag == name:
            return [*words[:at], f"{near}{equals}{value}", *words[at + 1 :]]
    return None


def _correct_value(option: click.Option, words: list[str]) -> list[str] | None:
    """Return the words with the nearest choice in place of the wrong value."""
    if not isinstance(option.type, click.Choice):
        return None
    choices = [str(choice) for choice in option.type.choices]
    corrected: list[str] = []
    changed = False
    for chunk in split_arguments(words, list_flags_with_value([option])):
        flag, equals, joined = chunk.words[0].partition("=")
        value = joined if equals else chunk.words[-1]
        near = find_likely_name(value, choices) if chunk.name in option.opts else None
        if near is None or near == value:
            corrected += chunk.words
        else:
            corrected += [f"{flag}={near}"] if equals else [*chunk.words[:-1], near]
            changed = True
    return corrected if changed else None

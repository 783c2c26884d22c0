"""Defines the flags that commands share, completes their values, and builds requests from them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import click
from click.core import ParameterSource

from kebab.errors.signal import LANGUAGES, Language

if TYPE_CHECKING:
    from kebab.app.facade import NameKind
    from kebab.wire.record import Reply, Request


def complete(kind: NameKind) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return the completer of a flag or an argument."""

    def list_matches(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        try:
            from kebab.app.facade import list_names
            from kebab.config.settings import Settings

            settings = ctx.obj.find_settings() or Settings()
            return list_names(settings, ctx.obj.config_path, kind, incomplete)
        except Exception:  # noqa: BLE001 - a shell that completes a word must never show an error
            return []

    return list_matches


F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R", bound="Request[Reply]")

ColorChoice = Literal["auto", "always", "never"]

_LANG = "--lang"


@dataclass(slots=True, eq=False, repr=False)
class Flags:
    """The values of the global flags; with `machine` both output channels carry JSON."""

    machine: bool = False
    config: str | None = None
    data_dir: str | None = None
    read_only: bool = False
    verbose: bool = False
    color: ColorChoice = "auto"
    lang: Language | None = None


def detect_error_language(arguments: Sequence[str], command: click.Command) -> Language | None:
    """Return the language of errors that unparsed arguments ask for.

    A command's own `--lang` filters documents, so it does not count.
    """
    if not any(isinstance(param, GlobalOption) and _LANG in param.opts for param in command.params):
        return None
    flags = arguments[: arguments.index("--")] if "--" in arguments else arguments
    words = [word for flag in flags for word in flag.split("=", 1)]
    wanted = dict(pairwise(words)).get(_LANG)
    return next((language for language in LANGUAGES if language == wanted), None)


class GlobalOption(click.Option):
    """A flag of every command; its value is stored in the flags of the call."""

    def __init__(
        self,
        *names: str,
        attribute: str | None = None,
        convert: Callable[[Any], Any] | None = None,
        **attrs: Any,
    ) -> None:
        self._attribute = attribute
        self._convert = convert
        super().__init__(names, expose_value=False, is_eager=True, callback=self._store, **attrs)

    def _store(self, ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value == "":
            # An unset variable in a script must not select the default knowledge base.
            raise click.BadParameter("it is empty", ctx, param)
        given = ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
        if given and ctx.obj is not None:
            stored = self._convert(value) if self._convert else value
            setattr(ctx.obj.flags, self._attribute or str(param.name), stored)
        return value


def ndjson_option(*names: str, **attrs: Any) -> Callable[[Any], Any]:
    """Return a flag that makes both channels carry NDJSON."""

    def set_machine(ctx: click.Context, param: click.Parameter, value: bool) -> bool:  # noqa: FBT001 - click calls it
        if value and ctx.obj is not None:
            ctx.obj.flags.machine = True
        return value

    return click.option(*names, is_flag=True, callback=set_machine, **attrs)


def create_global_options() -> list[click.Parameter]:
    """Return new objects for the global flags."""
    return [
        GlobalOption("--json", attribute="machine", is_flag=True, help="Print one JSON object."),
        GlobalOption(
            "--output-format",
            attribute="machine",
            convert=lambda value: value == "json",
            type=click.Choice(["text", "json"]),
            help="Print text or one JSON object.",
        ),
        GlobalOption("--config", metavar="PATH", help="Read settings from this file."),
        GlobalOption(
            "--data-dir", metavar="DIR", help="Use the knowledge base in this folder or address."
        ),
        GlobalOption("--read-only", is_flag=True, help="Refuse every write."),
        GlobalOption(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            help="When to use colour; `auto` respects `NO_COLOR` and `FORCE_COLOR`.",
        ),
        GlobalOption(
            _LANG,
            type=click.Choice(LANGUAGES),
            help="Language of errors; goes before a command that has its own `--lang`.",
        ),
        GlobalOption(
            "--verbose", is_flag=True, help="Show more detail, including the causes of errors."
        ),
    ]


def select_global_options(own: Sequence[click.Parameter]) -> list[click.Parameter]:
    """Return the global flags without those whose names the command uses itself."""
    taken = {name for param in own for name in param.opts}
    return [option for option in create_global_options() if taken.isdisjoint(option.opts)]


def filter_options(command: F) -> F:
    """Add the filters of documents to a command.

    All filters must match; the repeated values of one filter are alternatives.
    """
    from kebab.core.queries import FILTERS

    options = []
    for name, (metavar, text, kind) in _FILTERS.items():
        row = FILTERS[name]
        option = click.option(
            *dict.fromkeys((row.flag, f"--{name.replace('_', '-')}")),
            name,
            multiple=row.repeats,
            metavar=metavar,
            help=f"{text} (repeatable)." if row.repeats else f"{text}.",
            shell_complete=complete(kind) if kind else None,
        )
        options.append(option)
    return add_options([*options, _BASE], command)


def add_options(options: Sequence[Callable[[Any], Any]], command: F) -> F:
    """Add options to a command; help lists them in this order."""
    for option in reversed(options):
        command = option(command)
    return command


class _PlainRange:
    """Describes a number and its range in words."""

    min: Any
    max: Any
    letter: str

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return how help names the value."""
        return self.letter

    def _describe_range(self) -> str:
        return f"{self.min:g} or more" if self.max is None else f"{self.min:g} to {self.max:g}"


class Count(_PlainRange, click.IntRange):
    """A whole number of a range, which help calls N."""

    name, letter = "whole number", "N"


class Fraction(_PlainRange, click.FloatRange):
    """A number of a range, which help calls X."""

    name, letter = "number", "X"


in_option = click.option(
    "--in",
    "folder",
    metavar="DIR",
    help="Index this folder first if it changed, and search only there.",
)
PLAN_HELP = {
    "mode": "Search by words, by meaning, or by both.",
    "rerank": "Compare more or none of the first passages with the query token by token.",
}
"""The help of the flags that say how passages are found."""


def field_options(request: type[Request[Reply]], **texts: str) -> Callable[[F], F]:
    """Return flags for fields of a request, with their help; the fields tell types and limits."""
    from msgspec.structs import fields

    types = {one.name: one.type for one in fields(request)}
    options = [_create_field_option(name, types[name], text) for name, text in texts.items()]
    return partial(add_options, options)


def _create_field_option(name: str, declared: Any, text: str) -> Callable[[Any], Any]:
    from msgspec import inspect

    flag = f"--{name.replace('_', '-')}"
    names = ["-n", flag] if name == "limit" else [flag]
    more: dict[str, Any] = {}
    is_nullable = NoneType in get_args(declared)
    if is_nullable:  # null stands for a flag that is not given
        declared = get_args(declared)[0]
    match inspect.type_info(declared):
        case inspect.LiteralType():
            more = {"type": click.Choice(get_args(declared))}
        case inspect.IntType(ge=least, le=most):
            more = {"type": Count(least, most)}
        case inspect.FloatType(ge=lowest, le=highest):
            more = {"type": Fraction(lowest, highest)}
        case inspect.BoolType():
            names = [f"{flag}/--no-{flag[2:]}"] if is_nullable else names
            more = {"is_flag": True, "default": None}
        case _:
            more = {"metavar": name.rpartition("_")[2].upper()}
    return click.option(*names, name, help=text, **more)


def read_form(ctx: click.Context, _: click.Parameter, form: str) -> str:
    """Return a form of text output; `json` sets the flag `--json` instead."""
    if form == "json" and ctx.obj:
        ctx.obj.flags.machine = True
    return "text" if form == "json" else form


_FILTERS: dict[str, tuple[str, str, NameKind | None]] = {
    "tag": ("TAG", "Only this tag and those below it, such as `TAG/part`", "tags"),
    "lang": ("CODE", "Only this language", "languages"),
    "media": ("TYPE", "Only this type, e.g. `pdf`", "media"),
    "author": ("NAME", "Only this author", "authors"),
    "property": ("KEY=VALUE", "Only this property: `status=done`, `rating>3`", None),
    "source": ("NAME", "Only this source", "sources"),
    "path_glob": ("GLOB", "Only matching paths: `**`, `{a,b}`; `!` excludes", "documents"),
    "doc_id": ("ID", "Only this document", None),
    "since": ("WHEN", "Only documents since a date, or within `7d`", None),
    "until": ("WHEN", "Only documents before a date", None),
}
"""The value, the help and the completed names of each filter that has a flag here."""


_BASE = click.option(
    "--base",
    multiple=True,
    metavar="NAME",
    callback=lambda _, __, names: [one for name in names for one in name.split(",")],
    help="Only these published bases: `a,b` (repeatable).",
)


def refuse_contradictions(*rules: tuple[object, str]) -> None:
    """Refuse a call by the first rule that holds.

    Raises:
        UsageError: A rule holds; its second part is the cause.
    """
    for is_wrong, cause in rules:
        if is_wrong:
            raise click.UsageError(cause)


def select_given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags that are given."""
    return {name: value for name, value in flags.items() if value not in (None, ())}


def read_argument(words: tuple[str, ...], what: str, limit: int) -> str:
    """Return the words of an argument as one text; `-` alone stands for the text on stdin.

    Raises:
        TooLarge: There are more than `limit` bytes on stdin; `what` names them.
    """
    if words != ("-",):
        return " ".join(words)
    from kebab.errors.catalog import TooLarge

    data = sys.stdin.buffer.read(limit + 1) if sys.stdin else b""
    if len(data) > limit:
        raise TooLarge(what=what, size=len(data), limit=limit)
    return data.decode("utf-8-sig", "surrogateescape").strip()


def build_request(kind: type[R], flags: Mapping[str, Any], **defaults: Any) -> R:
    """Return a request of the flags that are given, and of defaults for the others.

    Raises:
        InvalidInput: The fields break its schema.
    """
    import msgspec

    from kebab.wire.record import drop_empty_fields, to_invalid_input

    try:
        return msgspec.convert(drop_empty_fields({**defaults, **select_given(flags)}, kind), kind)
    except msgspec.ValidationError as error:
        raise to_invalid_input(error) from error

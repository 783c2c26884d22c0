"""Defines the flags that commands share, completes their values, and builds requests from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from click.core import ParameterSource

from kebab.errors.signal import LANGUAGES, Language

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kebab.app.facade import NameKind
    from kebab.wire.record import Reply, Request

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete(kind: NameKind) -> Completer:
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


def complete_paths(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell complete the names of files and folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


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
    for position, argument in enumerate(flags):
        name, _, value = argument.partition("=")
        wanted = value or "".join(flags[position + 1 : position + 2])
        if name == _LANG:
            return next((language for language in LANGUAGES if language == wanted), None)
    return None


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
    return add_options(_FILTERS, command)


def neighbour_options(command: F) -> F:
    """Add the filters that can match more than one document."""
    return add_options([option for option in _FILTERS if option is not _DOC_ID], command)


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


MODES = click.Choice(["hybrid", "lexical", "vector"])
mode_option = click.option("--mode", type=MODES, help="Search by words, by meaning, or by both.")
rerank_option = click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Compare more or none of the first passages with the query token by token.",
)


def limit_option(most: int | None, noun: str, default: int | None = None) -> Callable[[F], F]:
    """Return the flag `--limit` with a maximum of `most`; `noun` names the limited items."""
    help_text = f"Show at most N {noun}."
    return click.option("-n", "--limit", type=Count(1, most), default=default, help=help_text)


def read_form(ctx: click.Context, _: click.Parameter, form: str) -> str:
    """Return a form of text output; `json` sets the flag `--json` instead."""
    if form == "json":
        ctx.obj.flags.machine = True
        return "text"
    return form


def _create_list_filter(
    kind: NameKind, metavar: str, help_text: str, *names: str
) -> Callable[[Any], Any]:
    """Return a filter that can be repeated, with the completer of its values."""
    more: dict[str, Any] = {"multiple": True, "metavar": metavar, "shell_complete": complete(kind)}
    return click.option(*names, help=f"{help_text} (repeatable).", **more)


_DOCUMENTS: dict[str, Any] = {"shell_complete": complete("documents")}
_DOC_ID = click.option("--doc-id", metavar="ID", help="Only this document.")
_FILTERS: tuple[Callable[[Any], Any], ...] = (
    _create_list_filter(
        "tags", "TAG", "Only this tag and those below it, such as `TAG/part`", "--tag"
    ),
    _create_list_filter("languages", "CODE", "Only this language", "--lang"),
    _create_list_filter(
        "media", "TYPE", "Only this type, e.g. `pdf`", "--type", "--media", "media"
    ),
    _create_list_filter("authors", "NAME", "Only this author", "--author"),
    click.option(
        "--property",
        multiple=True,
        metavar="KEY=VALUE",
        help="Only this property: `status=done`, `rating>3` (repeatable).",
    ),
    _create_list_filter("sources", "NAME", "Only this source", "--source"),
    click.option(
        "--path",
        "path_glob",
        metavar="GLOB",
        help="Only matching paths: `**`, `{a,b}`; `!` excludes.",
        **_DOCUMENTS,
    ),
    _DOC_ID,
    click.option("--since", metavar="WHEN", help="Only documents since a date, or within `7d`."),
    click.option("--until", metavar="WHEN", help="Only documents before a date."),
    click.option(
        "--base",
        multiple=True,
        metavar="NAME",
        callback=lambda _, __, names: [one for name in names for one in name.split(",")],
        help="Only these published bases: `a,b` (repeatable).",
    ),
)


_SWITCHES = frozenset({"rerank"})
"""Flags that also have a form `--no-…`: False is given, and None is not."""


def merge_flags(defaults: dict[str, Any], flags: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a request; flags that are given override the defaults."""
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in flags.items()
        if value not in (None, (), False) or (value is False and name in _SWITCHES)
    }
    return {**defaults, **given}


def build_request(fields: dict[str, Any], kind: type[R]) -> R:
    """Return a request of this kind.

    Raises:
        InvalidInput: The fields break its schema.
    """
    import msgspec

    from kebab.wire.record import to_invalid_input

    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise to_invalid_input(error) from error

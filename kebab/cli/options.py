"""The flags that every command takes, before or after its name, and what help shows of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click
from click.core import ParameterSource

from kebab.errors.translations.languages import LANGUAGES, Language

ColorChoice = Literal["auto", "always", "never"]

_LANG = "--lang"
_FRAMES = ("--json", "--stream", "--bulk")


@dataclass(slots=True, eq=False, repr=False)
class Flags:
    """What the shared flags said; `machine` means that both channels speak JSON."""

    machine: bool = False
    config: str | None = None
    data_dir: str | None = None
    read_only: bool = False
    verbose: bool = False
    color: ColorChoice = "auto"
    lang: Language | None = None


def expects_json(arguments: Sequence[str]) -> bool:
    """Return whether a caller wants JSON, as far as it shows before the flags are understood.

    It only decides how a command line that cannot be understood is answered.
    """
    wanted = False
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        name, _, value = argument.partition("=")
        if name == "--output-format":
            wanted = (value or "".join(arguments[place + 1 : place + 2])) == "json"
        wanted = wanted or argument in _FRAMES
    return wanted


def expected_language(arguments: Sequence[str], command: click.Command) -> Language | None:
    """Return the language that a caller wants errors in, as far as it shows before that.

    Where `--lang` is the command's own it says nothing of errors.
    """
    if not any(isinstance(one, GlobalOption) and _LANG in one.opts for one in command.params):
        return None
    before = [*arguments[: arguments.index("--")]] if "--" in arguments else [*arguments]
    for place, argument in enumerate(before):
        name, _, value = argument.partition("=")
        wanted = value or "".join(before[place + 1 : place + 2])
        if name == _LANG:
            return next((language for language in LANGUAGES if language == wanted), None)
    return None


class GlobalOption(click.Option):
    """A flag of every command; its value goes into the session's flags."""

    def __init__(self, *names: str, keep: Callable[[Flags, Any], None], **attrs: Any) -> None:
        self._keep = keep
        super().__init__(names, expose_value=False, is_eager=True, callback=self._store, **attrs)

    def _store(self, ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value == "":
            # An unset variable of a script must not come to mean the knowledge base at home.
            raise click.BadParameter("it is empty", ctx, param)
        given = ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
        if given and ctx.obj is not None:
            self._keep(ctx.obj.flags, value)
        return value


def frame_option(*names: str, **attrs: Any) -> Callable[[Any], Any]:
    """Return a flag after which stdout carries NDJSON, and stderr too."""

    def note(ctx: click.Context, param: click.Parameter, value: bool) -> bool:  # noqa: FBT001 - click calls it
        del param
        if value and ctx.obj is not None:
            ctx.obj.flags.machine = True
        return value

    return click.option(*names, is_flag=True, callback=note, **attrs)


def global_options() -> list[click.Parameter]:
    """Return the shared flags; each command gets its own."""
    return [
        GlobalOption("--json", keep=_json, is_flag=True, help="Print one JSON object."),
        GlobalOption(
            "--output-format",
            keep=_output_format,
            type=click.Choice(["text", "json"]),
            help="The same, by name.",
        ),
        GlobalOption("--config", keep=_config, metavar="PATH", help="Read this settings file."),
        GlobalOption("--data-dir", keep=_data_dir, metavar="DIR", help="Use this knowledge base."),
        GlobalOption("--read-only", keep=_read_only, is_flag=True, help="Refuse every write."),
        GlobalOption(
            "--color",
            keep=_color,
            type=click.Choice(["auto", "always", "never"]),
            help="When to use colour; `auto` heeds `NO_COLOR` and `FORCE_COLOR`.",
        ),
        GlobalOption(
            _LANG,
            keep=_lang,
            type=click.Choice(LANGUAGES),
            help="Language of errors; before the name of a command whose `--lang` is a filter.",
        ),
        GlobalOption("--verbose", keep=_verbose, is_flag=True, help="Say more, also of errors."),
    ]


def shared_options(own: Sequence[click.Parameter]) -> list[click.Parameter]:
    """Return the shared flags of a command; a name that it has itself means its own there."""
    taken = {name for one in own for name in one.opts}
    return [one for one in global_options() if taken.isdisjoint(one.opts)]


def _json(flags: Flags, value: bool) -> None:  # noqa: FBT001 - every keeper has one form
    flags.machine = value


def _output_format(flags: Flags, value: str) -> None:
    flags.machine = value == "json"


def _config(flags: Flags, value: str) -> None:
    flags.config = value


def _data_dir(flags: Flags, value: str) -> None:
    flags.data_dir = value


def _read_only(flags: Flags, value: bool) -> None:  # noqa: FBT001 - every keeper has one form
    flags.read_only = value


def _color(flags: Flags, value: ColorChoice) -> None:
    flags.color = value


def _verbose(flags: Flags, value: bool) -> None:  # noqa: FBT001 - every keeper has one form
    flags.verbose = value


def _lang(flags: Flags, value: Language) -> None:
    flags.lang = value

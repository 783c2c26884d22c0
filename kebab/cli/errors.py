"""Reports every exception as one `error.v1` and an exit status.

This module has the only broad `except` of the command line. It imports no third-party library at
the top, so it can report a missing library too.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from kebab.errors.hints import Rerun, limit_hint
from kebab.errors.signal import Exit, Signal, build_error_fields
from kebab.errors.start import describe_start_failure, detect_json_output, format_failure
from kebab.errors.system import build_import_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import click

    from kebab.app.classify import ClassifiedError, View
    from kebab.cli.context import CommandContext
    from kebab.errors.catalog import UsageInvalid
    from kebab.errors.signal import Language

_FIRST_FIELD = re.compile(r"\$\.(\w+)")
_QUOTED = re.compile("'([^']*)'")
"""What click puts in quotes."""


class ErrorReport(NamedTuple):
    """An exception with its public view, and whether the caller wants JSON."""

    error: BaseException
    classified: ClassifiedError
    machine: bool


def run_reporting_errors(context: CommandContext, work: Callable[[], int]) -> int:
    """Do the work; return its exit status, or that of the exception that ended it."""
    try:
        import click

        try:
            return work()
        except click.exceptions.Exit as leaving:
            return leaving.exit_code
    except BaseException as error:  # noqa: BLE001 - the edge of the process
        return report_safely(context, error)


def report_safely(context: CommandContext, error: BaseException) -> int:
    """Report an exception, also when reporting it fails; return the exit status."""
    try:
        return report_error(context, error)
    except BrokenPipeError:
        return Exit.READER_GONE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except ImportError as missing:
        return report_missing_library(missing, context.channels.err.write, context.arguments)
    except Exception as unreported:  # noqa: BLE001 - not even this module works, for lack of memory
        with suppress(OSError, Signal):  # stderr may be what cannot be written
            context.channels.err.write(describe_start_failure(unreported, context.arguments))
        return Exit.ERROR


def report_error(context: CommandContext, error: BaseException) -> int:
    """Print an exception on stderr in the caller's format; return its exit status."""
    report = describe_error(context, error)
    classified = report.classified
    if classified.quiet or context.error_reported:
        return classified.exit
    context.error_reported = True
    log = append_to_error_log(context, report)
    with suppress(Signal):  # when stdout cannot be written, stderr still reports the error
        context.on_error(classified)
    if report.machine:
        context.write_event(classified.reply, classified.exit)
    else:
        from kebab.cli.render.errors import render_error

        err = context.channels.err
        err.write_lines(render_error(classified.reply, context.create_canvas(err), log))
    return classified.exit


def describe_error(context: CommandContext, error: BaseException) -> ErrorReport:
    """Return the report of an exception, which gets the names of flags."""
    import click

    from kebab.app.classify import classify_error
    from kebab.cli.hints import repeat_call
    from kebab.errors.catalog import InvalidInput

    if isinstance(error, click.ClickException):
        return _describe_click_error(context, error)
    if isinstance(error, click.Abort):
        error = KeyboardInterrupt()
    if isinstance(error, InvalidInput):
        error.field = find_parameter_name(error.field, context.params)
    classified = classify_error(error, operation=context.command, view=build_error_view(context))
    hint = _choose_hint(context, error, classified)
    # The call that failed is no hint.
    place = Rerun(drop=("--config", "--data-dir"))
    call = repeat_call(context.arguments, context.params, place)
    if hint is not None or classified.reply.hint == call:
        classified = _replace_hint(classified, hint)
    early = not context.flags_parsed and detect_json_output(context.arguments)
    return ErrorReport(error, classified, context.flags.machine or early)


def _choose_hint(
    context: CommandContext, error: BaseException, classified: ClassifiedError
) -> str | None:
    """Return the hint that only this call can give; None when that of the catalogue stays."""
    from kebab.errors.catalog import Generic, UsageInvalid

    rerun = classified.rerun
    if isinstance(error, UsageInvalid):
        if error.option != "--port":
            return f"kebab {context.command} --help"
        rerun = Rerun(add=("--port", "0"), drop=("--port",))  # the port is taken
    reply = classified.reply
    if reply.code == Generic.code and context.command != "errors":
        return f"kebab errors --id {reply.correlation_id}"
    if rerun is None or not context.flags_parsed:
        return None
    from kebab.cli.hints import repeat_call

    return _drop_unfit_line(repeat_call(context.arguments, context.params, rerun))


def _describe_click_error(context: CommandContext, error: click.ClickException) -> ErrorReport:
    """Return the report of a usage error; the arguments are not parsed yet."""
    import click

    from kebab.app.classify import classify_error
    from kebab.cli.hints import correct_flag
    from kebab.cli.options import detect_error_language

    ctx = error.ctx if isinstance(error, click.UsageError) else None
    language = None
    if ctx is not None:
        context.command = ctx.command_path.partition(" ")[2] or ctx.command_path
        language = detect_error_language(context.arguments, ctx.command)
    view = build_error_view(context, language)
    classified = classify_error(convert_click_error(error), operation=context.command, view=view)
    if ctx is not None:
        hint = getattr(error, "hint", None)
        if isinstance(error, click.NoSuchOption):
            hint = correct_flag(error, context.arguments)
        hint = _drop_unfit_line(hint) or f"{ctx.command_path} --help"
        classified = _replace_hint(classified, hint)
    return ErrorReport(error, classified, detect_json_output(context.arguments))


def _drop_unfit_line(line: str | None) -> str | None:
    """Return a command line; None when it is too long, or has a secret that it needs."""
    from kebab.errors.redaction import redact

    return limit_hint(line) if line == redact(line) else None


def build_error_view(context: CommandContext, language: Language | None = None) -> View:
    """Return the view of errors for this caller, even with unusable settings.

    `language` is that of unparsed arguments, if they name one.
    """
    from kebab.app.classify import View
    from kebab.config.load import read_language

    settings = context.find_settings()
    usual = settings.lang if settings else read_language()
    return View(context.flags.lang or language or usual, context.flags.verbose)


def append_to_error_log(context: CommandContext, report: ErrorReport) -> str | None:
    """Log an error; return the path of the log when the message refers to it, else None."""
    from kebab.app.errors import FailedCall, log_failure
    from kebab.config.settings import resolve_paths
    from kebab.errors.catalog import DependencyMissing
    from kebab.errors.redaction import redact

    settings = context.find_settings()
    try:
        data_dir = str(resolve_paths(settings).data) if settings else context.flags.data_dir
    except DependencyMissing:
        return None  # the folders of this system are unknown
    provider = settings.models.llm.provider if settings else None
    call = FailedCall(context.arguments, data_dir, provider)
    log = log_failure(report.error, report.classified, call)
    return None if log is None else redact(str(log))


def convert_click_error(error: click.ClickException) -> UsageInvalid:
    """Return the signal for a command line that click rejects."""
    import click

    from kebab.cli.hints import find_meant_flag
    from kebab.errors.catalog import UsageInvalid

    cause = error.message.removesuffix(".")
    option, param = getattr(error, "option_name", None), getattr(error, "param", None)
    if not isinstance(option, str):
        option = format_parameter(param) if isinstance(param, click.Parameter) else ""
    if isinstance(error, click.NoSuchOption):
        near = find_meant_flag(error)
        cause = f"no such option `{option}`" + (f", did you mean `{near}`?" if near else "")
    elif isinstance(error, click.MissingParameter):
        cause = f"missing `{option}`"
    elif isinstance(error, click.BadParameter):
        cause = f"invalid `{option}`: {cause}"
    cause = _QUOTED.sub(r"`\1`", cause)
    return UsageInvalid(option=option, cause=cause[:1].lower() + cause[1:])


def find_parameter_name(field: str, params: Iterable[click.Parameter]) -> str:
    """Return the flag or argument for a JSON path; a path without one is returned unchanged."""
    match = _FIRST_FIELD.match(field)
    matching = (param for param in params if match and param.name == match[1])
    return next(map(format_parameter, matching), field)


def format_parameter(param: click.Parameter) -> str:
    """Return a flag or argument as in help, without the signs for repetition."""
    if param.param_type_name == "option":
        return next(name for name in param.opts if name.startswith("--"))
    return param.human_readable_name.strip("[]{}…")


def _replace_hint(classified: ClassifiedError, hint: str | None) -> ClassifiedError:
    from msgspec import structs

    return structs.replace(classified, reply=structs.replace(classified.reply, hint=hint))


def report_missing_library(
    error: ImportError, write: Callable[[str], None], arguments: Sequence[str]
) -> Exit:
    """Report a missing library that every command needs; return the exit status."""
    signal = build_import_error(error)
    if signal is None:
        write(describe_start_failure(error, arguments))
        return Exit.ERROR
    import json

    message, hint, details = str(signal), signal.format_hint(), signal.details()
    fields = build_error_fields(
        signal, operation="kebab", message=message, hint=hint, details=details
    )
    texts = {name: json.dumps(text, ensure_ascii=False) for name, text in fields.items()}
    write(format_failure(texts, arguments))
    return signal.exit

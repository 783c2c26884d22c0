"""The outermost edge: whatever goes wrong becomes one `error.v1` and an exit status.

This holds the only broad `except` of the command line.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from kebab.cli.options import expected_language, expects_json
from kebab.cli.typed import as_typed, spelled
from kebab.errors.signal import Exit, Signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.app.classify import Fault, View
    from kebab.cli.session import Session
    from kebab.config.model import Settings
    from kebab.errors.catalog import UsageInvalid


def guarded(session: Session, work: Callable[[], int]) -> int:
    """Do the work; return its exit status, or that of the fault that ended it."""
    try:
        return work()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except BaseException as fault:  # noqa: BLE001 - the edge of the process
        return _last_word(session, fault)


def _last_word(session: Session, fault: BaseException) -> int:
    """Report a fault; a reader that goes away meanwhile is quietly accepted."""
    try:
        return report(session, fault)
    except BrokenPipeError:
        return Exit.READER_GONE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except ImportError as missing:
        from kebab.cli.bare import bereft

        return bereft(missing, session.channels.err.write, session.arguments)
    except Exception:  # noqa: BLE001 - stderr itself cannot be written; the status still tells
        return Exit.ERROR


def report(session: Session, fault: BaseException) -> int:
    """Print a fault on stderr, as the caller reads it, and return its exit status."""
    seen = classified(session, fault)
    if seen.quiet or session.reported:
        return seen.exit
    session.reported = True
    log = logged(session, fault, seen)
    with suppress(Signal):  # stdout may be what failed; stderr still tells of it
        session.on_fault(seen)
    if session.flags.machine:
        session.aside(seen.reply, seen.exit)
    else:
        from kebab.cli.render.fault import draw
        from kebab.cli.render.page import page

        sheet = page(session.channels.err, session.flags.color)
        session.channels.err.write("\n".join(draw(seen.reply, sheet, log)) + "\n")
    return seen.exit


def logged(session: Session, fault: BaseException, seen: Fault) -> str | None:
    """Keep what the public view leaves out; return the log's path when a reader should look.

    What the caller did on purpose, or mistyped, is not kept: an interruption, a usage error.
    """
    from kebab.app.audit_log import Call, record
    from kebab.app.redaction import redacted
    from kebab.config.model import Settings
    from kebab.config.paths import places
    from kebab.errors.catalog import DependencyMissing, UsageInvalid
    from kebab.errors.listing import catalog

    if seen.exit == Exit.INTERRUPTED or seen.reply.code == UsageInvalid.meaning.code:
        return None
    try:
        log = places(Settings()).log
    except DependencyMissing:
        return None  # without the folders of this system there is no place to keep anything
    known = settings(session)
    data_dir = str(places(known).data) if known else session.flags.data_dir
    kept = record(fault, seen, Call(session.arguments, data_dir), log)
    if not kept or catalog()[seen.reply.code].meaning.public:
        return None
    shown: str = redacted(str(log), hides_home=bool(known and known.errors.redact_home))
    return shown


def settings(session: Session) -> Settings | None:
    """Return the settings of a call, None when they cannot be used."""
    try:
        return session.settings()
    except Signal:
        return None


def view(session: Session) -> View:
    """Return how this caller wants to be told of faults, also when the settings are unusable."""
    from kebab.app.classify import seen_with
    from kebab.config.load import language
    from kebab.config.model import Settings

    known = settings(session) or Settings(lang=session.flags.lang or language())
    return seen_with(known, verbose=session.flags.verbose)


def classified(session: Session, fault: BaseException) -> Fault:
    """Return what a caller sees of an exception; click's own are usage errors."""
    from kebab.app.classify import classify
    from kebab.errors.catalog import InvalidInput, UsageInvalid

    if isinstance(fault, click.Abort):
        fault = KeyboardInterrupt()
    if not isinstance(fault, click.ClickException):
        session.flags.machine |= not session.understood and expects_json(session.arguments)
        if isinstance(fault, InvalidInput):
            fault.field = as_typed(fault.field, session.params)
        seen = classify(fault, operation=session.command, view=view(session))
        mistyped = isinstance(fault, UsageInvalid)
        return _hinted(seen, f"kebab {session.command} --help") if mistyped else seen
    session.flags.machine = expects_json(session.arguments)
    context = fault.ctx if isinstance(fault, click.UsageError) else None
    if context is not None:
        session.command = context.command_path.partition(" ")[2] or context.command_path
        wanted = expected_language(session.arguments, context.command)
        session.flags.lang = session.flags.lang or wanted
    seen = classify(usage(fault), operation=session.command, view=view(session))
    if context is None:
        return seen
    return _hinted(seen, getattr(fault, "hint", None) or f"{context.command_path} --help")


def _hinted(seen: Fault, hint: str) -> Fault:
    """Return a fault with another hint: the help of the command that was mistyped."""
    import msgspec

    return replace(seen, reply=msgspec.structs.replace(seen.reply, hint=hint))


def usage(fault: click.ClickException) -> UsageInvalid:
    """Return the signal for a command line that click refused."""
    from kebab.errors.catalog import UsageInvalid

    cause = fault.format_message().removesuffix(".")
    return UsageInvalid(option=_culprit(fault), cause=cause[:1].lower() + cause[1:])


def _culprit(fault: click.ClickException) -> str:
    """Return the flag or argument that a usage error is about, empty when it is about none."""
    name = getattr(fault, "option_name", None)
    param = getattr(fault, "param", None)
    if isinstance(name, str):
        return name
    return spelled(param) if isinstance(param, click.Parameter) else ""

"""Converts exceptions to `error.v1`, without secrets. No other module reads a signal.

The rules of redaction know the forms of keys, the names that precede a secret, and the secrets in
the environment of this process. In doubt they hide a word.
"""

import os
import re
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct

from kebab.config.settings import Settings
from kebab.errors.catalog import Cancelled, Generic, IoError
from kebab.errors.hints import Rerun
from kebab.errors.signal import ENGLISH, Exit, Language, Signal, build_error_fields, find_wordings
from kebab.errors.system import (
    build_import_error,
    build_io_error,
    build_memory_error,
    build_read_error,
    is_interruption,
    is_memory_fault,
)
from kebab.text.lazy_pattern import compile_lazily
from kebab.text.normalize import escape_undecodable
from kebab.wire.error import ErrorReply

HIDDEN = "[redacted]"

_MIN_SECRET_CHARS = 8
"""The minimum length of a secret of the environment; a shorter value may be a common word."""

_MAX_SECRET_CHARS = 4_096
"""The maximum length that a rule needs to recognise a secret; the longest is a web token."""

_SENSITIVE_WORDS = r"pass(?:word|wd|phrase|code)|secret|credentials?"
"""Words that mark a secret anywhere in a name."""

_SENSITIVE_PAIRS = (
    r"(?:api|access|account|auth|bearer|client|encryption|id|license|private|refresh|secret"
    r"|session|shared|signing|ssh|storage)[_-]?(?:key|token|sig(?:nature)?)|pwd"
)
"""Pairs of words that mark a secret, such as `api_key`."""

_AMBIGUOUS_WORDS = r"(?<![a-z0-9])(?:key|token|sig(?:nature)?)"
"""Names that may mark a secret, such as `key`; `tokens` is a count and marks none."""

_VALUE = r"""(?:"[^"]*"|'[^']*'|["'`]?[^\s&,;"'`<>(){}\[\]]+)"""
_QUOTED = r"""(?:"[^"]+"|'[^']+')"""
_SECRET_NAME = compile_lazily(
    rf"(?i)(?:.*(?:{_SENSITIVE_WORDS})|(?:.*[^a-z])?(?:{_SENSITIVE_PAIRS})|(?:.*[^a-z0-9])?(?:key|token)"
    r"|(?:proxy-)?authorization|(?:set-)?cookie)"
)
_SECRET_VARIABLE = compile_lazily(r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)")

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        compile_lazily(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)",
            re.DOTALL,
        ),
        "",
    ),
    # The user info of a URL, also with a password that is not percent-encoded.
    (compile_lazily(r"(?<=://)[^\s/?#]{0,512}@"), "@"),
    (compile_lazily(r"(?<=://)[^\s/?#:@]{0,256}:(?!\d{1,5}(?:/|\s|$))[^\s@]{0,256}+@"), "@"),
    (
        compile_lazily(r"(?i)(\b(?:proxy-)?authorization['\"]?\s*[:=]\s*['\"]?)[^\r\n,;'\"}]+"),
        r"\1",
    ),
    (compile_lazily(r"(?i)(\b(?:set-)?cookie['\"]?\s*:\s*['\"]?)[^\r\n'\"}]+"), r"\1"),
    (
        compile_lazily(r"(?i)(\bx-[a-z-]{0,64}(?:key|token)['\"]?\s*[:=]\s*['\"]?)[^\s,;'\"}]+"),
        r"\1",
    ),
    (compile_lazily(r"(?i)(\bbearer\s+)(?!tokens?\b)[^\s,;'\"`]+"), r"\1"),
    (
        compile_lazily(
            rf"(?i)((?:{_SENSITIVE_WORDS}|{_SENSITIVE_PAIRS})[\w-]{{0,64}}[\"']?\s*[=:]\s*){_VALUE}"
        ),
        r"\1",
    ),
    (compile_lazily(rf"(?i)({_AMBIGUOUS_WORDS}=){_VALUE}"), r"\1"),
    (compile_lazily(rf"(?i)({_AMBIGUOUS_WORDS}[\"']\s*:\s*){_QUOTED}"), r"\1"),
    (compile_lazily(r"(?<![A-Za-z0-9])sk-(?:(?=[\w-]{0,64}\d)[\w-]{6,}|[\w-]{16,})"), ""),
    (compile_lazily(r"(?<![A-Za-z0-9])(?:gh[opsur]_\w{6,}|github_pat_\w{6,}|glpat-[\w-]{6,})"), ""),
    (compile_lazily(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AROA)[A-Z0-9]{8,}"), ""),
    (compile_lazily(r"(?<![A-Za-z0-9])(?:xox[a-z]-[\w-]{8,}|hf_\w{16,}|AIza[\w-]{16,})"), ""),
    (compile_lazily(r"(?<![A-Za-z0-9])eyJ[\w-]{8,2048}\.[\w-]{8,}(?:\.[\w-]*)?"), ""),
)
"""Patterns of secrets, and the part of a match that is shown beside `[redacted]`."""


def redact(value: Any) -> Any:
    """Return a value without secrets, nested values included.

    Args:
        value: Text, a number, None, or lists and mappings of these.
    """
    if isinstance(value, str):
        return _hide_secrets(escape_undecodable(value))
    if isinstance(value, dict):
        return {
            redact(name): HIDDEN
            if isinstance(item, str) and item and _SECRET_NAME.fullmatch(str(name))
            else redact(item)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return value


def redact_start(text: str, longest: int) -> str:
    """Return the start of a text without secrets, at most `longest` characters.

    Only the start of a long text is searched. The last part of the searched text is not shown,
    because the rules may not recognise a secret that is cut there.
    """
    searched = text[: longest + 2 * _MAX_SECRET_CHARS]
    shown: str = redact(searched)
    if len(searched) < len(text):
        return shown[: min(longest - 1, max(0, len(shown) - _MAX_SECRET_CHARS))] + "…"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def redact_arguments(arguments: tuple[str, ...], longest: int) -> list[str]:
    """Return a command line without secrets, each argument at most `longest` characters.

    The argument after a flag that names a secret is hidden.
    """
    shown: list[str] = []
    before = ""
    for argument in arguments:
        named = before.startswith("--") and _SECRET_NAME.fullmatch(before)
        shown.append(HIDDEN if named else redact_start(argument, longest))
        before = argument[:_MAX_SECRET_CHARS]
    return shown


def _hide_secrets(text: str) -> str:
    values = (value for name, value in os.environ.items() if _SECRET_VARIABLE.fullmatch(name))
    own = [value for value in values if len(value) >= _MIN_SECRET_CHARS]
    # The longest first, because one may contain another.
    for secret in sorted(own, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for pattern, prefix in _RULES:
        text = pattern.sub(HIDDEN + prefix if prefix == "@" else prefix + HIDDEN, text)
    return text


_MOST_CAUSES = 20
_NO_MEMORY = "out of memory"
"""How the stores word a lack of memory that they meet while they read or write."""
_INCLUDED_COMMANDS = {"model use": "model pull"}
"""The command that another command includes."""


class View(Struct, frozen=True):
    """How errors are worded: the language, and the level of detail."""

    language: Language = ENGLISH
    verbose: bool = False


DEFAULT_VIEW = View()


class ClassifiedError(Struct, frozen=True):
    """An exception as `error.v1`. A quiet one is not reported, because the reader is gone."""

    reply: ErrorReply
    exit: Exit
    quiet: bool = False
    rerun: Rerun | None = None
    """How the failed command line can be repeated so that it succeeds."""


def build_view(settings: Settings, *, verbose: bool = False) -> View:
    """Return how errors are worded under these settings."""
    return View(settings.lang, verbose)


def classify_error(
    fault: BaseException, *, operation: str, view: View = DEFAULT_VIEW
) -> ClassifiedError:
    """Return the public view of an exception. It changes nothing."""
    signal = _convert_to_signal(fault, operation)
    reply = build_error_reply(signal, operation=operation, view=view)
    if view.verbose and (causes := list_causes(fault)[fault is signal :]):
        shown = [redact(cause) for cause in causes]
        reply = msgspec.structs.replace(reply, details={**reply.details, "chain": shown})
    gone = isinstance(fault, BrokenPipeError)
    status = Exit.READER_GONE if gone else signal.exit
    return ClassifiedError(reply, status, quiet=gone, rerun=signal.plan_rerun())


def build_error_reply(signal: Signal, *, operation: str, view: View = DEFAULT_VIEW) -> ErrorReply:
    """Build `error.v1` for a signal, without secrets.

    A signal whose message is not public gets a neutral message, and keeps only details that are
    numbers or truth values.
    """
    # The templates hold no secrets, so only the details are redacted.
    redacted = {field: redact(content) for field, content in signal.details().items()}
    safe = replace(signal, **redacted)  # type: ignore[type-var]
    shown = safe if signal.public else Generic()
    words = find_wordings(type(shown), view.language)
    hint = shown.format_hint(words)
    # One that only repeats the failed command without a new flag is left out.
    commands = filter(None, (operation, _INCLUDED_COMMANDS.get(operation)))
    is_repeated = any(f"{hint} ".startswith(f"kebab {name} ") for name in commands)
    is_circular = is_repeated and " --" not in (hint or "")
    fields = build_error_fields(
        signal,
        operation=operation,
        message=shown.format_message(words),
        hint=None if is_circular else hint,
        # Without `--verbose` there is no `chain`.
        details={
            name: value
            for name, value in safe.details().items()
            if (signal.public or isinstance(value, int | float))
            and (name, value) != ("chain", None)
        },
    )
    return ErrorReply(**fields)


def list_causes(fault: BaseException) -> list[str]:
    """Return an exception and its causes as one line each, outermost first, without secrets."""
    lines: list[str] = []
    cause: BaseException | None = fault
    while cause is not None and len(lines) < _MOST_CAUSES:
        words = redact(str(cause))
        lines.append(f"{type(cause).__name__}: {words}" if words else type(cause).__name__)
        context = None if cause.__suppress_context__ else cause.__context__
        cause = cause.__cause__ or context
    return lines


def _convert_to_signal(fault: BaseException, operation: str) -> Signal:
    if _is_lack_of_memory(fault):
        return build_memory_error(operation)
    if is_interruption(fault):
        return Cancelled(operation=operation)
    if isinstance(fault, Signal):
        return fault
    if isinstance(fault, OSError) and fault.filename is not None:
        return build_io_error(fault, "read", fault.filename)
    if isinstance(fault, FileNotFoundError):
        # Only the working folder is looked up without a name.
        return build_read_error(".", "the working folder was deleted")
    missing = build_import_error(fault) if isinstance(fault, ImportError) else None
    return missing or Generic()


def _is_lack_of_memory(fault: BaseException) -> bool:
    if isinstance(fault, Signal):
        return isinstance(fault, IoError) and _NO_MEMORY in fault.cause.lower()
    return isinstance(
        fault, MemoryError | OSError | RuntimeError | ImportError
    ) and is_memory_fault(fault)

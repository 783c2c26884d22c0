"""The base class of all errors, and the fields of `error.v1`.

A signal knows its public meaning and nothing of terminals or HTTP. No third-party library is
imported, so that a missing library can be reported too.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import IntEnum, StrEnum
from functools import partial
from typing import Any, ClassVar, NamedTuple, dataclass_transform


class Exit(IntEnum):
    """The exit statuses of the process."""

    DONE = 0
    NO = 1
    ERROR = 2
    UNUSABLE = 3
    INTERRUPTED = 130
    READER_GONE = 141


class Kind(StrEnum):
    """The family of an error."""

    AUTH = "auth"
    QUOTA = "quota"
    SCHEMA = "schema"
    POLICY_DENY = "policy_deny"
    SANDBOX = "sandbox"
    PROVIDER = "provider"
    STORAGE = "storage"
    TIMEOUT = "timeout"
    CONFLICT = "conflict"
    NOT_FOUND = "not_found"
    PRECONDITION = "precondition"
    SERIALIZATION = "serialization"
    NETWORK = "network"
    RATE_LIMIT = "rate_limit"
    QOS_BUDGET_EXCEEDED = "qos_budget_exceeded"
    TOOL_ERROR = "tool_error"
    LLM_ERROR = "llm_error"
    A2A_ERROR = "a2a_error"
    UNKNOWN = "unknown"


class Retry(StrEnum):
    """Whether the same call may succeed later."""

    NONE = "none"
    TRANSIENT = "transient"
    PERMANENT = "permanent"


class Severity(StrEnum):
    """How severe an error is for the user."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"
    CRITICAL = "critical"


class Canonical(StrEnum):
    """The six canonical codes that every row maps to."""

    INVALID_INPUT = "E_CORE_INVALID_INPUT"
    STATE_VIOLATION = "E_CORE_STATE_VIOLATION"
    INVARIANT_BROKEN = "E_CORE_INVARIANT_BROKEN"
    CONTRACT_MISMATCH = "E_CONTRACT_MISMATCH"
    ADAPTER_VALIDATION = "E_ADAPTER_VALIDATION"
    INTERNAL = "E_INTERNAL_ERROR"


class Origin(StrEnum):
    """The layer that may raise an error."""

    CORE = "core"
    ADAPTER = "adapter"
    SURFACE = "surface"


class Backoff(NamedTuple):
    """The suggested delays before the same call is tried again; they may change.

    The delay before attempt n is `first_ms * factor ** (n - 1)`, at most `ceiling_ms`. Concurrent
    callers add a random part to it. After `attempts` the caller gives up.
    """

    first_ms: int = 1_000
    factor: float = 2.0
    ceiling_ms: int = 10_000
    attempts: int = 4


class Meaning(NamedTuple):
    """Everything about a code that callers may rely on; frozen once released.

    Two fields are not frozen: `reserved` marks a code of a future release, which nothing raises
    yet, and `backoff` is set for every transient code and no other.
    """

    code: str
    kind: Kind
    canonical: Canonical
    domain: str
    origin: Origin
    http: int
    grpc: str
    exit: Exit = Exit.ERROR
    retry: Retry = Retry.PERMANENT
    severity: Severity = Severity.ERROR
    public: bool = True
    retired: bool = False
    reserved: bool = False
    backoff: Backoff | None = None

    @property
    def is_raised(self) -> bool:
        """Whether the code is in use: neither retired nor reserved."""
        return not (self.retired or self.reserved)

    def with_default_backoff(self) -> "Meaning":
        """Return the meaning with the default backoff if it is transient and has none.

        Raises:
            TypeError: A code that is not transient has a backoff.
        """
        transient = self.retry is Retry.TRANSIENT
        if self.backoff is not None and not transient:
            raise TypeError(f"{self.code}: only a transient row has a backoff")
        return self._replace(backoff=self.backoff or Backoff()) if transient else self


class Wording(NamedTuple):
    """The texts of an error: two templates that are filled in with its details."""

    message: str
    hint: str | None = None


class Rerun(NamedTuple):
    """How the failed command line can be repeated so that it succeeds.

    The command line interface turns it into the hint. Where there is no command line, the hint is
    that of the wording.
    """

    add: tuple[str, ...] = ()
    """Words to add, such as `--extractive`."""
    drop: tuple[str, ...] = ()
    """Flags to leave out, with their values."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables to set, with their values."""


MAX_HINT_CHARS = 200
"""The longest hint: a command that was cut would do something else, so a longer one is left out."""


def limit_hint(hint: str | None) -> str | None:
    """Return a hint; None when it is longer than a line of `MAX_HINT_CHARS`."""
    fits = hint is not None and len(hint) <= MAX_HINT_CHARS and len(hint.splitlines()) == 1
    return hint if fits else None


_COMMAND_DETAILS = ("install", "operation", "fallback", "other")
"""The details that are commands; all others are quoted for the shell within a hint."""

_CODES: set[str] = set()
_PLACEHOLDER = re.compile(r"{(\w+)}")


@dataclass_transform(kw_only_default=True)
class Signal(Exception):  # noqa: N818 - a signal is named for what happened
    """Base of all errors that kebab raises on purpose.

    A subclass is a row of the catalogue: `class X(Signal, meaning=..., message=..., hint=...)`. Its
    fields are the details that fill in the templates, and its docstring is the long explanation.
    `cases` has other wordings for special cases, and `choose_case` returns the case of an error.
    """

    meaning: ClassVar[Meaning]
    message: ClassVar[str]
    hint: ClassVar[str | None]
    rerun: ClassVar[Rerun | None]
    wordings: ClassVar[Mapping[str, Wording]]
    """The wordings by case; the case `""` is the default."""

    def __init_subclass__(
        cls,
        *,
        meaning: Meaning,
        message: str,
        hint: str | None = None,
        rerun: Rerun | None = None,
        derived: Collection[str] = (),
        cases: Mapping[str, Wording] | None = None,
    ) -> None:
        """Register the row; `derived` are the values that `derive_values` adds for the hint.

        Raises:
            TypeError: The code exists already, a template names an unknown field, or a row that
                is not transient has a backoff.
        """
        super().__init_subclass__()
        if meaning.code in _CODES:
            raise TypeError(f"error code declared twice: {meaning.code}")
        # Every command imports all rows, and generated initializers would slow down the start.
        dataclass(init=False, eq=False, repr=False)(cls)
        cls.meaning, cls.message, cls.hint = meaning.with_default_backoff(), message, hint
        cls.rerun = rerun
        cls.wordings = {"": Wording(message, hint), **(cases or {})}
        declared = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        texts = "".join(text.message + (text.hint or "") for text in cls.wordings.values())
        used = set(_PLACEHOLDER.findall(texts))
        if used - declared - set(derived):
            raise TypeError(f"{meaning.code}: templates name unknown details {used - declared}")
        _CODES.add(meaning.code)

    def __init__(self, **details: Any) -> None:
        super().__init__()
        declared = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        filled = {**declared, **details}
        if filled.keys() != declared.keys() or MISSING in filled.values():
            raise TypeError(f"{self.meaning.code} takes {[*declared]}: {[*details]}")
        if isinstance(filled.get("cause"), str):
            from kebab.errors.causes import clean_cause

            filled["cause"] = clean_cause(filled["cause"])
        self.__dict__.update(filled)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let workers send errors to the process that reports them."""
        return partial(type(self), **self.details()), ()

    def details(self) -> dict[str, Any]:
        """Return the typed details by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def choose_case(self) -> str:
        """Return the case of the wordings that fits."""
        return ""

    def format_message(self, wordings: Mapping[str, Wording] | None = None) -> str:
        """Return the message with its details; `wordings` are those of another language."""
        return (wordings or self.wordings)[self.choose_case()].message.format(**self.details())

    def format_hint(self, wordings: Mapping[str, Wording] | None = None) -> str | None:
        """Return the hint with its details, quoted for a shell; None when it does not fit."""
        hint = (wordings or self.wordings)[self.choose_case()].hint
        if hint is None:
            return None
        values = _quote_details({**self.details(), **self.derive_values()})
        return limit_hint(hint.format(**values))

    def derive_values(self) -> Mapping[str, str]:
        """Return further values for the template of the hint, computed from the details."""
        return {}

    def plan_rerun(self) -> Rerun | None:
        """Return how the failed command line can be repeated, or None."""
        return self.rerun

    def __str__(self) -> str:
        return self.format_message()


def _quote_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details in the form that a shell reads as one word each."""
    import shlex

    def quote(value: str) -> str:
        # The folder `~` of a shortened path must stay outside of the quotes.
        home, start, rest = value.partition("~/")
        return f"{start}{shlex.quote(rest)}" if start and not home else shlex.quote(value)

    return {
        name: quote(value) if isinstance(value, str) and name not in _COMMAND_DETAILS else value
        for name, value in details.items()
    }


_TARGETS = ("path", "model", "endpoint", "field", "option", "data_dir", "operation", "what")
"""The details that can be the target of an error, the most specific first."""


def build_error_fields(
    signal: Signal, *, operation: str, message: str, hint: str | None, details: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of `error.v1` without those of the envelope."""
    import uuid

    meaning = signal.meaning
    return {
        "code": meaning.code,
        "message": message,
        "details": dict(details),
        "hint": hint,
        "kind": meaning.kind.value,
        "operation": operation,
        "target": next((details[at] for at in _TARGETS if isinstance(details.get(at), str)), None),
        "retryable": meaning.retry is Retry.TRANSIENT,
        "retry": meaning.retry.value,
        "retry_after_ms": meaning.backoff.first_ms if meaning.backoff else None,
        "severity": meaning.severity.value,
        "correlation_id": uuid.uuid4().hex,
    }

"""The base class of all errors, the languages of their texts, and the fields of `error.v1`.

A signal knows its public meaning and nothing of terminals or HTTP. No third-party library is
imported, so that a missing library can be reported too. Each language but English has a file in
`translations`.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from enum import IntEnum, StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, dataclass_transform

from kebab.errors.hints import DERIVED, Rerun, limit_hint, quote_values


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


class Wording(NamedTuple):
    """The texts of an error: two templates that are filled in with its details."""

    message: str = ""
    """The message; empty where a case has the message of the row."""
    hint: str | None = None


_CODES: set[str] = set()
_FIELD = re.compile(r"{(\w+)}")


@dataclass_transform(kw_only_default=True)
class Signal(Exception):  # noqa: N818 - a signal is named for what happened
    """Base of all errors that kebab raises on purpose.

    A subclass is a row of the catalogue. Its annotated fields are the typed details, which fill in
    the templates. All class attributes but the templates are frozen once released.
    """

    code: ClassVar[str]
    domain: ClassVar[str]
    kind: ClassVar[Kind]
    canonical: ClassVar[Canonical] = Canonical.INTERNAL
    """What the network, a disk, a lack of memory, a server or a deadline causes is internal."""
    origin: ClassVar[Origin]
    http: ClassVar[int]
    grpc: ClassVar[str]
    exit: ClassVar[Exit] = Exit.ERROR
    retry: ClassVar[Retry] = Retry.PERMANENT
    severity: ClassVar[Severity] = Severity.ERROR
    public: ClassVar[bool] = True
    retired: ClassVar[bool] = False
    message: ClassVar[str]
    hint: ClassVar[str | None] = None
    rerun: ClassVar[Rerun | None] = None
    """How the failed command line can be repeated, in the default case."""
    cases: ClassVar[Mapping[str, Wording]] = {}
    """Other wordings by case: a value of `reason`, a detail that is set, or `choose_case`."""
    wordings: ClassVar[Mapping[str, Wording]]
    """The wordings by case; the case `""` is the default."""

    def __init_subclass__(cls) -> None:
        """Register the row.

        Raises:
            TypeError: The code exists already, or a detail has the name of a class attribute.
        """
        super().__init_subclass__()
        if cls.code in _CODES:
            raise TypeError(f"error code declared twice: {cls.code}")
        if hidden := cls.__annotations__.keys() & Signal.__annotations__.keys():
            raise TypeError(f"{cls.code}: details hide attributes of the row: {hidden}")
        # Every command imports all rows, and generated initializers would slow down the start.
        dataclass(init=False, eq=False, repr=False)(cls)
        cases = {
            case: one._replace(message=one.message or cls.message)
            for case, one in cls.cases.items()
        }
        cls.wordings = {"": Wording(cls.message, cls.hint), **cases}
        _CODES.add(cls.code)

    def __init__(self, **details: Any) -> None:
        super().__init__()
        declared = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        filled = {**declared, **details}
        if filled.keys() != declared.keys() or MISSING in filled.values():
            raise TypeError(f"{self.code} takes {[*declared]}: {[*details]}")
        if isinstance(filled.get("cause"), str):
            filled["cause"] = clean_cause(filled["cause"])
        self.__dict__.update(filled)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let workers send errors to the process that reports them."""
        return partial(type(self), **self.details()), ()

    def __str__(self) -> str:
        return self.format_message()

    def details(self) -> dict[str, Any]:
        """Return the typed details by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def choose_case(self) -> str:
        """Return the case of the wordings that fits: that of `reason`, else of a detail."""
        details = self.details()
        if details.get("reason") in self.wordings:
            return str(details["reason"])
        return next((case for case in self.wordings if details.get(case)), "")

    def format_message(self, wordings: Mapping[str, Wording] | None = None) -> str:
        """Return the message with its details; `wordings` are those of another language."""
        return (wordings or self.wordings)[self.choose_case()].message.format(**self.details())

    def format_hint(self, wordings: Mapping[str, Wording] | None = None) -> str | None:
        """Return the hint with its details, quoted for a shell; None when it does not fit."""
        hint = (wordings or self.wordings)[self.choose_case()].hint
        if hint is None:
            return None
        names = _FIELD.findall(hint)
        values = self.details()
        values |= {name: DERIVED[name](self) for name in names if name not in values}
        return limit_hint(hint.format(**quote_values(values)))

    def plan_rerun(self) -> Rerun | None:
        """Return how the failed command line can be repeated, or None."""
        return None if self.choose_case() else self.rerun


_TARGETS = ("path", "model", "endpoint", "field", "option", "data_dir", "operation", "what")
"""The details that can be the target of an error, the most specific first."""


def build_error_fields(
    signal: Signal, *, operation: str, message: str, hint: str | None, details: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of `error.v1` without those of the envelope."""
    import uuid

    return {
        "code": signal.code,
        "message": message,
        "details": dict(details),
        "hint": hint,
        "kind": signal.kind.value,
        "operation": operation,
        "target": next((details[at] for at in _TARGETS if isinstance(details.get(at), str)), None),
        "retryable": signal.retry is Retry.TRANSIENT,
        "retry": signal.retry.value,
        "severity": signal.severity.value,
        "correlation_id": uuid.uuid4().hex,
    }


Language: TypeAlias = Literal["en", "ko", "zh"]
"""A language of error messages."""

LANGUAGES: tuple[Language, ...] = ("en", "ko", "zh")
ENGLISH: Language = "en"

_FIRST_PART = re.compile(r"[a-z]+")


def parse_language(locale: str) -> Language:
    """Return the language of a locale such as `ko_KR.UTF-8`; English when it is not supported."""
    first = _FIRST_PART.match(locale.strip().lower())
    found = (language for language in LANGUAGES if first and first[0] == language)
    return next(found, ENGLISH)


@cache
def load_texts(language: Language) -> dict[str, Wording]:
    """Return the messages and hints of a language, by code or by `CODE:CASE`."""
    import tomllib

    file = Path(__file__).parent / "translations" / f"{language}.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: Wording(*texts) for name, texts in rows.items()}


def find_wordings(row: type[Signal], language: Language) -> Mapping[str, Wording]:
    """Return the wordings of a row by case; English where there is no translation."""
    if language == ENGLISH:
        return row.wordings
    texts = load_texts(language)
    usual = texts.get(row.code)
    if usual is None:
        return row.wordings
    found = {}
    for case, english in row.wordings.items():
        text = texts.get(f"{row.code}:{case}", Wording()) if case else usual
        found[case] = Wording(text.message or usual.message, text.hint or english.hint)
    return found


UNKNOWN_CAUSE = "an internal part failed"
"""The cause when nothing readable is left of a text."""

_MAX_CHARS = 4_000
"""A longer text is cut before it is matched."""

_TRACEBACK = "Traceback (most recent call last):"
_EXCEPTION_CLASS = r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Panic)"
# What follows a place as its function belongs to it. A match begins only where a word or the blanks
# before it begin, so the time is linear.
_PLACE_IN_SOURCE = (
    r"(?:(?<![\s,(])[\s,(]++|(?<![^\s,:()\"'`]))(?:\bat )?"
    r"(?:[A-Za-z]:)?[\w.@~+-]*+[\\/][^\s,:()\"'`]*\.(?:rs|cc|cpp|hpp|h|c|py|pyx)"
    r"(?::\d+)+(?: ?[\w:~<>]+::[\w:~<>]+(?:\([^()]{0,200}+\))?)?[)]?:?"
)
_REWRITES = (
    # Patterns, compiled when the first cause is cleaned. First texts of panics in Rust, whole.
    (r"(?s)thread '[^']{0,200}+' panicked at .*", UNKNOWN_CAUSE),
    (r"(?:rust )?future panicked(?:: unknown error)?", UNKNOWN_CAUSE),
    (r"called `\w+::\w+\(\)` on an? `\w+` value(?:: )?", ""),
    # Codes and classes that precede the text.
    (r"\[Errno -?\d+\] ?", ""),
    (r"\[ONNXRuntimeError\] : -?\d+ : (?:[A-Z_]+ : )?", ""),
    (rf"(?<![\w.`'\"])(?:{_EXCEPTION_CLASS})(?:\([\w ]*\))?: ?", ""),
    (r"(?i)\blance(?:db)? error: ?", ""),
    (r"\bSQLITE_[A-Z_]+: ?", ""),
    (_PLACE_IN_SOURCE, ""),
    (r"File \"[^\"]{1,500}+\", line \d+(?:, in \S+)?,?", ""),
    (r" ?\(os error \d+\)", ""),
    # Representations of objects.
    (r"<class '(?:\w+\.)*+(\w+)'>", r"\1"),
    (r"<(?:function|method|bound method) (?:\w+\.)*+(\w+)[^>]{0,200}+>", r"\1"),
    (r"<(?:\w+\.)*+(\w+) object at 0x[0-9a-f]+>", r"\1"),
    (r" at 0x[0-9a-f]{6,}", ""),
)


def clean_cause(text: str) -> str:
    """Return the text of a library as one line: without class names, source files and addresses.

    The whole text of the exception stays in the log.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if _TRACEBACK in text:
        lines = lines[-1:]
    cleaned = lines[0] if lines else ""
    if len(cleaned) > _MAX_CHARS:
        cleaned = cleaned[: _MAX_CHARS - 1] + "…"
    for pattern, replacement in _REWRITES:
        cleaned = re.sub(pattern, replacement, cleaned)
    cleaned = cleaned.strip(" \t,:;")
    return cleaned if cleaned or not text.strip() else UNKNOWN_CAUSE

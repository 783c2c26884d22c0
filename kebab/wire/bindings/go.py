"""The catalogue in Go: constants for codes and names, and a map from code to row."""

from collections.abc import Iterable, Iterator
from enum import Enum

from kebab.errors.listing import catalog
from kebab.errors.signal import Backoff, Canonical, Kind, Origin, Retry, Severity, Signal
from kebab.wire.bindings.words import flag, pascal, quoted, values

_OPENING = """\
// Code generated from kebab/errors/catalog.py by python -m kebab.wire.publish. DO NOT EDIT.

// Package kebab holds the catalogue of errors that kebab reports as error.v1.
//
// Branch on the code only, and treat an unknown code as failure.
package kebab
"""
_SHAPES = """
// Backoff tells how long to wait before trying again: a suggestion, which may change.
type Backoff struct {
	FirstMS   int
	Factor    float64
	CeilingMS int
	Attempts  int
}

// Row is what callers may rely on of one code. Backoff is nil where trying again makes no sense.
type Row struct {
	Kind      Kind
	Canonical Canonical
	Domain    string
	Origin    Origin
	Exit      int
	HTTP      int
	GRPC      string
	Retry     Retry
	Retryable bool
	Backoff   *Backoff
	Severity  Severity
	Public    bool
	Retired   bool
	Reserved  bool
}
"""
_NAMES: tuple[tuple[str, str, type[Enum]], ...] = (
    ("Kind", "is the family of an error", Kind),
    ("Canonical", "is one of the six canonical codes", Canonical),
    ("Origin", "is the layer that raises an error", Origin),
    ("Retry", "tells whether the same call may succeed later", Retry),
    ("Severity", "tells how bad an error is", Severity),
)
_WIDEST = len("Canonical:")


def source() -> str:
    """Return `errors.go`, as gofmt leaves it."""
    rows = catalog()
    names = (_names(name, what, values(kind)) for name, what, kind in _NAMES)
    codes = _names("Code", "names a row of the catalogue", rows)
    return "".join([_OPENING, codes, *names, _SHAPES, _table(rows)])


def _names(name: str, what: str, members: Iterable[str]) -> str:
    """Return a type of string and its constants, their names in one column."""
    pairs = [(f"{name}{pascal(one)}", one) for one in members]
    width = max(len(constant) for constant, _ in pairs)
    lines = "".join(f"\t{constant:<{width}} {name} = {quoted(one)}\n" for constant, one in pairs)
    return f"\n// {name} {what}.\ntype {name} string\n\n// Every {name}.\nconst (\n{lines})\n"


def _table(rows: dict[str, type[Signal]]) -> str:
    body = "".join(
        f"\tCode{pascal(code)}: {{\n{''.join(_row(signal))}\t}},\n" for code, signal in rows.items()
    )
    return f"\n// Rows holds every row by its code.\nvar Rows = map[Code]Row{{\n{body}}}\n"


def _row(signal: type[Signal]) -> Iterator[str]:
    meaning = signal.meaning
    yield _member("Kind", f"Kind{pascal(meaning.kind)}")
    yield _member("Canonical", f"Canonical{pascal(meaning.canonical)}")
    yield _member("Domain", quoted(meaning.domain))
    yield _member("Origin", f"Origin{pascal(meaning.origin)}")
    yield _member("Exit", str(meaning.exit.value))
    yield _member("HTTP", str(meaning.http))
    yield _member("GRPC", quoted(meaning.grpc))
    yield _member("Retry", f"Retry{pascal(meaning.retry)}")
    yield _member("Retryable", flag(value=meaning.backoff is not None))
    if meaning.backoff is not None:
        yield _member("Backoff", _backoff(meaning.backoff))
    yield _member("Severity", f"Severity{pascal(meaning.severity)}")
    yield _member("Public", flag(value=meaning.public))
    yield _member("Retired", flag(value=meaning.retired))
    yield _member("Reserved", flag(value=meaning.reserved))


def _member(name: str, value: str) -> str:
    return f"\t\t{f'{name}:':<{_WIDEST}} {value},\n"


def _backoff(advice: Backoff) -> str:
    return (
        f"&Backoff{{FirstMS: {advice.first_ms}, Factor: {advice.factor:g},"
        f" CeilingMS: {advice.ceiling_ms}, Attempts: {advice.attempts}}}"
    )

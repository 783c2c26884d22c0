"""Renders the error catalogue in Go: constants for codes and names, and a map of rows."""

from collections.abc import Iterable, Iterator
from enum import Enum

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Backoff, Canonical, Kind, Origin, Retry, Severity, Signal
from tools.bindings.names import format_boolean, list_values, quote, to_pascal_case

_OPENING = """\
// Code generated from kebab/errors/catalog.py by python -m tools.publish. DO NOT EDIT.

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


def render_source() -> str:
    """Return `errors.go`, as gofmt leaves it."""
    rows = build_catalog()
    names = (_render_names(name, what, list_values(kind)) for name, what, kind in _NAMES)
    codes = _render_names("Code", "names a row of the catalogue", rows)
    return "".join([_OPENING, codes, *names, _SHAPES, _render_table(rows)])


def _render_names(name: str, what: str, members: Iterable[str]) -> str:
    """Return a type of string and its constants, their names in one column."""
    pairs = [(f"{name}{to_pascal_case(one)}", one) for one in members]
    width = max(len(constant) for constant, _ in pairs)
    lines = "".join(f"\t{constant:<{width}} {name} = {quote(one)}\n" for constant, one in pairs)
    return f"\n// {name} {what}.\ntype {name} string\n\n// Every {name}.\nconst (\n{lines})\n"


def _render_table(rows: dict[str, type[Signal]]) -> str:
    body = "".join(
        f"\tCode{to_pascal_case(code)}: {{\n{''.join(_render_row(signal))}\t}},\n"
        for code, signal in rows.items()
    )
    return f"\n// Rows holds every row by its code.\nvar Rows = map[Code]Row{{\n{body}}}\n"


def _render_row(signal: type[Signal]) -> Iterator[str]:
    yield _render_member("Kind", f"Kind{to_pascal_case(signal.kind)}")
    yield _render_member("Canonical", f"Canonical{to_pascal_case(signal.canonical)}")
    yield _render_member("Domain", quote(signal.domain))
    yield _render_member("Origin", f"Origin{to_pascal_case(signal.origin)}")
    yield _render_member("Exit", str(signal.exit.value))
    yield _render_member("HTTP", str(signal.http))
    yield _render_member("GRPC", quote(signal.grpc))
    yield _render_member("Retry", f"Retry{to_pascal_case(signal.retry)}")
    yield _render_member("Retryable", format_boolean(value=signal.backoff is not None))
    if signal.backoff is not None:
        yield _render_member("Backoff", _render_backoff(signal.backoff))
    yield _render_member("Severity", f"Severity{to_pascal_case(signal.severity)}")
    yield _render_member("Public", format_boolean(value=signal.public))
    yield _render_member("Retired", format_boolean(value=signal.retired))
    yield _render_member("Reserved", format_boolean(value=signal.reserved))


def _render_member(name: str, value: str) -> str:
    return f"\t\t{f'{name}:':<{_WIDEST}} {value},\n"


def _render_backoff(advice: Backoff) -> str:
    return (
        f"&Backoff{{FirstMS: {advice.first_ms}, Factor: {advice.factor:g},"
        f" CeilingMS: {advice.ceiling_ms}, Attempts: {advice.attempts}}}"
    )

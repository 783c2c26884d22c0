"""The catalogue in TypeScript: its rows as a constant, and `error.v1` as a discriminated union."""

import dataclasses
import types
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UnsetType

from kebab.errors.listing import catalog
from kebab.errors.signal import Backoff, Canonical, Kind, Origin, Retry, Severity, Signal
from kebab.wire.bindings.words import ORIGIN, flag, pascal, quoted, summary, values
from kebab.wire.docstrings import field_docstrings
from kebab.wire.error import ErrorReply

_SIMPLE: dict[Any, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}
_NAMES: tuple[tuple[str, str, type[Enum]], ...] = (
    ("KINDS", "Kind", Kind),
    ("CANONICALS", "Canonical", Canonical),
    ("ORIGINS", "Origin", Origin),
    ("RETRIES", "Retry", Retry),
    ("SEVERITIES", "Severity", Severity),
)
_WIDTH = 80
_OPENING = f"""\
// {ORIGIN}
//
// Branch on `code` only, and treat an unknown code as failure.
"""
_SHAPES = """
/** How long to wait before trying again: a suggestion, which may change. */
export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly ceilingMs: number;
  readonly attempts: number;
}

/** What callers may rely on of one code. */
export interface ErrorRow {
  readonly kind: Kind;
  readonly canonical: Canonical;
  readonly domain: string;
  readonly origin: Origin;
  readonly exit: number;
  readonly http: number;
  readonly grpc: string;
  readonly retry: Retry;
  readonly retryable: boolean;
  readonly backoff: Backoff | null;
  readonly severity: Severity;
  readonly public: boolean;
  readonly retired: boolean;
  readonly reserved: boolean;
}
"""
_CLOSING = """
/** Returns whether this build of the table knows a code. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.prototype.hasOwnProperty.call(ERRORS, code);
}
"""


def source() -> str:
    """Return `errors.ts`."""
    rows = catalog()
    enums = [_names(listed, name, values(kind)) for listed, name, kind in _NAMES]
    return "".join(
        [
            _OPENING,
            *enums,
            _SHAPES,
            _table(rows),
            *(_details(signal) for signal in rows.values()),
            _reply(),
            _union(rows),
            _CLOSING,
        ]
    )


def type_name(form: Any) -> str:
    """Return a type as TypeScript writes it."""
    if form in _SIMPLE:
        return _SIMPLE[form]
    if get_origin(form) is Literal:
        return " | ".join(quoted(one) for one in get_args(form))
    if get_origin(form) is list:
        return f"readonly {type_name(get_args(form)[0])}[]"
    if get_origin(form) in {Union, types.UnionType}:
        return " | ".join(type_name(one) for one in get_args(form) if one is not UnsetType)
    raise TypeError(f"no TypeScript for {form}")


def _names(listed: str, name: str, members: Iterable[str]) -> str:
    """Return a list of names and the type of one of them."""
    literals = [quoted(one) for one in members]
    line = f"export const {listed} = [{', '.join(literals)}] as const;"
    if len(line) > _WIDTH:
        body = "".join(f"  {one},\n" for one in literals)
        line = f"export const {listed} = [\n{body}] as const;"
    return f"\n{line}\n\nexport type {name} = (typeof {listed})[number];\n"


def _table(rows: dict[str, type[Signal]]) -> str:
    body = "".join(
        f"  {code}: {{\n{''.join(f'    {line},{chr(10)}' for line in _row(signal))}  }},\n"
        for code, signal in rows.items()
    )
    return (
        "\n/** Every code with its row. */\nexport const ERRORS = {\n"
        f"{body}}} as const satisfies Record<string, ErrorRow>;\n\n"
        "export type ErrorCode = keyof typeof ERRORS;\n"
    )


def _row(signal: type[Signal]) -> Iterator[str]:
    meaning = signal.meaning
    yield f"kind: {quoted(meaning.kind)}"
    yield f"canonical: {quoted(meaning.canonical)}"
    yield f"domain: {quoted(meaning.domain)}"
    yield f"origin: {quoted(meaning.origin)}"
    yield f"exit: {meaning.exit.value}"
    yield f"http: {meaning.http}"
    yield f"grpc: {quoted(meaning.grpc)}"
    yield f"retry: {quoted(meaning.retry)}"
    yield f"retryable: {flag(value=meaning.backoff is not None)}"
    yield f"backoff: {_backoff(meaning.backoff)}"
    yield f"severity: {quoted(meaning.severity)}"
    yield f"public: {flag(value=meaning.public)}"
    yield f"retired: {flag(value=meaning.retired)}"
    yield f"reserved: {flag(value=meaning.reserved)}"


def _backoff(advice: Backoff | None) -> str:
    if advice is None:
        return "null"
    lines = (
        f"firstMs: {advice.first_ms}",
        f"factor: {advice.factor:g}",
        f"ceilingMs: {advice.ceiling_ms}",
        f"attempts: {advice.attempts}",
    )
    return f"{{ {', '.join(lines)} }}"


def _details(signal: type[Signal]) -> str:
    head = f"\n/** The details of `{signal.meaning.code}`. {summary(signal)} */\n"
    name = f"{pascal(signal.meaning.code)}Details"
    fields = dataclasses.fields(signal)  # type: ignore[arg-type]
    if not fields:
        return f"{head}export type {name} = Record<string, never>;\n"
    lines = (
        _member(field.name, field.type, optional=field.default is not dataclasses.MISSING)
        for field in fields
    )
    return f"{head}export interface {name} {{\n{''.join(lines)}}}\n"


def _member(name: str, form: Any, *, optional: bool) -> str:
    return f"  readonly {name}{'?' if optional else ''}: {type_name(form)};\n"


def _reply() -> str:
    """Return `error.v1` with its code and the details of that code left open."""
    given = {"code": "Code", "details": "Details", "kind": '(typeof ERRORS)[Code]["kind"]'}
    texts = field_docstrings(ErrorReply)
    members = ['  readonly schema_version: "error.v1";\n']
    for field in msgspec.structs.fields(ErrorReply):
        form = given.get(field.name) or type_name(field.type)
        sign = "" if field.required else "?"
        members.append(f"  /** {texts[field.name]} */\n  readonly {field.name}{sign}: {form};\n")
    return (
        "\n/** `error.v1` of one code. */\n"
        f"export interface ErrorOf<Code extends ErrorCode, Details> {{\n{''.join(members)}}}\n"
    )


def _union(rows: dict[str, type[Signal]]) -> str:
    members = "".join(f"\n  | ErrorOf<{quoted(code)}, {pascal(code)}Details>" for code in rows)
    head = "\n/** `error.v1`: `code` tells the type of `details`. */\n"
    return f"{head}export type KebabError ={members};\n"

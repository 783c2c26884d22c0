"""Renders the error catalogue in TypeScript: a constant of rows, and the union of `error.v1`."""

import dataclasses
import types
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UnsetType

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Backoff, Canonical, Kind, Origin, Retry, Severity, Signal
from kebab.wire.error import ErrorReply
from kebab.wire.record import read_field_docstrings
from tools.bindings.names import (
    ORIGIN,
    format_boolean,
    list_values,
    quote,
    summarize,
    to_pascal_case,
)

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


def render_source() -> str:
    """Return `errors.ts`."""
    rows = build_catalog()
    enums = [_render_names(listed, name, list_values(kind)) for listed, name, kind in _NAMES]
    return "".join(
        [
            _OPENING,
            *enums,
            _SHAPES,
            _render_table(rows),
            *(_render_details(signal) for signal in rows.values()),
            _render_reply(),
            _render_union(rows),
            _CLOSING,
        ]
    )


def format_type(form: Any) -> str:
    """Return a type as TypeScript writes it."""
    if form in _SIMPLE:
        return _SIMPLE[form]
    if get_origin(form) is Literal:
        return " | ".join(quote(one) for one in get_args(form))
    if get_origin(form) is list:
        return f"readonly {format_type(get_args(form)[0])}[]"
    if get_origin(form) in {Union, types.UnionType}:
        return " | ".join(format_type(one) for one in get_args(form) if one is not UnsetType)
    raise TypeError(f"no TypeScript for {form}")


def _render_names(listed: str, name: str, members: Iterable[str]) -> str:
    """Return a list of names and the type of one of them."""
    literals = [quote(one) for one in members]
    line = f"export const {listed} = [{', '.join(literals)}] as const;"
    if len(line) > _WIDTH:
        body = "".join(f"  {one},\n" for one in literals)
        line = f"export const {listed} = [\n{body}] as const;"
    return f"\n{line}\n\nexport type {name} = (typeof {listed})[number];\n"


def _render_table(rows: dict[str, type[Signal]]) -> str:
    body = "".join(
        f"  {code}: {{\n{''.join(f'    {line},{chr(10)}' for line in _render_row(signal))}  }},\n"
        for code, signal in rows.items()
    )
    return (
        "\n/** Every code with its row. */\nexport const ERRORS = {\n"
        f"{body}}} as const satisfies Record<string, ErrorRow>;\n\n"
        "export type ErrorCode = keyof typeof ERRORS;\n"
    )


def _render_row(signal: type[Signal]) -> Iterator[str]:
    yield f"kind: {quote(signal.kind)}"
    yield f"canonical: {quote(signal.canonical)}"
    yield f"domain: {quote(signal.domain)}"
    yield f"origin: {quote(signal.origin)}"
    yield f"exit: {signal.exit.value}"
    yield f"http: {signal.http}"
    yield f"grpc: {quote(signal.grpc)}"
    yield f"retry: {quote(signal.retry)}"
    yield f"retryable: {format_boolean(value=signal.backoff is not None)}"
    yield f"backoff: {_render_backoff(signal.backoff)}"
    yield f"severity: {quote(signal.severity)}"
    yield f"public: {format_boolean(value=signal.public)}"
    yield f"retired: {format_boolean(value=signal.retired)}"
    yield f"reserved: {format_boolean(value=signal.reserved)}"


def _render_backoff(advice: Backoff | None) -> str:
    if advice is None:
        return "null"
    lines = (
        f"firstMs: {advice.first_ms}",
        f"factor: {advice.factor:g}",
        f"ceilingMs: {advice.ceiling_ms}",
        f"attempts: {advice.attempts}",
    )
    return f"{{ {', '.join(lines)} }}"


def _render_details(signal: type[Signal]) -> str:
    head = f"\n/** The details of `{signal.code}`. {summarize(signal)} */\n"
    name = f"{to_pascal_case(signal.code)}Details"
    fields = dataclasses.fields(signal)  # type: ignore[arg-type]
    if not fields:
        return f"{head}export type {name} = Record<string, never>;\n"
    lines = (
        _render_member(field.name, field.type, optional=field.default is not dataclasses.MISSING)
        for field in fields
    )
    return f"{head}export interface {name} {{\n{''.join(lines)}}}\n"


def _render_member(name: str, form: Any, *, optional: bool) -> str:
    return f"  readonly {name}{'?' if optional else ''}: {format_type(form)};\n"


def _render_reply() -> str:
    """Return `error.v1` with its code and the details of that code left open."""
    given = {"code": "Code", "details": "Details", "kind": '(typeof ERRORS)[Code]["kind"]'}
    texts = read_field_docstrings(ErrorReply)
    members = ['  readonly schema_version: "error.v1";\n']
    for field in msgspec.structs.fields(ErrorReply):
        form = given.get(field.name) or format_type(field.type)
        sign = "" if field.required else "?"
        members.append(f"  /** {texts[field.name]} */\n  readonly {field.name}{sign}: {form};\n")
    return (
        "\n/** `error.v1` of one code. */\n"
        f"export interface ErrorOf<Code extends ErrorCode, Details> {{\n{''.join(members)}}}\n"
    )


def _render_union(rows: dict[str, type[Signal]]) -> str:
    members = "".join(
        f"\n  | ErrorOf<{quote(code)}, {to_pascal_case(code)}Details>" for code in rows
    )
    head = "\n/** `error.v1`: `code` tells the type of `details`. */\n"
    return f"{head}export type KebabError ={members};\n"

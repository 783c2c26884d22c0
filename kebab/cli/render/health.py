"""Renders the reports of doctor, schema, init and the embedding models."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kebab.cli.render.canvas import Canvas, format_bytes, pluralize, render_fields
from kebab.cli.render.width import clean
from kebab.wire.health import (
    Doctor,
    DoctorCheck,
    InitReport,
    Introspection,
    ModelList,
    ModelReport,
    ModelRow,
)

_MARKS = {"ok": "✓", "warn": "!", "fail": "✗", "skip": "-"}


def render_doctor(reply: Doctor, canvas: Canvas) -> Iterator[str]:
    """Yield every check with its mark, and how to mend what is not well."""
    yield canvas.strong(f"kebab v{reply.kebab_version}")
    yield ""
    width = max((len(one.name) for one in reply.checks), default=0)
    for one in reply.checks:
        yield from _check(one, width, canvas)
    yield ""
    yield _verdict(reply, canvas)


def _check(one: DoctorCheck, width: int, canvas: Canvas) -> Iterator[str]:
    paint = {
        "ok": canvas.success,
        "warn": canvas.warning,
        "fail": canvas.error,
        "skip": canvas.dim,
    }[one.status]
    indent = " " * (width + 6)
    first, *rest = canvas.wrap(clean(one.summary), indent) or [indent]
    yield f"  {paint(_MARKS[one.status])} {one.name:<{width}}  {first[len(indent) :]}"
    yield from rest
    if one.fix and one.status != "ok":
        yield f"{indent}{canvas.success('fix:')} {clean(one.fix)}"


def _verdict(reply: Doctor, canvas: Canvas) -> str:
    failed = sum(one.status == "fail" for one in reply.checks)
    warned = sum(one.status == "warn" for one in reply.checks)
    if failed:
        return canvas.error(f"{pluralize(failed, 'problem')} to mend")
    notes = f", {pluralize(warned, 'note')}" if warned else ""
    return canvas.success("healthy") + notes


def render_schema(reply: Introspection, canvas: Canvas) -> Iterator[str]:
    """Yield the header and the four blocks."""
    yield canvas.strong(f"kebab v{reply.kebab_version}")
    yield from _block("wire schemas", canvas)
    yield from (f"  {name}" for name in reply.wire.schemas)
    yield from _block("capabilities", canvas)
    yield from _rows(msgspec.to_builtins(reply.capabilities), canvas)
    yield from _block("models", canvas)
    yield from _rows(msgspec.to_builtins(reply.models), canvas)
    yield from _block("stats", canvas)
    yield from _rows(msgspec.to_builtins(reply.stats), canvas)
    if reply.unreadable:
        yield from ("", *canvas.note(clean(reply.unreadable.message)))
        yield from canvas.hint(reply.unreadable.hint or "")


def _block(title: str, canvas: Canvas) -> list[str]:
    return ["", canvas.strong(title)]


def _rows(values: dict[str, Any], canvas: Canvas) -> Iterator[str]:
    width = max(map(len, values))
    for name, value in values.items():
        yield f"  {name:<{width}}  {_value(value, canvas)}".rstrip()


def _value(value: Any, canvas: Canvas) -> str:
    if value is True:
        return canvas.success("✓")
    if value is False:
        return canvas.dim("✗")
    if value is None:
        return canvas.dim("none")
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or canvas.dim("none")
    if isinstance(value, list):
        return ", ".join(map(str, value)) or canvas.dim("none")
    return str(value)


def render_init(reply: InitReport, canvas: Canvas) -> Iterator[str]:
    """Yield where everything lies and what to do next."""
    state = (
        canvas.success("written") if reply.written else "already there; `--force` writes it anew"
    )
    yield from render_fields(
        [
            ("settings", f"{canvas.location(clean(reply.config_path))}  {state}"),
            ("data", clean(reply.data_dir)),
            ("workspace", clean(reply.workspace or "")),
        ],
        canvas,
    )
    yield ""
    yield canvas.dim("next: kebab ingest" + ("" if reply.workspace else " FOLDER"))


def render_model_list(reply: ModelList, canvas: Canvas) -> Iterator[str]:
    """Yield every model, the active one marked."""
    for one in reply.models:
        mark = canvas.success("●") if one.active else "○"
        yield f"{mark} {canvas.strong(one.name)}"
        yield from render_fields(_rows_models(one), canvas, "    ")
    yield ""
    yield f"configured: {reply.configured}"
    if not any(one.installed for one in reply.models):
        yield canvas.dim("fetch one: kebab model pull NAME")


def render_model_report(reply: ModelReport, canvas: Canvas) -> Iterator[str]:
    """Yield what happened to the model and to the vectors."""
    state = "fetched" if reply.fetched else "already here"
    yield f"{canvas.strong(reply.model.name)}  {canvas.success(state)}"
    yield from render_fields(_rows_models(reply.model), canvas, "    ")
    if reply.embedded:
        yield f"{pluralize(reply.embedded, 'passage')} embedded again"
    if reply.pending:
        yield f"{canvas.warning('note:')} {pluralize(reply.pending, 'passage')} still without a vector"
        yield f"{canvas.success('hint:')} kebab ingest"


def _rows_models(one: ModelRow) -> list[tuple[str, str]]:
    return [
        ("languages", one.languages),
        ("vectors", f"{one.dimension} dimensions, {one.window} tokens each"),
        ("version", one.embedding_version),
        ("weights", _weights(one)),
        ("sources", ", ".join(one.sources)),
    ]


def _weights(one: ModelRow) -> str:
    if not one.installed:
        return "not on this machine"
    found = f"installed, {format_bytes(one.bytes or 0)}, {one.precision}"
    rates = [f"{kind} {rate:.0f}" for kind, rate in one.texts_per_second.items()]
    return f"{found} (texts/s at installation: {', '.join(rates)})" if rates else found

"""Renders the reports of doctor, schema, init and the embedding models."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kebab.cli.render.canvas import Canvas, format_bytes, pluralize, render_fields
from kebab.cli.render.width import clean
from kebab.wire.coverage import describe_gaps
from kebab.wire.health import (
    Doctor,
    DoctorCheck,
    InitReport,
    Introspection,
    ModelList,
    ModelReport,
    ModelRow,
)
from kebab.wire.indexing import format_indexing

_MARKS = {"ok": "✓", "warn": "!", "fail": "✗", "skip": "-"}


def render_doctor(reply: Doctor, canvas: Canvas) -> Iterator[str]:
    """Yield every check with its mark, and how to fix failed ones."""
    yield canvas.strong(f"kebab v{reply.kebab_version}")
    yield from _render_indexing(reply, canvas)
    yield ""
    width = max((len(check.name) for check in reply.checks), default=0)
    for check in reply.checks:
        yield from _render_check(check, width, canvas)
    yield ""
    failed = sum(check.status == "fail" for check in reply.checks)
    warned = sum(check.status == "warn" for check in reply.checks)
    notes = f", {pluralize(warned, 'note')}" if warned else ""
    problems = f"{pluralize(failed, 'problem')} to fix"
    gaps = describe_gaps(reply.coverage, "healthy")
    healthy = canvas.warning(f"no problem found, but {gaps}") if gaps else canvas.success("healthy")
    yield canvas.error(problems) if failed else healthy + notes


def _render_indexing(reply: Doctor | Introspection, canvas: Canvas) -> Iterator[str]:
    if reply.indexing:
        yield f"{canvas.strong('indexing')}  {format_indexing(reply.indexing)}"


def _render_check(check: DoctorCheck, width: int, canvas: Canvas) -> Iterator[str]:
    paints = {
        "ok": canvas.success,
        "warn": canvas.warning,
        "fail": canvas.error,
        "skip": canvas.dim,
    }
    mark = paints[check.status](_MARKS[check.status])
    indent = " " * (width + 6)
    first, *rest = canvas.wrap(clean(check.summary), indent) or [indent]
    yield f"  {mark} {check.name:<{width}}  {first[len(indent) :]}"
    yield from rest
    if check.fix and check.status != "ok":
        yield f"{indent}{canvas.success('fix:')} {clean(check.fix)}"


def render_schema(reply: Introspection, canvas: Canvas, *, verbose: bool = False) -> Iterator[str]:
    """Yield the version, the statistics, the models, the capabilities and the wire schemas."""
    yield canvas.strong(f"kebab v{reply.kebab_version}")
    yield from _render_indexing(reply, canvas)
    for title, block in {"stats": reply.stats, "models": reply.models}.items():
        values = msgspec.to_builtins(block)
        yield from ("", canvas.strong(title))
        rows = [(name, _format_value(name, value)) for name, value in values.items()]
        yield from render_fields(rows, canvas, "  ")
    yield from ("", canvas.strong("capabilities"))
    yield from _render_capabilities(msgspec.to_builtins(reply.capabilities), canvas)
    yield from ("", canvas.strong("wire schemas"))
    names = ", ".join(reply.wire.schemas)
    yield from canvas.wrap(names, "  ") if verbose else _fold_schemas(reply.wire.schemas, canvas)
    if reply.unreadable:
        yield from ("", *canvas.note(clean(reply.unreadable.message)))
        yield from canvas.hint(clean(reply.unreadable.hint or ""))


def _fold_schemas(names: list[str], canvas: Canvas) -> Iterator[str]:
    yield f"  {len(names)} schemas; print one: kebab schema NAME"
    yield canvas.dim("  list their names: kebab schema --verbose")


def _render_capabilities(capabilities: dict[str, bool], canvas: Canvas) -> Iterator[str]:
    """Yield the names of what works, then of what does not."""
    for works, mark in ((True, canvas.success("✓")), (False, canvas.dim("✗"))):
        names = [name for name, value in capabilities.items() if value is works]
        if names:
            first, *rest = canvas.wrap(", ".join(names), "    ")
            yield f"  {mark} {first.lstrip()}"
            yield from rest


def _format_value(name: str, value: Any) -> str:
    if isinstance(value, dict):
        sizes = name == "index_bytes"
        figures = {key: format_bytes(one) if sizes else f"{one:,}" for key, one in value.items()}
        value = [f"{key} {figure}" for key, figure in figures.items()]
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, int):
        return f"{value:,}"
    return "none" if value is None else str(value)


def render_init(reply: InitReport, canvas: Canvas) -> Iterator[str]:
    """Yield the paths of settings, data and workspace, and the next command."""
    written = canvas.success("written")
    state = written if reply.written else "already there; `--force` replaces it"
    yield from render_fields(
        [
            ("settings", f"{canvas.location(clean(reply.config_path))}  {state}"),
            ("copy", clean(reply.backup_path or "")),
            ("data", clean(reply.data_dir)),
            ("workspace", clean(reply.workspace or "")),
        ],
        canvas,
    )
    yield ""
    yield canvas.step("next", "kebab ingest" + ("" if reply.workspace else " FOLDER"))


def render_model_list(reply: ModelList, canvas: Canvas) -> Iterator[str]:
    """Yield every model, with a mark at the active one."""
    for model in reply.models:
        mark = canvas.success("●") if model.active else "○"
        yield f"{mark} {canvas.strong(model.name)}"
        yield from render_fields(_list_model_fields(model), canvas, "    ")
    yield ""
    yield f"configured: {reply.configured}"
    if reply.reason:
        yield f"chosen because {clean(reply.reason)}"
    if not any(model.installed for model in reply.models):
        yield canvas.step("fetch one", "kebab model pull NAME")


def render_model_report(reply: ModelReport, canvas: Canvas) -> Iterator[str]:
    """Yield the changes to the model and to the vectors."""
    state = "fetched" if reply.fetched else "already here"
    yield f"{canvas.strong(reply.model.name)}  {canvas.success(state)}"
    yield from render_fields(_list_model_fields(reply.model), canvas, "    ")
    if reply.embedded:
        yield f"{pluralize(reply.embedded, 'passage')} embedded again"
    if reply.resume:
        left = pluralize(reply.pending, "passage")
        yield from canvas.note(f"{left} left; until then searches use the old model and vectors")
        yield from canvas.hint(reply.resume)
    elif reply.pending:
        yield from canvas.note(f"{pluralize(reply.pending, 'passage')} still without a vector")
        yield from canvas.hint("kebab ingest")


def _list_model_fields(model: ModelRow) -> list[tuple[str, str]]:
    weights = "not on this machine"
    if model.installed:
        rates = [f"{kind} {rate:.0f}" for kind, rate in model.texts_per_second.items()]
        speed = f" (texts/s at installation: {', '.join(rates)})" if rates else ""
        weights = f"installed, {format_bytes(model.bytes or 0)}, {model.precision}{speed}"
    return [
        ("languages", model.languages),
        ("vectors", f"{model.dimension} dimensions, {model.window} tokens each"),
        ("version", model.embedding_version),
        ("weights", weights),
        ("sources", ", ".join(model.sources)),
    ]

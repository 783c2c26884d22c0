"""Embedding models, and what a pull or a change did."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_bytes, pluralize, render_fields
from kebab.wire.health import ModelList, ModelReport, ModelRow


def render_model_list(reply: ModelList, canvas: Canvas) -> Iterator[str]:
    """Yield every model, the active one marked."""
    for one in reply.models:
        mark = canvas.success("●") if one.active else "○"
        yield f"{mark} {canvas.strong(one.name)}"
        yield from render_fields(_rows(one), canvas, "    ")
    yield ""
    yield f"configured: {reply.configured}"
    if not any(one.installed for one in reply.models):
        yield canvas.dim("fetch one: kebab model pull NAME")


def render_model_report(reply: ModelReport, canvas: Canvas) -> Iterator[str]:
    """Yield what happened to the model and to the vectors."""
    state = "fetched" if reply.fetched else "already here"
    yield f"{canvas.strong(reply.model.name)}  {canvas.success(state)}"
    yield from render_fields(_rows(reply.model), canvas, "    ")
    if reply.embedded:
        yield f"{pluralize(reply.embedded, 'passage')} embedded again"
    if reply.pending:
        yield f"{canvas.warning('note:')} {pluralize(reply.pending, 'passage')} still without a vector"
        yield f"{canvas.success('hint:')} kebab ingest"


def _rows(one: ModelRow) -> list[tuple[str, str]]:
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

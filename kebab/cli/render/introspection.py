"""What this build is, can do and holds."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.wire.introspect import Introspection


def draw(reply: Introspection, canvas: Canvas) -> Iterator[str]:
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
        return canvas.good("✓")
    if value is False:
        return canvas.faint("✗")
    if value is None:
        return canvas.faint("none")
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or canvas.faint("none")
    if isinstance(value, list):
        return ", ".join(map(str, value)) or canvas.faint("none")
    return str(value)

"""What this build is, can do and holds."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kebab.cli.render.clean import clean
from kebab.cli.render.page import Page
from kebab.wire.introspect import Introspection


def draw(reply: Introspection, page: Page) -> Iterator[str]:
    """Yield the header and the four blocks."""
    yield page.strong(f"kebab v{reply.kebab_version}")
    yield from _block("wire schemas", page)
    yield from (f"  {name}" for name in reply.wire.schemas)
    yield from _block("capabilities", page)
    yield from _rows(msgspec.to_builtins(reply.capabilities), page)
    yield from _block("models", page)
    yield from _rows(msgspec.to_builtins(reply.models), page)
    yield from _block("stats", page)
    yield from _rows(msgspec.to_builtins(reply.stats), page)
    if reply.unreadable:
        yield from ("", *page.note(clean(reply.unreadable.message)))
        yield from page.hint(reply.unreadable.hint or "")


def _block(title: str, page: Page) -> list[str]:
    return ["", page.strong(title)]


def _rows(values: dict[str, Any], page: Page) -> Iterator[str]:
    width = max(map(len, values))
    for name, value in values.items():
        yield f"  {name:<{width}}  {_value(value, page)}".rstrip()


def _value(value: Any, page: Page) -> str:
    if value is True:
        return page.good("✓")
    if value is False:
        return page.faint("✗")
    if value is None:
        return page.faint("none")
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or page.faint("none")
    if isinstance(value, list):
        return ", ".join(map(str, value)) or page.faint("none")
    return str(value)

"""Renders the list of commands, and a published schema."""

import json
from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.wire.command_help import CommandList, SchemaDocument

_GROUPS = "each flag in [ ] may be left out, … may be repeated"


def render_command_list(reply: CommandList, canvas: Canvas) -> Iterator[str]:
    """Yield one line for each command, then what commands share and the exit statuses."""
    for command in reply.commands:
        name, _, flags = command.usage.partition(" [")
        usage = canvas.strong(name) + (f" [{flags}" if flags else "")
        yield from canvas.wrap(f"{usage}  {canvas.dim(command.summary)}")
    exits = ", ".join(f"{status} {meaning}" for status, meaning in reply.exits.items())
    yield ""
    for label, text in (
        ("FILTERS:", reply.filters),
        ("MODE:", reply.modes),
        ("every command:", reply.global_flags),
        ("exit status:", exits),
        ("usage:", _GROUPS),
    ):
        yield from canvas.wrap_with_label(label, text, canvas.strong)


def render_schema_document(reply: SchemaDocument, canvas: Canvas) -> Iterator[str]:
    """Yield the schema as indented JSON, which other programs can read."""
    del canvas
    yield from json.dumps(reply.document, indent=2, ensure_ascii=False).splitlines()

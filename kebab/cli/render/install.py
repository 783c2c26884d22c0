"""Renders what `kebab install` did, and the clients that it knows."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_tabs
from kebab.cli.render.layout import PLAIN, Cell, Style, StyledText, lay_out_table
from kebab.wire.install import InstallableClient, InstallOverview, InstallReport

_DONE = {
    "create": "written",
    "replace": "replaced",
    "keep": "already there",
    "remove": "removed",
    "none": "not installed",
    "add": "entry added",
    "update": "entry updated",
}
_PLANNED = {
    "create": "would be written",
    "replace": "would be replaced",
    "remove": "would be removed",
    "add": "entry would be added",
    "update": "entry would be updated",
}
_STATES = {
    "absent": ("not installed", Style(dim=True)),
    "current": ("up to date", Style(fg="green")),
    "outdated": ("outdated", Style(fg="yellow")),
    "invalid": ("file unusable", Style(fg="yellow")),
    None: ("reads none", Style(dim=True)),
}


def render_install(reply: InstallReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was done with each file, and where an old one is."""
    words = {**_DONE, **_PLANNED} if reply.dry_run else _DONE
    for file in reply.files:
        if file.change == "none" and any(other.change != "none" for other in reply.files):
            continue
        what = "entry " if file.kind == "mcp" and file.change == "remove" else ""
        yield f"{what}{words[file.change]}: {canvas.location(file.path)}"
        if file.backup:
            yield from canvas.note(f"your version is kept: {file.backup}")


def render_overview(reply: InstallOverview, canvas: Canvas) -> Iterator[str]:
    """Yield the clients; a table on a terminal, else one line for each with tabs."""
    if canvas.width is None:
        for client in reply.clients:
            found = "found" if client.found else "not found"
            yield format_tabs(client.name, found, client.skill or "none", client.mcp)
        return
    head = ["client", "on this machine", "skill", "MCP server"]
    rows = [[_fill(text, Style(bold=True)) for text in head], *map(_build_row, reply.clients)]
    yield from lay_out_table(rows, canvas.width, canvas)
    yield ""
    yield canvas.step("install", "kebab install CLIENT")
    for client in reply.clients:
        states = (("--skill", client.skill), ("--mcp", client.mcp))
        flags = [flag for flag, state in states if state == "outdated"]
        if flags:
            yield canvas.step("update", " ".join(["kebab install", client.name, *flags]))


def _build_row(client: InstallableClient) -> list[Cell]:
    found = _fill("yes") if client.found else _fill("no", Style(dim=True))
    states = [_fill(*_STATES[state]) for state in (client.skill, client.mcp)]
    return [_fill(client.name), found, *states]


def _fill(text: str, style: Style = PLAIN) -> Cell:
    content = StyledText()
    content.add(text, style)
    return Cell(content)

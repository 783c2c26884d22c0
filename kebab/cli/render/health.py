"""Renders reports of doctor, repairs, schema, init and install, and lists."""

from collections.abc import Iterator

import msgspec

from kebab.cli.render.canvas import (
    Canvas,
    Column,
    clean,
    list_fields,
    render_columns,
    render_fields,
)
from kebab.wire.coverage import describe_gaps, format_indexing, pluralize
from kebab.wire.health import (
    CommandList,
    Doctor,
    InitReport,
    InstallOverview,
    InstallReport,
    Introspection,
    ModelList,
    ModelReport,
    Repair,
    RepairReport,
)

_NAME_WIDTH = len("embedding_version")
"""The longest name of a check."""


def render_doctor(reply: Doctor, canvas: Canvas) -> Iterator[str]:
    """Yield every check with its mark, how to fix failed ones, and the verdict."""
    yield canvas.strong(f"kebab v{reply.kebab_version}")
    yield from _render_indexing(reply, canvas)
    yield ""
    marks = {
        "ok": canvas.success("✓"),
        "warn": canvas.warning("!"),
        "fail": canvas.error("✗"),
        "skip": canvas.dim("-"),
    }
    for check in reply.checks:
        label = f"  {marks[check.status]} {check.name:<{_NAME_WIDTH}}  "
        yield from canvas.wrap(clean(check.summary), label)
        if check.fix and check.status != "ok":
            fix = f"{canvas.success('fix:')} {canvas.complete(clean(check.fix))}"
            yield f"{'':<{_NAME_WIDTH + 6}}{fix}"
    yield ""
    failed = sum(check.status == "fail" for check in reply.checks)
    warned = sum(check.status == "warn" for check in reply.checks)
    notes = f", {pluralize(warned, 'note')}" if warned else ""
    problems = f"{pluralize(failed, 'problem')} to fix"
    gaps = describe_gaps(reply.coverage, "healthy")
    healthy = canvas.warning("no problem found") if gaps else canvas.success("healthy")
    yield canvas.error(problems) if failed else healthy + notes


def _render_indexing(reply: Doctor | Introspection, canvas: Canvas) -> Iterator[str]:
    if reply.indexing:
        yield f"{canvas.strong('indexing')}  {format_indexing(reply.indexing)}"


def render_schema(reply: Introspection, canvas: Canvas) -> Iterator[str]:
    """Yield the version, the wire schemas, the capabilities, the models and the statistics."""
    yield canvas.strong(f"kebab v{reply.kebab_version}")
    yield from _render_indexing(reply, canvas)
    yield from ("", canvas.strong("wire schemas"))
    yield from canvas.wrap(", ".join(reply.wire.schemas), "  ")
    yield from ("", canvas.strong("capabilities"))
    marks = {True: canvas.success("✓"), False: canvas.dim("✗")}
    for name, works in msgspec.to_builtins(reply.capabilities).items():
        yield f"  {marks[works]} {name}"
    if reply.plugins:
        plugins = ", ".join(f"{one.name} ({one.package} {one.version})" for one in reply.plugins)
        yield from ("", canvas.strong("plugins"), *canvas.wrap(clean(plugins), "  "))
    for title, block in {"models": reply.models, "stats": reply.stats}.items():
        yield from ("", canvas.strong(title))
        rows = [(name, value or "none") for name, value in list_fields(block)]
        yield from render_fields(rows, canvas, "  ")
    if reply.unreadable:
        yield from ("", *canvas.note(reply.unreadable.message, reply.unreadable.hint))


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
        yield from render_fields(list_fields(model, "name", "active"), canvas, "    ")
    yield ""
    yield f"configured: {reply.configured}"
    if reply.reason:
        yield f"chosen because {clean(reply.reason)}"
    if not any(model.installed for model in reply.models):
        yield canvas.step("download one", "kebab model pull NAME")


def render_model_report(reply: ModelReport, canvas: Canvas) -> Iterator[str]:
    """Yield the changes to the model and to the vectors."""
    state = "fetched" if reply.fetched else "already here"
    yield f"{canvas.strong(reply.model.name)}  {canvas.success(state)}"
    yield from render_fields(list_fields(reply.model, "name"), canvas, "    ")
    if reply.embedded:
        yield f"{pluralize(reply.embedded, 'passage')} embedded again"
    if reply.pending:
        pending = pluralize(reply.pending, "passage")
        yield from canvas.note(f"{pending} not embedded yet", "kebab ingest")


def render_command_list(reply: CommandList, canvas: Canvas) -> Iterator[str]:
    """Yield one line for each command, then what commands share and the exit statuses."""
    for command in reply.commands:
        yield from canvas.wrap(f"{command.usage}  {canvas.dim(command.summary)}")
    exits = ", ".join(f"{status} {meaning}" for status, meaning in reply.exits.items())
    yield ""
    for label, text in (
        ("FILTERS:", reply.filters),
        ("MODE:", reply.modes),
        ("every command:", reply.global_flags),
        ("exit status:", exits),
        ("usage:", "flags and words in [ ] may be left out, … may be repeated"),
    ):
        if text:
            yield from canvas.wrap(clean(text), f"{canvas.strong(label)} ")


_DONE = {
    "create": "written",
    "replace": "replaced",
    "keep": "already there",
    "remove": "removed",
    "none": "not installed",
    "add": "added",
    "update": "updated",
}


def render_install(reply: InstallReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was done with each file, and where an old one is."""
    for file in reply.files:
        if file.change == "none" and any(other.change != "none" for other in reply.files):
            continue
        is_entry = file.kind == "mcp" and file.change in ("add", "update", "remove")
        planned = "would be " * (reply.dry_run and file.change not in ("keep", "none"))
        done = f"{'entry ' * is_entry}{planned}{_DONE[file.change]}"
        yield f"{done}: {canvas.location(file.path)}"
        if file.backup:
            yield from canvas.note(f"your version is kept: {file.backup}")


def render_overview(reply: InstallOverview, canvas: Canvas) -> Iterator[str]:
    """Yield the clients, and on a terminal what can be done with them."""
    rows = [
        (one.name, "found" if one.found else "not found", one.skill or "none", one.mcp)
        for one in reply.clients
    ]
    columns = [Column(head) for head in ("client", "on this machine", "skill", "MCP server")]
    yield from render_columns(columns, rows, canvas)
    if canvas.width is None:
        return
    yield ""
    yield canvas.step("install", "kebab install CLIENT")
    for client in reply.clients:
        states = (("--skill", client.skill), ("--mcp", client.mcp))
        flags = [flag for flag, state in states if state == "outdated"]
        if flags:
            yield canvas.step("update", " ".join(["kebab install", client.name, *flags]))


def render_repair_plan(reply: RepairReport, canvas: Canvas) -> Iterator[str]:
    """Yield what would be done."""
    yield from _render_repairs(reply.repairs, canvas)
    # Their repair moves a database aside.
    if any(repair.check in ("database", "integrity", "reviews") for repair in reply.repairs):
        yield "your own files stay as they are; what only the database has cannot come back"


def render_repair(reply: RepairReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was done, what was moved aside, and what the checks find now."""
    yield from _render_repairs(reply.repairs, canvas)
    for moved in reply.moved:
        counts = {"document": moved.documents, "ask session": moved.sessions}
        known = [pluralize(count, name) for name, count in counts.items() if count is not None]
        held = f", it had {' and '.join(known)}" if known else ""
        yield f"moved aside: {canvas.location(clean(moved.path))}{held}"
        yield "  its ask sessions or reviews do not come back"
    yield ""
    yield from render_doctor(reply.health, canvas)


def _render_repairs(repairs: list[Repair], canvas: Canvas) -> Iterator[str]:
    words = {"planned": "would", "repaired": "repaired", "refused": "refused", "failed": "failed"}
    if not repairs:
        yield "nothing to repair"
    for repair in repairs:
        paint = canvas.error if repair.outcome in ("refused", "failed") else canvas.success
        name = canvas.strong(repair.check.replace("_", " "))
        yield f"{paint(words[repair.outcome])}  {name}: {clean(repair.summary)}"
        yield from canvas.wrap(clean(repair.action), "  ")
        if repair.reason:
            yield from canvas.wrap(clean(repair.reason), f"  {canvas.dim('reason:')} ")
        if repair.hint:
            yield f"  {canvas.success('fix:')} {canvas.complete(clean(repair.hint))}"

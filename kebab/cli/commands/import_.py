"""`kebab import` makes an exported file the knowledge base."""

from collections.abc import Iterator

import click

from kebab.cli.command import declare_command
from kebab.cli.commands.export import describe_manifest
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.prompt import confirm
from kebab.cli.render.canvas import Canvas, clean
from kebab.errors.signal import Exit
from kebab.wire.coverage import pluralize
from kebab.wire.published import ArchiveManifest, ImportReport, ImportRequest


@declare_command(
    "import",
    examples=("kebab import ~/kebab.zip", "kebab import kebab.zip --yes --json"),
)
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--dry-run", is_flag=True, help="Only check the file and show what it holds.")
@click.option("--yes", is_flag=True, help="Do not ask before an index is replaced.")
def command(context: CommandContext, *, path: str, dry_run: bool, yes: bool) -> Exit:
    """Make an exported file the knowledge base.

    The file is checked before anything changes. An index that is there is replaced after
    confirmation; it stays until the new one is complete. Nothing is embedded again, and ids and
    citations stay the same. Folders keep their paths: where a folder has another path here, ingest
    it, which embeds no equal text again, and remove the old source. Settings stay as they are.
    """
    if dry_run:
        request = ImportRequest(path=path, dry_run=True)
        return context.print_reply(run_work(context, request)[0], render_import)
    if not yes:
        plan, _ = run_work(context, ImportRequest(path=path, dry_run=True))
        if plan.replaced_documents is not None:
            confirm(context, "import", plan, render_import_plan)
    return context.print_reply(run_work(context, ImportRequest(path=path))[0], render_import)


def render_import_plan(reply: ImportReport, canvas: Canvas) -> Iterator[str]:
    """Yield what an import would replace."""
    count = reply.replaced_documents or 0
    held = pluralize(count, "document") if count >= 0 else "an index that cannot be read"
    yield f"this replaces {held} in {canvas.location(clean(reply.data_dir))}"
    yield from _render_contents(reply.manifest)


def render_import(reply: ImportReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was imported."""
    done = "the file is intact; nothing was imported" if reply.dry_run else "imported"
    yield f"{done}: {canvas.location(clean(reply.path))}"
    yield from _render_contents(reply.manifest)
    if not reply.dry_run:
        yield canvas.step("compare the files with the index", "kebab ingest")


def _render_contents(manifest: ArchiveManifest) -> Iterator[str]:
    yield f"  exported {clean(manifest.created_at)} by kebab {clean(manifest.kebab_version)}"
    yield f"  {describe_manifest(manifest)}"

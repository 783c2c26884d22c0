"""`kebab install` teaches a coding agent to use kebab."""

import os
from collections.abc import Iterator
from functools import partial

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.integrations import Change, SkillFile, apply_change, format_change, load_skill
from kebab.cli.prompt import confirm
from kebab.cli.render.canvas import Canvas
from kebab.errors.signal import Exit
from kebab.wire.command_help import InstallReport

_SENTENCES = {
    "create": "written",
    "replace": "replaced",
    "keep": "already there",
    "remove": "removed",
    "none": "not installed",
}


@click.command(
    "install",
    cls=Command,
    examples=(
        "kebab install claude-code",
        "kebab install claude-code --project --yes",
        "kebab install claude-code --uninstall",
    ),
)
@click.argument("integration", type=click.Choice(["claude-code"]))
@click.option(
    "--user",
    "for_user",
    is_flag=True,
    help="Install for this user, in `~/.claude` (the default).",
)
@click.option(
    "--project", "for_project", is_flag=True, help="Install for this folder, in `./.claude`."
)
@click.option("--uninstall", is_flag=True, help="Remove the file again.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def command(
    context: CommandContext,
    /,
    integration: str,
    *,
    for_user: bool,
    for_project: bool,
    uninstall: bool,
    yes: bool,
) -> Exit:
    """Write the skill by which a coding agent learns to use kebab.

    The command shows the change and asks before it writes. A file that was edited is kept as a copy
    beside the new one. Nothing happens when the file is already as it should be.
    """
    if for_user and for_project:
        cause = "`--user` and `--project` exclude each other"
        raise click.UsageError(cause, click.get_current_context())
    context.require_writable(f"install {integration}")
    skill = load_skill("project" if for_project else "user", os.environ)
    change = skill.plan_change(uninstall=uninstall)
    if change not in ("keep", "none") and not yes:
        confirm(context, f"install {integration}", partial(_render_plan, skill, change))
    return context.print_reply(apply_change(skill, change), render_install)


def _render_plan(skill: SkillFile, change: Change, canvas: Canvas) -> Iterator[str]:
    paint = {"+": canvas.success, "-": canvas.warning}
    for line in format_change(skill, change):
        yield paint.get(line[:1], canvas.dim)(line)


def render_install(reply: InstallReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was done with the file, and where the old one is."""
    yield f"{_SENTENCES[reply.change]}: {canvas.location(reply.path)}"
    if reply.backup:
        yield from canvas.note(f"your version is kept: {reply.backup}")

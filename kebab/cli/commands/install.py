"""`kebab install` lets the clients of agents use kebab: by a skill, or as an MCP server."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.integrations import (
    CLIENTS,
    NAME,
    Client,
    FilePlan,
    Places,
    apply_plan,
    change_entry,
    describe_plan,
    find_places,
    find_state,
    find_unlisted_program,
    format_diff,
    plan_entry,
    plan_files,
    plan_skill,
)
from kebab.cli.prompt import confirm
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_install, render_overview
from kebab.errors.signal import Exit
from kebab.errors.system import resolve_path
from kebab.wire.health import (
    InstallableClient,
    InstallOverview,
    InstallReport,
    InstallSnippet,
    IntegrationKind,
)


@declare_command(
    "install",
    examples=(
        "kebab install",
        "kebab install claude-code",
        "kebab install zed --dry-run",
        "kebab install claude-code --uninstall",
    ),
)
@click.argument(
    "client",
    type=click.Choice([one.name for one in CLIENTS]),
    metavar="[CLIENT]",
    required=False,
)
@click.option("--list", "lists", is_flag=True, help="List the clients, as without CLIENT.")
@click.option("--skill", is_flag=True, help="Install the skill: a text that explains kebab.")
@click.option("--mcp", is_flag=True, help="Install the entry for the MCP server `kebab mcp`.")
@click.option("--uninstall", is_flag=True, help="Remove what was installed.")
@click.option("--dry-run", is_flag=True, help="Show the change and write nothing.")
@click.option("--print", "print_only", is_flag=True, help="Print the entry, to add it by hand.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def command(context: CommandContext, /, client: str | None, **flags: bool) -> Exit:
    """Let a coding agent or an editor use kebab.

    Without CLIENT, list the clients and what is installed in them.

    An agent learns to use the command line from the skill, or calls the MCP server. For
    `claude-code` the skill is installed by default, for all others the server; `--skill` and
    `--mcp` choose. With `--config` and `--data-dir` the server uses that knowledge base.

    The command shows the change and asks before it writes. Other settings in the file keep their
    values; a JSON file with comments is not changed. An entry names the absolute path of kebab, and
    so does the skill where `kebab` is not on the `PATH`. A skill that was edited is kept as a copy
    beside the new one. Nothing happens when everything is already as it should be.
    """
    _refuse_contradictions(client, flags)
    data_dir = os.path.expanduser(context.flags.data_dir or "")  # noqa: PTH111 - a `~` of nobody is a name
    named = (("--config", context.flags.config), ("--data-dir", data_dir))
    server_flags = [word for flag, value in named if value for word in (flag, resolve_path(value))]
    places = find_places()
    if client is None:
        return context.print_reply(_survey_clients(places, server_flags), render_overview)
    found = next(one for one in CLIENTS if one.name == client)
    dry_run, uninstall = flags["dry_run"], flags["uninstall"]
    entry = found.build_entry(server_flags)
    if flags["print_only"]:
        path = places.resolve(found.entries)
        snippet = change_entry(path, None, (found.container, NAME), entry) or ""
        reply = InstallSnippet(integration=client, path=str(path), snippet=snippet)
        return context.print_reply(reply, lambda reply, _: [reply.snippet.rstrip("\n")])
    if not dry_run:
        context.require_writable(f"install {client}")
    kinds = _choose_kinds(found, flags)
    plans = plan_files(found, places, kinds, None if uninstall else entry)
    if not uninstall and not places.is_found(found):
        context.warn(f"no sign of this client on this machine: {found.title}")
    if any(plan.is_needed for plan in plans) and not (flags["yes"] or dry_run):
        confirm(context, f"install {client}", partial(_render_diffs, plans))
    program = find_unlisted_program()
    if program and not uninstall and "skill" in kinds:
        context.warn(f"`kebab` is not on the `PATH`; the skill says `{program}`")
    files = [describe_plan(plan) if dry_run else apply_plan(plan) for plan in plans]
    report = InstallReport(integration=client, files=files, dry_run=dry_run)
    return context.print_reply(report, partial(_render_report, plans))


def _refuse_contradictions(client: str | None, flags: Mapping[str, bool]) -> None:
    changes = flags["uninstall"] or flags["dry_run"]
    if flags["print_only"] and changes:
        cause = "`--print` changes nothing, so `--uninstall` and `--dry-run` have no meaning"
        raise click.UsageError(cause)
    if client is not None and flags["lists"]:
        raise click.UsageError("`--list` lists all clients")
    if client is None and (flags["print_only"] or changes):
        raise click.UsageError("name the client")


def _choose_kinds(client: Client, flags: Mapping[str, bool]) -> tuple[IntegrationKind, ...]:
    """Return what to install: what is asked for, or what suits the client; or all to remove."""
    skill = flags["skill"]
    if skill and not client.skills:
        raise click.UsageError(f"`{client.name}` reads no skills")
    if skill != flags["mcp"]:
        return ("skill",) if skill else ("mcp",)
    if skill or flags["uninstall"]:
        return ("skill", "mcp")
    return ("skill",) if client.prefers_skill else ("mcp",)


def _survey_clients(places: Places, flags: Sequence[str]) -> InstallOverview:
    clients = []
    for client in CLIENTS:
        path, skill = places.resolve(client.entries), places.find_skill(client)
        entry = client.build_entry(flags)
        clients.append(
            InstallableClient(
                name=client.name,
                title=client.title,
                found=places.is_found(client),
                mcp=find_state(partial(plan_entry, client, path, entry)),
                mcp_path=str(path),
                skill=find_state(partial(plan_skill, skill, uninstall=False)) if skill else None,
                skill_path=str(skill) if skill else None,
            )
        )
    return InstallOverview(clients=clients)


def _render_diffs(plans: Sequence[FilePlan], canvas: Canvas) -> Iterator[str]:
    paint = {"+": canvas.success, "-": canvas.warning}
    for plan in plans:
        for line in format_diff(plan):
            yield paint.get(line[:1], canvas.dim)(line)


def _render_report(
    plans: Sequence[FilePlan], reply: InstallReport, canvas: Canvas
) -> Iterator[str]:
    if reply.dry_run:
        yield from _render_diffs(plans, canvas)
    yield from render_install(reply, canvas)

"""`kebab install` lets the clients of agents use kebab: by a skill, or as an MCP server.

`clients.toml` has the clients. An entry is a member of a list of servers, such as
`mcpServers.kebab`. JSON and YAML are written again; a file with comments is refused, because they
would be lost. In TOML the lines of the entry's own table are changed, and the result is compared.
"""

import difflib
import errno
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import msgspec
import yaml
from msgspec import Struct, field
from msgspec.structs import replace

from kebab import platform
from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext, list_place_flags
from kebab.cli.hints import join_words
from kebab.cli.options import refuse_contradictions
from kebab.cli.prompt import confirm
from kebab.cli.render.canvas import Canvas, render_difference
from kebab.cli.render.health import render_install, render_overview
from kebab.config.load import keep_copy, replace_settings_file
from kebab.errors.catalog import ClientConfigInvalid, IoError
from kebab.errors.signal import Exit
from kebab.errors.system import resolve_path, translate_os_errors
from kebab.wire.health import (
    FileChange,
    InstallableClient,
    InstalledFile,
    InstallOverview,
    InstallReport,
    InstallSnippet,
    IntegrationKind,
    IntegrationState,
)

Entry = dict[str, Any]
NAME = "kebab"
"""The name of the server in every client."""


def find_program(arguments: Sequence[str]) -> list[str]:
    """Return the words that start this kebab with an absolute path.

    A client may have another `PATH` than the shell, so a bare name does not do. Links are kept,
    because those of pipx and uv stay when what they point to moves.
    """
    called = None
    with suppress(FileNotFoundError):  # the working folder was deleted
        called = Path(os.path.abspath(arguments[0])) if arguments and arguments[0] else None  # noqa: PTH100 - keeps links
    beside = Path(sys.executable).with_name(NAME)
    for path in (called, beside):
        if path and path.name == NAME and path.is_file():
            return [str(path)]
    return [sys.executable, "-m", NAME]


def is_current(found: Any, wanted: Entry) -> bool:
    """Return whether an entry needs no change; members that kebab does not set are free."""
    return keeps_members(found) and all(found.get(key) == wanted[key] for key in wanted)


def keeps_members(found: Any) -> bool:
    """Return whether an entry keeps its other members when it is changed.

    An entry that is no object, or that names a server on the network, is replaced as a whole.
    """
    remote = {"url", "httpUrl", "serverUrl", "uri"}
    return isinstance(found, dict) and remote.isdisjoint(found)


class Client(Struct, frozen=True):
    """A client of `clients.toml`: how it is recognised, and where it reads skills and servers."""

    title: str
    folder: str
    """The folder that shows that the client is installed."""
    program: str
    """The program that shows it, too."""
    entries: str
    """The file with the list of MCP servers."""
    container: str = "mcpServers"
    """The key of that list."""
    entry: Entry = field(default_factory=lambda: {"command": "{program}", "args": "{arguments}"})
    """What the client reads of a server."""
    skills: str = ""
    """The folder of the skills; empty when the client reads none."""
    prefers_skill: bool = False
    """Whether the skill alone is installed unless the caller says otherwise."""
    name: str = ""

    def build_entry(self, flags: Sequence[str], arguments: Sequence[str] = sys.argv) -> Entry:
        """Return the entry that starts the MCP server as this process was started."""
        words = [*find_program(arguments), "mcp", *flags]
        filled = {"{program}": words[0], "{arguments}": words[1:], "{command}": words}
        return {key: filled.get(value, value) for key, value in self.entry.items()}


CLIENTS = tuple(
    replace(client, name=name)
    for name, client in msgspec.toml.decode(
        Path(__file__).with_name("clients.toml").read_bytes(), type=dict[str, Client]
    ).items()
)


class Places(Struct, frozen=True):
    """The folders of this user."""

    environ: Mapping[str, str]
    home: Path
    system: str = platform.SYSTEM

    def resolve(self, path: str) -> Path:
        """Return the absolute path for a path of a client."""
        is_mac, named = self.system == "darwin", self.environ.get
        config = "~/.config" if is_mac else named("XDG_CONFIG_HOME") or "~/.config"
        filled = path.format(
            config=config,
            settings="~/Library/Application Support" if is_mac else config,
            claude=named("CLAUDE_CONFIG_DIR") or "~/.claude",
            claude_state=named("CLAUDE_CONFIG_DIR") or "~",
            codex=named("CODEX_HOME") or "~/.codex",
        )
        return self.home / filled.removeprefix("~/")

    def find_skill(self, client: Client) -> Path | None:
        """Return the file of the skill, None when the client reads no skills."""
        return self.resolve(client.skills) / "kebab" / "SKILL.md" if client.skills else None

    def is_found(self, client: Client) -> bool:
        """Return whether this machine shows a sign of the client."""
        return self.resolve(client.folder).is_dir() or bool(
            shutil.which(client.program, path=self.environ.get("PATH", os.defpath))
        )


_SKILL = Path("claude-code", "kebab", "SKILL.md")
_TITLE = b"\n# kebab\n\n"

_INDENT = re.compile(r"\n([ \t]+)\S")
_YAML_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)


class EntryError(ValueError):
    """A file cannot be edited safely; the text is the reason."""


def find_entry(path: Path, text: str | None, container: str) -> tuple[Any, dict[str, Any]]:
    """Return the entry of a file, None when there is none, and all other values.

    Raises:
        EntryError: The text cannot be read, or the list of servers is no object.
    """
    values = _read_values(path, text or "")
    servers = values.pop(container, {})
    if not isinstance(servers, dict):
        raise EntryError(f"`{container}` is no list of servers")
    found = servers.pop(NAME, None)
    return found, {**values, container: servers} if servers else values


def change_entry(path: Path, text: str | None, container: str, wanted: Entry | None) -> str | None:
    """Return the text with an entry, or without one when `wanted` is None.

    None stands for a file that does not exist. Members that kebab does not set stay in the entry.

    Raises:
        EntryError: The text cannot be read, or not be changed without other values.
    """
    found, others = find_entry(path, text, container)
    if wanted is not None and is_current(found, wanted):
        return text
    if wanted is None and not others:
        return None
    entry = {**found, **wanted} if wanted is not None and keeps_members(found) else wanted
    if path.suffix == ".toml":
        changed = _change_toml(text or "", f"{container}.{NAME}", entry)
    else:
        changed = _write_again(path, text or "", container, entry)
    if find_entry(path, changed, container) != (entry, others):
        raise EntryError("the entry cannot be changed without other values")
    return changed


def _read_values(path: Path, text: str) -> dict[str, Any]:
    """Return the values of a file; an empty one has none."""
    if not text.strip():
        return {}
    try:
        if path.suffix == ".toml":
            return tomllib.loads(text)
        if path.suffix == ".yaml":
            if _YAML_COMMENT.search(text):
                raise EntryError("it has comments, which would be lost; add the entry by hand")
            values = yaml.safe_load(text)
        else:
            values = json.loads(text, object_pairs_hook=_refuse_duplicates)
    except json.JSONDecodeError as fault:
        lost = "it has comments or trailing commas, which would be lost; add the entry by hand"
        where = f"line {fault.lineno}, column {fault.colno}"
        raise EntryError(f"{where}: it is no JSON, or {lost}") from fault
    except (RecursionError, ValueError, yaml.YAMLError) as fault:
        raise EntryError(str(fault)) from fault
    if not isinstance(values, dict):
        raise EntryError("it is no object")
    return values


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise EntryError("a key occurs twice, and one would be lost; add the entry by hand")
    return values


def _write_again(path: Path, text: str, container: str, entry: Entry | None) -> str:
    """Write all values again; JSON keeps its indentation."""
    values = _read_values(path, text)
    servers = values.setdefault(container, {})
    if entry is not None:
        servers[NAME] = entry
    else:
        del servers[NAME]
    if not servers:
        del values[container]
    if path.suffix == ".yaml":
        return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    indent = _INDENT.search(text)
    return json.dumps(values, ensure_ascii=False, indent=indent[1] if indent else "  ") + "\n"


def _change_toml(text: str, name: str, entry: Entry | None) -> str:
    """Take the lines of the table `name` out, and add the entry at the end; comments stay.

    Tables below it stay too, unless the entry is removed.
    """
    lines = text.splitlines(keepends=True)
    heads = [index for index, line in enumerate(lines) if line.lstrip().startswith("[")]
    for start, end in reversed([*pairwise((*heads, len(lines)))]):
        head = lines[start].split("#")[0].strip()[1:-1]
        if head == name or (entry is None and head.startswith(f"{name}.")):
            lines[start:end] = [line for line in lines[start:end] if line.lstrip().startswith("#")]
    kept = "".join(lines).rstrip("\n")
    parts = [f"{kept}\n"] if kept else []
    if entry is not None:
        values = {key: one for key, one in entry.items() if not isinstance(one, dict)}
        try:
            # JSON writes texts, numbers and their lists as TOML does.
            rows = [f"{key} = {json.dumps(values[key], ensure_ascii=False)}\n" for key in values]
        except TypeError as fault:
            raise EntryError(f"`{name}` has a value that cannot be written again") from fault
        parts.append(f"[{name}]\n{''.join(rows)}")
    return "\n".join(parts)


class FilePlan(Struct, frozen=True, kw_only=True):
    """A file of a client as it is, and as it is to be; None stands for no file."""

    kind: IntegrationKind
    path: Path
    before: bytes | None
    after: bytes | None
    change: FileChange

    @property
    def is_needed(self) -> bool:
        """Whether the file changes."""
        return self.before != self.after


def read_skill() -> bytes:
    """Return the skill of this version; it names the program where `kebab` is not on the `PATH`."""
    text = (platform.find_data_folder("integrations", "integrations") / _SKILL).read_bytes()
    program = find_unlisted_program()
    if program is None:
        return text
    note = f"`kebab` is not on the `PATH` of this machine: write `{program}` in its place.\n\n"
    return text.replace(_TITLE, _TITLE + note.encode("utf-8", "surrogateescape"), 1)


def find_unlisted_program() -> str | None:
    """Return the command line that starts this kebab, None where `kebab` does."""
    return None if shutil.which(NAME) else join_words(find_program(sys.argv))


def plan_skill(path: Path, *, uninstall: bool) -> FilePlan:
    """Return what is to be done with the file of the skill.

    Raises:
        IoError: The file cannot be read.
    """
    before, wanted = _read(path), read_skill()
    if uninstall:
        change: FileChange = "none" if before is None else "remove"
    elif before is None:
        change = "create"
    else:
        change = "keep" if before == wanted else "replace"
    after = None if uninstall else wanted
    return FilePlan(kind="skill", path=path, before=before, after=after, change=change)


def plan_entry(client: Client, path: Path, wanted: Entry | None) -> FilePlan:
    """Return what is to be done with the file of the entry; None removes the entry.

    Raises:
        ClientConfigInvalid: The file cannot be changed safely.
        IoError: The file cannot be read.
    """
    before = _read(path)
    if wanted is None and NAME.encode() not in (before or b""):
        return FilePlan(kind="mcp", path=path, before=before, after=before, change="none")
    try:
        old = None if before is None else before.decode()
        found, _ = find_entry(path, old, client.container)
        new = change_entry(path, old, client.container, wanted)
        if wanted is None:
            change: FileChange = "none" if found is None else "remove"
        elif found is None:
            change = "create" if old is None else "add"
        else:
            change = "keep" if is_current(found, wanted) else "update"
        after = None if new is None else new.encode()
        return FilePlan(kind="mcp", path=path, before=before, after=after, change=change)
    except EntryError as fault:
        cause = str(fault)
    except UnicodeError:
        cause = "the text or the path of kebab is not valid UTF-8"
    raise ClientConfigInvalid(client=client.name, path=resolve_path(path), cause=cause)


def apply_plan(plan: FilePlan, *, dry_run: bool = False) -> InstalledFile:
    """Change the file; a skill that kebab did not write is kept as a copy beside it.

    Raises:
        IoError: The file cannot be written, or another program changed it meanwhile.
    """
    backup = None
    if plan.is_needed and not dry_run:
        with translate_os_errors(plan.path, "write"):
            target = Path(os.path.realpath(plan.path))
            # A new file could replace a write-protected one.
            if target.is_file() and not target.stat().st_mode & 0o222:
                raise PermissionError(errno.EACCES, "the file is write-protected")
            if _read(plan.path) != plan.before:
                raise OSError(errno.EBUSY, "another program changed the file meanwhile")
            if plan.kind == "skill":
                backup = keep_copy(plan.path, read_skill().decode())
            if plan.after is not None:
                plan.path.parent.mkdir(parents=True, exist_ok=True)
                replace_settings_file(plan.path, plan.after)
            else:
                target.unlink()  # a link to the file stays
                if plan.kind == "skill":
                    with suppress(OSError):  # older copies are still in it
                        plan.path.parent.rmdir()
    copy = None if backup is None else str(backup)
    return InstalledFile(kind=plan.kind, path=str(plan.path), change=plan.change, backup=copy)


def _read(path: Path) -> bytes | None:
    with translate_os_errors(path, "read"):
        return path.read_bytes() if path.exists() else None


def find_state(plan: Callable[[], FilePlan]) -> IntegrationState:
    """Return the state of a file from what its installation would change."""
    try:
        change = plan().change
    except (ClientConfigInvalid, IoError):
        return "invalid"
    if change in ("create", "add"):
        return "absent"
    return "current" if change == "keep" else "outdated"


@declare_command(
    "install",
    examples=(
        "kebab install",
        "kebab install claude-code",
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
    dry_run, uninstall = flags["dry_run"], flags["uninstall"]
    refuse_contradictions(
        (flags["print_only"] and (uninstall or dry_run), "`--print` changes nothing"),
        (client and flags["lists"], "`--list` lists all clients"),
        (not client and (flags["print_only"] or uninstall or dry_run), "name the client"),
    )
    server_flags = list_place_flags(context.flags)
    places = Places(os.environ, Path.home())
    if client is None:
        return context.print_reply(_survey_clients(places, server_flags), render_overview)
    found = next(one for one in CLIENTS if one.name == client)
    entry = found.build_entry(server_flags)
    if flags["print_only"]:
        path = places.resolve(found.entries)
        snippet = change_entry(path, None, found.container, entry) or ""
        reply = InstallSnippet(integration=client, path=str(path), snippet=snippet)
        return context.print_reply(reply, lambda reply, _: [reply.snippet.rstrip("\n")])
    if not dry_run:
        context.require_writable(f"install {client}")
    kinds = _choose_kinds(found, flags)
    plans = []
    if "skill" in kinds and (skill := places.find_skill(found)):
        plans.append(plan_skill(skill, uninstall=uninstall))
    if "mcp" in kinds:
        wanted = None if uninstall else entry
        plans.append(plan_entry(found, places.resolve(found.entries), wanted))
    if not uninstall and not places.is_found(found):
        context.warn(f"no sign of this client on this machine: {found.title}")
    if any(plan.is_needed for plan in plans) and not (flags["yes"] or dry_run):
        confirm(context, f"install {client}", plans, render_diffs)
    program = find_unlisted_program()
    if program and not uninstall and "skill" in kinds:
        context.warn(f"`kebab` is not on the `PATH`; the skill says `{program}`")
    files = [apply_plan(plan, dry_run=dry_run) for plan in plans]
    report = InstallReport(integration=client, files=files, dry_run=dry_run)

    def render(reply: InstallReport, canvas: Canvas) -> Iterator[str]:
        yield from render_diffs(plans if dry_run else [], canvas)
        yield from render_install(reply, canvas)

    return context.print_reply(report, render)


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


def render_diffs(plans: Sequence[FilePlan], canvas: Canvas) -> Iterator[str]:
    """Yield the differences that changes make, as unified diffs."""
    for plan in plans:
        if plan.is_needed:
            before, after = (
                (data or b"").decode("utf-8", "replace").splitlines()
                for data in (plan.before, plan.after)
            )
            # Few lines, because those beside an entry may be the secrets of another server.
            names = (str(plan.path), str(plan.path))
            lines = difflib.unified_diff(before, after, *names, n=1, lineterm="")
            yield from render_difference(lines, canvas)

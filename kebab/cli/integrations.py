"""Installs kebab in the clients of agents: a skill, and an entry in the list of MCP servers.

The comment of each client names the pages that define its files and their form. An entry is a
member of a list of servers, such as `mcpServers.kebab`. JSON and YAML are written again; a file
with comments is refused, because they would be lost. In TOML the lines of the entry's own table are
changed, and the result is compared.
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
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from msgspec import Struct, field

from kebab import platform
from kebab.app.own_files import keep_copy, replace_file
from kebab.cli.hints import join_words
from kebab.errors.catalog import ClientConfigInvalid, IoError
from kebab.errors.system import resolve_path, translate_os_errors
from kebab.wire.health import FileChange, InstalledFile, IntegrationKind, IntegrationState

Entry = dict[str, Any]
NAME = "kebab"
"""The name of the server in every client."""
REMOTE_KEYS = ("url", "httpUrl", "serverUrl", "uri")
"""The keys by which an entry names a server on the network instead of a program."""


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
    return isinstance(found, dict) and not any(key in found for key in REMOTE_KEYS)


class Client(Struct, frozen=True):
    """A client: how it is recognised, and where it reads skills and MCP servers.

    A path begins with the name of a folder of `Places`.
    """

    name: str
    title: str
    folder: str
    """The folder that shows that the client is installed."""
    program: str
    """The program that shows it, too."""
    entries: str
    """The file with the list of MCP servers."""
    container: str = "mcpServers"
    """The key of that list."""
    fixed: Entry = field(default_factory=dict)
    """What an entry says besides the command."""
    skills: str = ""
    """The folder of the skills; empty when the client reads none."""
    prefers_skill: bool = False
    """Whether the skill alone is installed unless the caller says otherwise."""
    program_key: str = "command"
    """The member with the program."""
    has_arguments: bool = True
    """Whether the arguments are a member `args`, and not the rest of the program's list."""

    def build_entry(self, flags: Sequence[str], arguments: Sequence[str] = sys.argv) -> Entry:
        """Return the entry that starts the MCP server as this process was started."""
        program, *first = find_program(arguments)
        words = [*first, "mcp", *flags]
        if self.has_arguments:
            return {**self.fixed, self.program_key: program, "args": words}
        return {**self.fixed, self.program_key: [program, *words]}


_STDIO = {"type": "stdio"}
_GOOSE = {**_STDIO, "name": NAME, "enabled": True}

# fmt: off
CLIENTS = (
    # https://code.claude.com/docs/en/skills, https://code.claude.com/docs/en/mcp. The page advises
    # `claude mcp add`; the file is edited directly, so that the change can be shown before.
    Client("claude-code", "Claude Code", "claude", "claude", "claude-state/.claude.json",
           fixed=_STDIO, skills="claude/skills", prefers_skill=True),
    # https://developers.openai.com/codex/mcp, https://developers.openai.com/codex/skills
    Client("codex", "Codex", "codex", "codex", "codex/config.toml",
           "mcp_servers", skills="home/.agents/skills"),
    # https://cursor.com/docs/context/mcp, https://cursor.com/docs/context/skills
    Client("cursor", "Cursor", "cursor", "cursor", "cursor/mcp.json",
           fixed=_STDIO, skills="cursor/skills"),
    # https://code.visualstudio.com/docs/copilot/reference/mcp-configuration,
    # https://code.visualstudio.com/docs/agent-customization/agent-skills
    Client("vscode", "Visual Studio Code", "vscode", "code", "vscode/mcp.json",
           "servers", _STDIO, skills="home/.copilot/skills"),
    # https://geminicli.com/docs/tools/mcp-server,
    # https://geminicli.com/docs/cli/using-agent-skills
    Client("gemini", "Gemini CLI", "gemini", "gemini", "gemini/settings.json",
           skills="gemini/skills"),
    # https://zed.dev/docs/ai/mcp; older versions ask for `"source": "custom"`.
    Client("zed", "Zed", "zed", "zed", "zed/settings.json",
           "context_servers", {"source": "custom"}),
    # https://modelcontextprotocol.io/docs/develop/connect-local-servers
    Client("claude-desktop", "Claude Desktop", "claude-desktop", "claude-desktop",
           "claude-desktop/claude_desktop_config.json"),
    # https://docs.windsurf.com/windsurf/cascade/mcp
    Client("windsurf", "Windsurf", "codeium/windsurf", "windsurf",
           "codeium/windsurf/mcp_config.json"),
    # https://lmstudio.ai/docs/app/mcp
    Client("lmstudio", "LM Studio", "lmstudio", "lms", "lmstudio/mcp.json"),
    # https://docs.continue.dev/customize/deep-dives/mcp: a folder with the files of other clients.
    Client("continue", "Continue", "continue", "cn",
           "continue/mcpServers/kebab.json"),
    # https://opencode.ai/docs/mcp-servers: the list `command` has the arguments, too.
    Client("opencode", "OpenCode", "opencode", "opencode", "opencode/opencode.json", "mcp",
           {"type": "local", "enabled": True}, has_arguments=False),
    # https://block.github.io/goose/docs/guides/config-files
    Client("goose", "Goose", "goose", "goose", "goose/config.yaml", "extensions", _GOOSE,
           program_key="cmd"),
)
# fmt: on


_NAMED = {"claude": "CLAUDE_CONFIG_DIR", "claude-state": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
"""The environment variables that name a folder."""

_IN_CONFIG = ("zed", "opencode", "goose")
"""The folders in `~/.config` on every system."""

_OF_SYSTEM = {"vscode": "Code/User", "claude-desktop": "Claude"}
"""The folders that depend on the system, below that of the settings of all programs."""


class Places(Struct, frozen=True):
    """The folders of this user."""

    environ: Mapping[str, str]
    home: Path
    system: str = platform.SYSTEM

    def resolve(self, path: str) -> Path:
        """Return the absolute path for a path of a client."""
        folder, _, below = path.partition("/")
        return self._find_folder(folder) / below

    def find_skill(self, client: Client) -> Path | None:
        """Return the file of the skill, None when the client reads no skills."""
        return self.resolve(client.skills) / "kebab" / "SKILL.md" if client.skills else None

    def is_found(self, client: Client) -> bool:
        """Return whether this machine shows a sign of the client."""
        return self.resolve(client.folder).is_dir() or bool(
            shutil.which(client.program, path=self.environ.get("PATH", os.defpath))
        )

    def _find_folder(self, name: str) -> Path:
        if named := self.environ.get(_NAMED.get(name, "")):
            return Path(os.path.expanduser(named))  # noqa: PTH111 - a `~` of nobody is a name
        is_mac = self.system == "darwin"
        config = self.home / ".config"
        if not is_mac and (xdg := self.environ.get("XDG_CONFIG_HOME")):
            config = Path(xdg)
        if name in _OF_SYSTEM:
            return (self.home / "Library/Application Support" if is_mac else config) / _OF_SYSTEM[
                name
            ]
        if name in _IN_CONFIG:
            return config / name
        return self.home if name in ("home", "claude-state") else self.home / f".{name}"


def find_places() -> Places:
    """Return the places of this process."""
    return Places(os.environ, Path.home())


_WHEEL = Path(__file__).parents[1] / "_data" / "integrations"
_CHECKOUT = Path(__file__).parents[2] / "integrations"
_SKILL = Path("claude-code", "kebab", "SKILL.md")
_TITLE = b"\n# kebab\n\n"
_CONTEXT_LINES = 1
"""Few, because the lines beside an entry may be the secrets of another server."""


Place = tuple[str, str]
"""The name of the list of servers, and the name of the entry in it."""

_INDENT = re.compile(r"\n([ \t]+)\S")
_COMMENT = "it has comments or trailing commas, which would be lost; add the entry by hand"
_YAML_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)


class EntryError(ValueError):
    """A file cannot be edited safely; the text is the reason."""


class Found(NamedTuple):
    """The entry of a file, None when there is none, and all other values."""

    entry: Any
    others: dict[str, Any]


def find_entry(path: Path, text: str | None, place: Place) -> Found:
    """Return the entry of a file, and the values beside it.

    Raises:
        EntryError: The text cannot be read, or the list of servers is no object.
    """
    values = _read_values(path, text or "")
    servers = values.get(place[0], {})
    if not isinstance(servers, dict):
        raise EntryError(f"`{place[0]}` is no list of servers")
    others = {key: value for key, value in servers.items() if key != place[1]}
    rest = {key: value for key, value in values.items() if key != place[0]}
    return Found(servers.get(place[1]), {**rest, place[0]: others} if others else rest)


def change_entry(path: Path, text: str | None, place: Place, wanted: Entry | None) -> str | None:
    """Return the text with an entry, or without one when `wanted` is None.

    None stands for a file that does not exist. Members that kebab does not set stay in the entry.

    Raises:
        EntryError: The text cannot be read, or not be changed without other values.
    """
    found = find_entry(path, text, place)
    if wanted is not None and is_current(found.entry, wanted):
        return text
    if wanted is None and not found.others:
        return None
    entry = wanted
    if wanted is not None and keeps_members(found.entry):
        entry = {**found.entry, **wanted}
    change = _change_toml if path.suffix == ".toml" else _write_again
    changed = change(path, text or "", place, entry)
    if find_entry(path, changed, place) != (entry, found.others):
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
        where = f"line {fault.lineno}, column {fault.colno}"
        raise EntryError(f"{where}: it is no JSON, or {_COMMENT}") from fault
    except (RecursionError, ValueError, yaml.YAMLError) as fault:
        raise EntryError(str(fault)) from fault
    if not isinstance(values, dict):
        raise EntryError("it is no object")
    return values


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise EntryError(f"`{next(key for key in keys if keys.count(key) > 1)}` occurs twice")
    return values


def _write_again(path: Path, text: str, place: Place, entry: Entry | None) -> str:
    """Write all values again; JSON keeps its indentation."""
    values = _read_values(path, text)
    servers = values.setdefault(place[0], {})
    if entry is not None:
        servers[place[1]] = entry
    else:
        del servers[place[1]]
    if not servers:
        del values[place[0]]
    if path.suffix == ".yaml":
        return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    indent = _INDENT.search(text)
    return json.dumps(values, ensure_ascii=False, indent=indent[1] if indent else "  ") + "\n"


def _change_toml(path: Path, text: str, place: Place, entry: Entry | None) -> str:
    """Take the lines of the entry's table out, and add its table at the end; comments stay.

    Tables below it stay too, unless the entry is removed.
    """
    name = ".".join(place)
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
    text = ((_WHEEL if _WHEEL.exists() else _CHECKOUT) / _SKILL).read_bytes()
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
        place = client.container, NAME
        found = find_entry(path, old, place).entry
        new = change_entry(path, old, place, wanted)
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


def apply_plan(plan: FilePlan) -> InstalledFile:
    """Change the file; a skill that kebab did not write is kept as a copy beside it.

    Raises:
        IoError: The file cannot be written, or another program changed it meanwhile.
    """
    backup = None
    if plan.is_needed:
        with translate_os_errors(plan.path, "write"):
            target = Path(os.path.realpath(plan.path))
            # A new file could replace a write-protected one.
            if target.is_file() and not target.stat().st_mode & 0o222:
                raise PermissionError(errno.EACCES, "the file is write-protected")
            if _read(plan.path) != plan.before:
                raise OSError(errno.EBUSY, "another program changed the file meanwhile")
            if plan.kind == "skill":
                backup = keep_copy(plan.path, read_skill().decode())
            if plan.after is None:
                _remove(plan)
            else:
                plan.path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(plan.path, plan.after)
    return describe_plan(plan, backup)


def describe_plan(plan: FilePlan, backup: Path | None = None) -> InstalledFile:
    """Return the record of a planned change."""
    copy = None if backup is None else str(backup)
    return InstalledFile(kind=plan.kind, path=str(plan.path), change=plan.change, backup=copy)


def _remove(plan: FilePlan) -> None:
    """Remove a file, and the folder of a skill when it is empty; a link to the file stays."""
    Path(os.path.realpath(plan.path)).unlink()
    if plan.kind == "skill":
        with suppress(OSError):  # older copies are still in it
            plan.path.parent.rmdir()


def format_diff(plan: FilePlan) -> Iterator[str]:
    """Yield the difference that a change makes, as a unified diff."""
    if not plan.is_needed:
        return
    before, after = (
        (data or b"").decode("utf-8", "replace").splitlines() for data in (plan.before, plan.after)
    )
    name = str(plan.path)
    yield from difflib.unified_diff(before, after, name, name, n=_CONTEXT_LINES, lineterm="")


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


def plan_files(
    client: Client,
    places: Places,
    kinds: tuple[IntegrationKind, ...],
    entry: Entry | None,
) -> list[FilePlan]:
    """Return what is to be done with the files of a client; without an entry they are removed."""
    plans = []
    skill = places.find_skill(client) if "skill" in kinds else None
    if skill:
        plans.append(plan_skill(skill, uninstall=entry is None))
    if "mcp" in kinds:
        plans.append(plan_entry(client, places.resolve(client.entries), entry))
    return plans

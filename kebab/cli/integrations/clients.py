"""Lists the clients of agents that kebab installs itself in: their files and their MCP entry.

The comment of each recipe cites the page of its client that defines the file and its form.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from kebab import platform
from kebab.errors.system import resolve_path

Entry = dict[str, Any]
NAME = "kebab"
"""The name of the server in every client."""
REMOTE_KEYS = ("url", "httpUrl", "serverUrl")
"""The keys by which an entry names a server on the network instead of a program."""


class EntryError(ValueError):
    """A file cannot be edited safely; the text is the reason."""


def build_entry(
    fixed: Mapping[str, str], flags: Sequence[str], arguments: Sequence[str] = sys.argv
) -> Entry:
    """Return the entry that starts the MCP server as this process was started.

    `fixed` are the members that the client asks for besides the command.
    """
    program, *first = find_program(arguments)
    return {**fixed, "command": program, "args": [*first, "mcp", *flags]}


def find_program(arguments: Sequence[str]) -> list[str]:
    """Return the words that start this kebab with an absolute path.

    A client may have another `PATH` than the shell, so a bare name does not do. Links are kept,
    because those of pipx and uv stay when what they point to moves.
    """
    called = None
    with suppress(FileNotFoundError):  # the working folder was deleted
        called = Path(os.path.abspath(arguments[0])) if arguments and arguments[0] else None  # noqa: PTH100 - keeps links
    beside = Path(sys.executable).with_name(NAME)
    for path in (called, beside, beside.with_suffix(".exe")):
        if path and path.name in (NAME, f"{NAME}.exe") and path.is_file():
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


Scope = Literal["user", "project"]
_SKILL = Path("kebab", "SKILL.md")


class Client(Struct, frozen=True, kw_only=True):
    """A client: how it is recognised, and where it reads skills and MCP servers.

    A path begins with the name of a folder of `Places`.
    """

    name: str
    title: str
    folder: str
    """The folder that shows that the client is installed."""
    program: str
    """The program that shows it, too."""
    entries: Mapping[Scope, str]
    """The file with the list of MCP servers, by scope; some clients have none for a project."""
    container: str
    """The key of that list."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """What an entry says besides the command."""
    skills: Mapping[Scope, str] = field(default_factory=dict)
    """The folder of the skills, by scope; empty when the client reads none."""
    prefers_skill: bool = False
    """Whether the skill alone is installed unless the caller says otherwise."""


def _in_dot_folder(folder: str, name: str) -> dict[Scope, str]:
    """Return a path in the folder of a client, and in the hidden one of the same name."""
    return {"user": f"{folder}/{name}", "project": f"project/.{folder}/{name}"}


CLIENTS = (
    # https://code.claude.com/docs/en/skills: personal skills are read from
    # `~/.claude/skills/NAME/SKILL.md`, those of a project from `.claude/skills/NAME/SKILL.md`.
    # https://code.claude.com/docs/en/mcp, "MCP installation scopes": servers of the user are
    # stored in `~/.claude.json`, those of a project in `.mcp.json` in its root, as
    # `{"mcpServers": {"NAME": {"type": "stdio", "command": …, "args": […]}}}`. The page advises
    # `claude mcp add`; the file is edited directly, so that the change can be shown before.
    # https://code.claude.com/docs/en/env-vars: `CLAUDE_CONFIG_DIR` replaces `~/.claude`; the
    # program then keeps `.claude.json` in that folder.
    Client(
        name="claude-code",
        title="Claude Code",
        folder="claude",
        program="claude",
        entries={"user": "claude-state/.claude.json", "project": "project/.mcp.json"},
        container="mcpServers",
        fixed={"type": "stdio"},
        skills=_in_dot_folder("claude", "skills"),
        prefers_skill=True,
    ),
    # https://developers.openai.com/codex/mcp: Codex reads `[mcp_servers.NAME]` with `command` and
    # `args` from `~/.codex/config.toml`, and in trusted projects from `.codex/config.toml`.
    # https://developers.openai.com/codex/config-advanced: `CODEX_HOME` replaces `~/.codex`.
    # https://developers.openai.com/codex/skills: skills are read from `$HOME/.agents/skills` and
    # from `.agents/skills` of the repository.
    Client(
        name="codex",
        title="Codex",
        folder="codex",
        program="codex",
        entries=_in_dot_folder("codex", "config.toml"),
        container="mcp_servers",
        skills={"user": "home/.agents/skills", "project": "project/.agents/skills"},
    ),
    # https://cursor.com/docs/context/mcp: servers are in `~/.cursor/mcp.json` for every project
    # and in `.cursor/mcp.json` for one, as `{"mcpServers": {"NAME": {"type": "stdio", "command":
    # …, "args": […]}}}`. https://cursor.com/docs/context/skills: skills are read from
    # `~/.cursor/skills` and `.cursor/skills`.
    Client(
        name="cursor",
        title="Cursor",
        folder="cursor",
        program="cursor",
        entries=_in_dot_folder("cursor", "mcp.json"),
        container="mcpServers",
        fixed={"type": "stdio"},
        skills=_in_dot_folder("cursor", "skills"),
    ),
    # https://code.visualstudio.com/docs/copilot/reference/mcp-configuration: `mcp.json` is in the
    # workspace (`.vscode/mcp.json`) or in the user profile, as `{"servers": {"NAME": {"type":
    # "stdio", "command": …, "args": […]}}}`; `type` is required.
    # https://code.visualstudio.com/docs/configure/settings: the default profile is
    # `~/Library/Application Support/Code/User` or `~/.config/Code/User`.
    # https://code.visualstudio.com/docs/agent-customization/agent-skills: skills are read from
    # `~/.copilot/skills` and `.github/skills`.
    Client(
        name="vscode",
        title="Visual Studio Code",
        folder="vscode",
        program="code",
        entries=_in_dot_folder("vscode", "mcp.json"),
        container="servers",
        fixed={"type": "stdio"},
        skills={"user": "home/.copilot/skills", "project": "project/.github/skills"},
    ),
    # https://geminicli.com/docs/tools/mcp-server: servers are in `mcpServers` of
    # `~/.gemini/settings.json`, or of `.gemini/settings.json` in the root of a project; an entry
    # with `command` is started as a program, and `args` are its arguments.
    # https://geminicli.com/docs/cli/using-agent-skills: skills are read from `~/.gemini/skills`
    # and `.gemini/skills`.
    Client(
        name="gemini",
        title="Gemini CLI",
        folder="gemini",
        program="gemini",
        entries=_in_dot_folder("gemini", "settings.json"),
        container="mcpServers",
        skills=_in_dot_folder("gemini", "skills"),
    ),
    # https://zed.dev/docs/ai/mcp: a custom server is `{"context_servers": {"NAME": {"command": …,
    # "args": […]}}}` in the settings file; older versions of the page and of Zed also ask for
    # `"source": "custom"`. https://zed.dev/docs/configuring-zed: the settings file is
    # `~/.config/zed/settings.json`, with `XDG_CONFIG_HOME` on Linux `$XDG_CONFIG_HOME/zed`, and
    # `.zed/settings.json` in a project; it is JSON with comments.
    Client(
        name="zed",
        title="Zed",
        folder="zed",
        program="zed",
        entries=_in_dot_folder("zed", "settings.json"),
        container="context_servers",
        fixed={"source": "custom"},
    ),
    # https://modelcontextprotocol.io/docs/develop/connect-local-servers: the servers are in
    # `claude_desktop_config.json` in `~/Library/Application Support/Claude` or `~/.config/Claude`,
    # as `{"mcpServers": {"NAME": {"command": …, "args": […]}}}`.
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        folder="claude-desktop",
        program="claude-desktop",
        entries={"user": "claude-desktop/claude_desktop_config.json"},
        container="mcpServers",
    ),
    # https://docs.windsurf.com/windsurf/cascade/mcp: `~/.codeium/windsurf/mcp_config.json` has the
    # form of the file of Claude Desktop.
    Client(
        name="windsurf",
        title="Windsurf",
        folder="codeium/windsurf",
        program="windsurf",
        entries={"user": "codeium/windsurf/mcp_config.json"},
        container="mcpServers",
    ),
    # https://lmstudio.ai/docs/app/mcp: `~/.lmstudio/mcp.json` has the form of the file of Cursor.
    Client(
        name="lmstudio",
        title="LM Studio",
        folder="lmstudio",
        program="lms",
        entries={"user": "lmstudio/mcp.json"},
        container="mcpServers",
    ),
    # https://docs.continue.dev/customize/deep-dives/mcp: JSON files of other clients are read from
    # the folder `.continue/mcpServers` of the home and of the workspace.
    Client(
        name="continue",
        title="Continue",
        folder="continue",
        program="cn",
        entries=_in_dot_folder("continue", "mcpServers/kebab.json"),
        container="mcpServers",
    ),
)


_OF_SYSTEM = {"vscode": "Code/User", "zed": "zed", "claude-desktop": "Claude"}
"""The folders that depend on the system, below that of the settings of all programs."""


class Places(Struct, frozen=True):
    """The folders of this user and this project."""

    environ: Mapping[str, str]
    home: Path
    project: Path
    system: str = platform.SYSTEM

    def resolve(self, path: str) -> Path:
        """Return the absolute path for a path of a recipe."""
        folder, _, below = path.partition("/")
        return self._find_folder(folder) / below

    def find_skill(self, client: Client, scope: Scope) -> Path | None:
        """Return the file of the skill, None when the client reads no skills."""
        skills = client.skills.get(scope)
        return None if skills is None else self.resolve(skills) / _SKILL

    def is_found(self, client: Client) -> bool:
        """Return whether this machine shows a sign of the client."""
        return self.resolve(client.folder).is_dir() or bool(
            shutil.which(client.program, path=self.environ.get("PATH", os.defpath))
        )

    def _find_folder(self, name: str) -> Path:
        if name in ("home", "project"):
            return self.home if name == "home" else self.project
        if name in _OF_SYSTEM:
            return self._find_system_folder(name)
        named, usual = {
            "claude": ("CLAUDE_CONFIG_DIR", self.home / ".claude"),
            "claude-state": ("CLAUDE_CONFIG_DIR", self.home),
            "codex": ("CODEX_HOME", self.home / ".codex"),
        }.get(name, ("", self.home / f".{name}"))
        value = self.environ.get(named)
        return Path(os.path.expanduser(value)) if value else usual  # noqa: PTH111 - a `~` of nobody is a name

    def _find_system_folder(self, name: str) -> Path:
        """Return the folder of the user's settings of a program; it depends on the system."""
        below = _OF_SYSTEM[name]
        usual = self.home / ".config"
        if self.system == "darwin":
            below_library = self.home / "Library/Application Support" / below
            return usual / below if name == "zed" else below_library
        return Path(self.environ.get("XDG_CONFIG_HOME") or usual) / below


def find_places() -> Places:
    """Return the places of this process."""
    return Places(os.environ, Path.home(), Path(resolve_path(".")))


def find_client(name: str) -> Client:
    """Return the client of a name."""
    return next(client for client in CLIENTS if client.name == name)

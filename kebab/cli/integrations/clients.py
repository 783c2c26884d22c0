"""Lists the clients of agents that kebab installs itself in: their files and their MCP entry.

The comment of each client names the pages that define its files and their form.
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


Scope = Literal["user", "project"]


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
    container: str = "mcpServers"
    """The key of that list."""
    fixed: Entry = field(default_factory=dict)
    """What an entry says besides the command."""
    program_key: str = "command"
    """The member with the program."""
    has_arguments: bool = True
    """Whether the arguments are a member `args`, and not the rest of the program's list."""
    skills: Mapping[Scope, str] = field(default_factory=dict)
    """The folder of the skills, by scope; empty when the client reads none."""
    prefers_skill: bool = False
    """Whether the skill alone is installed unless the caller says otherwise."""

    def build_entry(self, flags: Sequence[str], arguments: Sequence[str] = sys.argv) -> Entry:
        """Return the entry that starts the MCP server as this process was started."""
        program, *first = find_program(arguments)
        words = [*first, "mcp", *flags]
        if self.has_arguments:
            return {**self.fixed, self.program_key: program, "args": words}
        return {**self.fixed, self.program_key: [program, *words]}


def _in_dot_folder(folder: str, name: str) -> dict[Scope, str]:
    """Return a path in the folder of a client, and in the hidden one of the same name."""
    return {"user": f"{folder}/{name}", "project": f"project/.{folder}/{name}"}


CLIENTS = (
    # https://code.claude.com/docs/en/skills, https://code.claude.com/docs/en/mcp. The page advises
    # `claude mcp add`; the file is edited directly, so that the change can be shown before.
    Client(
        name="claude-code",
        title="Claude Code",
        folder="claude",
        program="claude",
        entries={"user": "claude-state/.claude.json", "project": "project/.mcp.json"},
        fixed={"type": "stdio"},
        skills=_in_dot_folder("claude", "skills"),
        prefers_skill=True,
    ),
    # https://developers.openai.com/codex/mcp, https://developers.openai.com/codex/skills
    Client(
        name="codex",
        title="Codex",
        folder="codex",
        program="codex",
        entries=_in_dot_folder("codex", "config.toml"),
        container="mcp_servers",
        skills={"user": "home/.agents/skills", "project": "project/.agents/skills"},
    ),
    # https://cursor.com/docs/context/mcp, https://cursor.com/docs/context/skills
    Client(
        name="cursor",
        title="Cursor",
        folder="cursor",
        program="cursor",
        entries=_in_dot_folder("cursor", "mcp.json"),
        fixed={"type": "stdio"},
        skills=_in_dot_folder("cursor", "skills"),
    ),
    # https://code.visualstudio.com/docs/copilot/reference/mcp-configuration,
    # https://code.visualstudio.com/docs/agent-customization/agent-skills
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
    # https://geminicli.com/docs/tools/mcp-server,
    # https://geminicli.com/docs/cli/using-agent-skills
    Client(
        name="gemini",
        title="Gemini CLI",
        folder="gemini",
        program="gemini",
        entries=_in_dot_folder("gemini", "settings.json"),
        skills=_in_dot_folder("gemini", "skills"),
    ),
    # https://zed.dev/docs/ai/mcp; older versions ask for `"source": "custom"`.
    Client(
        name="zed",
        title="Zed",
        folder="zed",
        program="zed",
        entries=_in_dot_folder("zed", "settings.json"),
        container="context_servers",
        fixed={"source": "custom"},
    ),
    # https://modelcontextprotocol.io/docs/develop/connect-local-servers
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        folder="claude-desktop",
        program="claude-desktop",
        entries={"user": "claude-desktop/claude_desktop_config.json"},
    ),
    # https://docs.windsurf.com/windsurf/cascade/mcp
    Client(
        name="windsurf",
        title="Windsurf",
        folder="codeium/windsurf",
        program="windsurf",
        entries={"user": "codeium/windsurf/mcp_config.json"},
    ),
    # https://lmstudio.ai/docs/app/mcp
    Client(
        name="lmstudio",
        title="LM Studio",
        folder="lmstudio",
        program="lms",
        entries={"user": "lmstudio/mcp.json"},
    ),
    # https://docs.continue.dev/customize/deep-dives/mcp: a folder with the files of other clients.
    Client(
        name="continue",
        title="Continue",
        folder="continue",
        program="cn",
        entries=_in_dot_folder("continue", "mcpServers/kebab.json"),
    ),
    # https://opencode.ai/docs/mcp-servers: the list `command` has the arguments, too.
    Client(
        name="opencode",
        title="OpenCode",
        folder="opencode",
        program="opencode",
        entries={"user": "opencode/opencode.json", "project": "project/opencode.json"},
        container="mcp",
        fixed={"type": "local", "enabled": True},
        has_arguments=False,
    ),
    # https://block.github.io/goose/docs/guides/config-files
    Client(
        name="goose",
        title="Goose",
        folder="goose",
        program="goose",
        entries={"user": "goose/config.yaml"},
        container="extensions",
        fixed={"type": "stdio", "name": NAME, "enabled": True},
        program_key="cmd",
    ),
)


_NAMED = {"claude": "CLAUDE_CONFIG_DIR", "claude-state": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
"""The environment variables that name a folder."""

_IN_CONFIG = ("zed", "opencode", "goose")
"""The folders in `~/.config` on every system."""

_OF_SYSTEM = {"vscode": "Code/User", "claude-desktop": "Claude"}
"""The folders that depend on the system, below that of the settings of all programs."""


class Places(Struct, frozen=True):
    """The folders of this user and this project."""

    environ: Mapping[str, str]
    home: Path
    project: Path
    system: str = platform.SYSTEM

    def resolve(self, path: str) -> Path:
        """Return the absolute path for a path of a client."""
        folder, _, below = path.partition("/")
        return self._find_folder(folder) / below

    def find_skill(self, client: Client, scope: Scope) -> Path | None:
        """Return the file of the skill, None when the client reads no skills."""
        skills = client.skills.get(scope)
        return None if skills is None else self.resolve(skills) / "kebab" / "SKILL.md"

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
        usual = {"home": self.home, "claude-state": self.home, "project": self.project}
        return usual.get(name, self.home / f".{name}")


def find_places() -> Places:
    """Return the places of this process."""
    return Places(os.environ, Path.home(), Path(resolve_path(".")))


def find_client(name: str) -> Client:
    """Return the client of a name."""
    return next(client for client in CLIENTS if client.name == name)

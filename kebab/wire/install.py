"""Declares what `install` did, would do, and finds."""

from typing import Literal

from msgspec import Struct, field

from kebab.wire.record import Reply

IntegrationKind = Literal["skill", "mcp"]
FileChange = Literal["create", "replace", "keep", "remove", "none", "add", "update"]
IntegrationState = Literal["absent", "current", "outdated", "invalid"]


class InstalledFile(Struct, frozen=True, kw_only=True):
    """A file of a client, and what was done with it."""

    kind: IntegrationKind
    """`skill` is a text that explains kebab, `mcp` a file that lists kebab as an MCP server."""
    path: str
    """The file."""
    change: FileChange
    """The change as in `install_report.v1`."""
    backup: str | None = None
    """The copy of an edited skill; null when none was needed."""


class InstallReport(Reply, frozen=True, kw_only=True, tag="install_report.v1"):
    """What `install` did with the files of a client.

    `path`, `change` and `backup` are those of the first file that changed, else of the first one.
    """

    integration: str
    """The program that uses kebab, such as `claude-code`."""
    path: str
    """The file."""
    change: FileChange
    """The change. `keep` leaves the file as it is, `none` found nothing to remove. In a file that
    also has other settings `add` and `update` change the entry of kebab only, and `remove` leaves
    the other settings."""
    backup: str | None = None
    """The copy of an edited file; null when none was needed."""
    files: list[InstalledFile] = field(default_factory=list)
    """All files, the skill first."""
    dry_run: bool = False
    """Whether nothing was written, because the caller only wants to see the change."""


class InstallSnippet(Reply, frozen=True, kw_only=True, tag="install_snippet.v1"):
    """The entry for the MCP server of kebab, to be added by hand."""

    integration: str
    """The client."""
    path: str
    """The file that the client reads."""
    snippet: str
    """The entry with the object that it belongs to, in the format of the file."""


class InstallableClient(Struct, frozen=True, kw_only=True):
    """A client, and what of kebab is installed in it."""

    name: str
    """The name for `kebab install`."""
    title: str
    """The name for people."""
    found: bool
    """Whether this machine shows a sign of the client."""
    mcp: IntegrationState
    """The entry for the MCP server; `outdated` starts another kebab or with other flags, `invalid`
    means that the file cannot be read or changed safely."""
    mcp_path: str
    """The file of the entry."""
    skill: IntegrationState | None = None
    """The skill; null when the client reads no skills."""
    skill_path: str | None = None
    """The file of the skill."""


class InstallOverview(Reply, frozen=True, kw_only=True, tag="install_overview.v1"):
    """The clients in which kebab can be installed."""

    clients: list[InstallableClient]
    """The clients in the order of help."""

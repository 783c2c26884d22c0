"""Declares the help of a command and the version as wire records."""

from typing import Any

from msgspec import Struct

from kebab.wire.record import Reply


class HelpArgument(Struct, frozen=True, kw_only=True):
    """An argument of a command, named by its position."""

    name: str
    """The name as in the usage line, such as `QUERY`."""
    type: str
    """The type of a value: `text`, `integer`, `float`, `choice` or `path`."""
    choices: list[str] = []
    """The allowed values; empty when every value of the type is allowed."""
    required: bool = True
    """Whether the argument must be given."""
    repeatable: bool = False
    """Whether several values can be given."""


class HelpOption(Struct, frozen=True, kw_only=True):
    """A flag of a command."""

    name: str
    """The long spelling, such as `--limit`."""
    short: str | None = None
    """The short spelling, such as `-n`."""
    others: list[str] = []
    """Further spellings; a flag that ends a pair, such as `--no-color`, is one of them."""
    type: str
    """The type of the value as in `HelpArgument`, or `boolean` for a flag without a value."""
    metavar: str | None = None
    """The placeholder for the value in help; null for a flag without a value."""
    choices: list[str] = []
    """The allowed values; empty when every value of the type is allowed."""
    minimum: float | None = None
    """The lowest allowed number."""
    maximum: float | None = None
    """The highest allowed number."""
    default: Any = None
    """The value that holds when the flag is not given; null when the settings decide or there is
    none."""
    required: bool = False
    """Whether the flag must be given."""
    repeatable: bool = False
    """Whether the flag can be given several times."""
    shared: bool = False
    """Whether every command has the flag."""
    help: str
    """The meaning in one sentence."""


class HelpExit(Struct, frozen=True, kw_only=True):
    """An exit status of a command."""

    status: int
    """The exit status."""
    meaning: str
    """The meaning."""


class HelpCommand(Struct, frozen=True, kw_only=True):
    """A command below another one."""

    name: str
    """The name below its parent."""
    summary: str
    """The purpose in one sentence."""


class Help(Reply, frozen=True, kw_only=True, tag="help.v1"):
    """The help of one command, as `--help` shows it."""

    name: str
    """The command with its parents, such as `kebab model pull`."""
    usage: str
    """The usage line."""
    summary: str
    """The purpose in one sentence."""
    description: str
    """What the command does; Markdown."""
    arguments: list[HelpArgument]
    """The arguments in order."""
    options: list[HelpOption]
    """The flags, those that every command has last."""
    commands: list[HelpCommand]
    """The commands below this one."""
    examples: list[str]
    """Examples for a shell."""
    exits: list[HelpExit]
    """The exit statuses."""


class HelpTopic(Struct, frozen=True, kw_only=True):
    """A page of the documentation."""

    name: str
    """The name for `kebab help`."""
    summary: str
    """What the page is about."""


class HelpTopics(Reply, frozen=True, kw_only=True, tag="help_topics.v1"):
    """The pages of the documentation."""

    topics: list[HelpTopic]
    """The pages, those for everyone first."""


class HelpPage(Reply, frozen=True, kw_only=True, tag="help_page.v1"):
    """A page of the documentation."""

    topic: str
    """The name of the page."""
    text: str
    """The page; Markdown."""


class Version(Reply, frozen=True, kw_only=True, tag="version.v1"):
    """The version of kebab, as `--version` shows it."""

    kebab_version: str
    """The version of kebab."""


class CommandUsage(Struct, frozen=True, kw_only=True):
    """One command on one line."""

    usage: str
    """The words and flags after `kebab`; each one in `[ ]` can be left out, `…` can be repeated."""
    summary: str
    """The purpose in one sentence."""


class CommandList(Reply, frozen=True, kw_only=True, tag="command_list.v1"):
    """Every command with its flags, short enough to be read in one call."""

    global_flags: str
    """The flags that every command takes."""
    filters: str
    """The flags that `FILTERS` stands for; repeated values of one flag are alternatives."""
    modes: str = ""
    """The values that `MODE` stands for."""
    commands: list[CommandUsage]
    """The commands in the order of help."""
    exits: dict[str, str]
    """The meaning of each exit status."""


class SchemaDocument(Reply, frozen=True, kw_only=True, tag="schema_document.v1"):
    """One published schema."""

    name: str
    """The name of the schema, such as `search_response.v1`."""
    document: dict[str, Any]
    """The schema, JSON Schema 2020-12."""


class CompletionScript(Reply, frozen=True, kw_only=True, tag="completion_script.v1"):
    """The script that makes a shell complete the words of kebab."""

    shell: str
    """The shell."""
    script: str
    """The script."""

"""Declares pages of help, the list of commands and the version as wire records."""

from typing import Any

from msgspec import Struct

from kebab.wire.record import Reply


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
    """A page of the documentation, or the help of a command as `--help` shows it."""

    topic: str
    """The name of the page, or the command with its parents, such as `kebab model pull`."""
    text: str
    """The page in Markdown, or the help as text."""


class Version(Reply, frozen=True, kw_only=True, tag="version.v1"):
    """The version of kebab, as `--version` shows it."""

    kebab_version: str
    """The version of kebab."""


class CommandUsage(Struct, frozen=True, kw_only=True):
    """One command on one line."""

    usage: str
    """The words and flags after `kebab`; flags and words in `[ ]` may be left out, `…` repeats."""
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

"""Parses with the formats of plugins, in worker processes; `kebab.plugins` finds them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from kebab.config.settings import Plugins
from kebab.core.documents import ParsedDocument
from kebab.core.media import READABLE_NAMES, format_stored_media, is_built_in
from kebab.core.ports import Parser
from kebab.errors.catalog import ParseFailed
from kebab.limits.worker import runs_in_worker
from kebab.parse.registry import parse_in_part
from kebab.plugins import Plugin, inspect_plugins

_PARTS: Any = tuple[tuple([*ParsedDocument.__annotations__.values()][:-1])]  # type: ignore[misc]
"""The types of the fields of a document but the last one."""


class PluginParser:
    """The parser of a plugin, which is imported in a worker process only."""

    isolated = True

    def __init__(self, plugin: Plugin, version: str) -> None:
        self.version = version
        self._plugin = plugin

    @property
    def recipe(self) -> str:
        """What decides the text of a document: the versions of the parser and of its package."""
        return f"{self.version} {self._plugin.package} {self._plugin.version}"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The plugin refuses the bytes, or returns no document, or this is no worker.
        """
        if not runs_in_worker():
            cause = "no worker process can be started, and plugins are run in no other"
            raise ParseFailed(path=path, parser=self.version, cause=cause)
        document = parse_in_part(self._plugin.load().parser, data, path)
        try:
            return _copy_document(document)
        except (ValueError, TypeError, OverflowError) as fault:
            cause = f"the parser {self._plugin.label} returned no document"
            if isinstance(document, ParsedDocument):
                cause += f" that can be used: {fault}"
            raise ParseFailed(path=path, parser=self.version, cause=cause) from fault


def _copy_document(document: Any) -> ParsedDocument:
    """Return a document of the declared types only, so that the caller can unpickle it.

    Raises:
        ValueError: A part has another type or cannot be stored, or a block is outside of the text.
        TypeError: It is no document, or a part cannot be encoded.
        OverflowError: A number is too large.
    """
    if not isinstance(document, ParsedDocument):
        raise TypeError("it is no `ParsedDocument`")
    if not isinstance(document.text, str):
        raise TypeError("its text is no `str`")
    # A plugin does not say why a model of kebab failed, which is the last field.
    data = msgspec.json.encode(tuple(document)[:-1], enc_hook=_encode_text)
    copy = ParsedDocument(*msgspec.json.decode(data, type=_PARTS))
    end = 0
    for block in copy.blocks:
        if not end <= block.start < block.end <= len(copy.text):
            raise ValueError(f"a block is out of order: {block.start} to {block.end}")
        end = block.end
    return copy


def _encode_text(value: object) -> str:
    if isinstance(value, str):  # libraries such as Beautiful Soup derive classes from it
        return str(value)
    raise TypeError(f"it has a {type(value).__name__}")


class Formats(NamedTuple):
    """The formats of plugins.

    `parsers` are by media type, `media` is the media type by suffix or file name. `faults` says of
    each plugin, or part of one, that is not used, why.
    """

    parsers: Mapping[str, Parser]
    media: Mapping[str, str]
    faults: tuple[str, ...] = ()


def find_formats(settings: Plugins) -> Formats:
    """Return the formats of all plugins that can be used."""
    parsers, media, faults = dict[str, Parser](), dict[str, str](), list[str]()
    for plugin, facts in inspect_plugins(settings, faults):
        row = facts.media
        assert row is not None, "a parser has a media type"
        stored = format_stored_media(row)
        if is_built_in(row.name) or stored in parsers:
            owner = "kebab itself" if is_built_in(row.name) else "another plugin"
            faults.append(f"{plugin.label}: {owner} reads {row.name}")
            continue
        for name in (*row.suffixes, *row.names):
            if name in media or name in READABLE_NAMES:
                owner = "another plugin" if name in media else "kebab itself"
                faults.append(f"{plugin.label}: {owner} reads {name}")
            else:
                media[name] = stored
        parsers[stored] = PluginParser(plugin, facts.version)
    return Formats(parsers, media, tuple(faults))


def find_parser(settings: Plugins, parsers: Mapping[str, Parser], media: str) -> Parser:
    """Return the parser of a stored document; plugins are asked only where kebab has none."""
    if parser := parsers.get(media):
        return parser
    return find_formats(settings).parsers.get(media) or parsers["text/plain"]

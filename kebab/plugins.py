"""Finds what other packages add to kebab through entry points, and checks it.

A plugin is an entry point of `GROUP`. It is imported in the process of the command; its parser runs
always in a worker. `docs/plugins.md` shows how to write one.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any, NamedTuple

from kebab.config.settings import Plugins
from kebab.core.media import CitationKind, MediaType
from kebab.core.ports import Parser
from kebab.errors.signal import Signal

GROUP = "kebab.parsers"

_MEDIA_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*")


class PluginError(Exception):
    """A plugin cannot be used; the text says why."""


class Format(NamedTuple):
    """What an entry point of `kebab.parsers` names: a file format and its parser."""

    media: MediaType
    parser: Parser


class Plugin(NamedTuple):
    """An entry point: its name, the object as `module:name`, and who installed it."""

    name: str
    target: str
    package: str
    version: str

    @property
    def label(self) -> str:
        """The plugin with its package, for a person."""
        return f"`{self.name}` of {self.package} {self.version}"

    def load(self) -> Any:
        """Import the object; this runs the code of the plugin."""
        from importlib.metadata import EntryPoint

        return EntryPoint(self.name, self.target, GROUP).load()


class _Nothing(StringIO):
    """Takes any text and keeps none; it is never closed, as threads may end in any order."""

    def write(self, text: str, /) -> int:
        return len(text)


@contextmanager
def drop_output() -> Iterator[None]:
    """Drop what a plugin prints, because stdout may be read by a program."""
    with redirect_stdout(_Nothing()):
        yield


def describe_fault(fault: BaseException) -> str:
    """Return what a plugin raised in one line."""
    try:
        if isinstance(fault, Signal):
            return fault.format_message()
        return f"{type(fault).__name__}: {fault}"
    except Exception:  # noqa: BLE001 - a plugin may raise anything, also from here
        return type(fault).__name__


class Facts(NamedTuple):
    """What the inspection of a plugin tells."""

    media: MediaType
    version: str


def find_plugins(settings: Plugins) -> list[Plugin]:
    """Return the entry points, sorted by name; none when plugins are off."""
    if not settings.enabled:
        return []
    from importlib.metadata import entry_points

    found = {
        Plugin(one.name, one.value.replace(" ", ""), one.dist.name, one.dist.version)
        for one in entry_points(group=GROUP)
        if one.dist is not None
    }
    return sorted(found)


def inspect_plugin(plugin: Plugin) -> Facts:
    """Import a plugin, and return its facts.

    Raises:
        PluginError: It cannot be imported or is no format.
    """
    try:
        with drop_output():
            return check_format(plugin.load())
    except PluginError:
        raise
    except (Exception, SystemExit) as fault:  # a plugin may raise anything
        raise PluginError(describe_fault(fault)) from fault


def _require(condition: object, cause: str) -> None:
    if not condition:
        raise PluginError(cause)


def check_format(found: Any) -> Facts:
    """Return the facts of a format.

    Raises:
        PluginError: It cannot be used.
    """
    _require(isinstance(found, Format), "it is no `kebab.plugins.Format`")
    media, parser = found
    _require(isinstance(media, MediaType), "its `media` is no `MediaType`")
    _require(_MEDIA_NAME.fullmatch(media.name), f"no media type: {media.name}")
    names = (*media.suffixes, *media.names)
    _require(names and all(name == name.lower() for name in names), "its suffixes are not lower")
    _require(all(one.startswith(".") for one in media.suffixes), "a suffix begins with no dot")
    _require(media.cites is not CitationKind.CODE, "its files cannot be cited as code")
    _require(callable(getattr(parser, "parse", None)), "its parser has no `parse`")
    version = getattr(parser, "version", None)
    _require(isinstance(version, str) and version, "its parser has no `version`")
    return Facts(MediaType(*media), str(version))


def inspect_plugins(settings: Plugins, faults: list[str]) -> Iterator[tuple[Plugin, Facts]]:
    """Yield the plugins that can be used, with their facts; add the reasons of others to `faults`.

    Of two plugins with one name the first is used.
    """
    seen: dict[str, Plugin] = {}
    for plugin in find_plugins(settings):
        first = seen.setdefault(plugin.name, plugin)
        if first is not plugin:
            faults.append(f"{plugin.label}: {first.package} has a plugin of the same name")
            continue
        try:
            facts = inspect_plugin(plugin)
        except PluginError as error:
            faults.append(f"{plugin.label}: {error}")
        else:
            yield plugin, facts

"""Finds what other packages add to kebab through entry points, and checks it in a worker process.

A plugin is an entry point of one of `GROUPS`. Its code runs in this process only when it is a rule
or a language model that a command uses; a parser always runs in a worker.
`docs/plugins.md` shows how to write one.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, get_args

import msgspec

from kebab.config.settings import Plugins, Settings
from kebab.core.answers import Completion
from kebab.core.chunks import Place
from kebab.core.documents import Block, Metadata, ParsedDocument
from kebab.core.media import (
    READABLE_NAMES,
    CitationKind,
    MediaType,
    format_stored_media,
    is_built_in,
)
from kebab.core.ports import Parser
from kebab.errors.catalog import ConfigInvalid, DependencyMissing, ModelProtocol, ParseFailed
from kebab.errors.signal import Signal

PARSERS, PROVIDERS, RULES = "kebab.parsers", "kebab.providers", "kebab.rules"
GROUPS = (PARSERS, PROVIDERS, RULES)

OWN_PROVIDERS = ("ollama", "openai", "extractive")
"""The providers of kebab itself."""

IMPORT_S = 30.0
"""The longest time by the clock in which a plugin must be imported."""

_MEDIA_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")


class PluginError(Exception):
    """A plugin cannot be used; the text says why."""


class Format(NamedTuple):
    """What an entry point of `kebab.parsers` names: a file format and its parser."""

    media: MediaType
    parser: Parser


class Plugin(NamedTuple):
    """An entry point: its group and name, the object as `module:name`, and who installed it."""

    group: str
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
        module, _, names = self.target.partition(":")
        found: Any = import_module(module)
        for name in filter(None, names.split(".")):
            found = getattr(found, name)
        return found


class Facts(NamedTuple):
    """What the inspection of a plugin tells: the parts that its group has."""

    media: MediaType | None = None
    version: str = ""
    names: tuple[str, ...] = ()


def find_plugins(settings: Plugins, *groups: str) -> list[Plugin]:
    """Return the entry points of some groups, sorted by name; none when plugins are off."""
    if not settings.enabled:
        return []
    from importlib.metadata import entry_points

    found = {
        Plugin(group, one.name, one.value.replace(" ", ""), one.dist.name, one.dist.version)
        for group in groups
        for one in entry_points(group=group)
        if one.dist is not None
    }
    return sorted(found)


@cache
def inspect_plugin(plugin: Plugin) -> Facts:
    """Return the facts of a plugin, which a worker process imports under limits.

    Raises:
        PluginError: It cannot be imported or is not what its group promises.
    """
    from kebab.limits.worker import DEFAULT_MEMORY_MB, START_S, WorkerProcess

    try:
        worker = WorkerProcess(_inspect, DEFAULT_MEMORY_MB)
    except OSError as fault:
        raise PluginError(f"no process can be started: {fault.strerror}") from fault
    with worker:
        if not worker.poll(START_S) or worker.receive() is None:
            raise PluginError("no process can be started")
        worker.send(plugin)
        if not worker.poll(IMPORT_S):
            raise PluginError(f"its import takes more than {IMPORT_S:.0f} s")
        reply = worker.receive()
        if reply is None:
            raise PluginError(worker.explain_end().replace("the parser", "its import"))
    if isinstance(reply.result, Facts):
        return reply.result
    raise PluginError(str(reply.result or reply.fault))


def _inspect(plugin: Plugin) -> Facts | str:
    """Return the facts of a plugin, or why it cannot be used; this runs in the worker."""
    try:
        return _CHECKS[plugin.group](plugin.load())
    except MemoryError:
        raise
    except BaseException as fault:  # noqa: BLE001 - a plugin may raise anything
        kind = "" if isinstance(fault, PluginError) else f"{type(fault).__name__}: "
        return f"{kind}{fault}"


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


def _check_provider(found: Any) -> Facts:
    _require(callable(found), "it cannot be called")
    return Facts()


def _check_rule(found: Any) -> Facts:
    from kebab.wire.review import SeverityName

    rule = found() if isinstance(found, type) else found
    _require(_NAME.fullmatch(str(getattr(rule, "id", ""))), "it has no `id`")
    _require(rule.severity in get_args(SeverityName), f"no severity: {rule.severity}")
    _require(isinstance(rule.kind, str) and isinstance(rule.example, str), "no `kind`, `example`")
    _require(type(rule).__doc__, "its docstring, which explains it, is missing")
    _require(callable(rule.check), "it has no `check`")
    return Facts(names=(str(rule.id),))


_CHECKS = {
    PARSERS: check_format,
    PROVIDERS: _check_provider,
    RULES: _check_rule,
}


_PARTS: Any = tuple[
    str,
    str,
    tuple[Block, ...],
    Metadata,
    str | None,
    str,
    tuple[str, ...],
    tuple[Place, ...],
    tuple[str, ...],
]
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
            ParseFailed: The plugin refuses the bytes, or returns no document.
        """
        document = self._plugin.load().parser.parse(data, path)
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


class MissingParser:
    """Stands for the parser of stored documents whose plugin is gone, off or broken.

    It has no recipe, so that unchanged documents stay as they are.
    """

    version, recipe = "", None

    def __init__(self, media: str, package: str, *, enabled: bool) -> None:
        self._media = media
        self._install = (
            f"pip install --upgrade {package}" if enabled else "export KEBAB_PLUGINS_ENABLED=true"
        )

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Refuse the file.

        Raises:
            DependencyMissing: Always.
        """
        del data, path
        raise DependencyMissing(feature=f"the plugin for {self._media}", install=self._install)


class Formats(NamedTuple):
    """The formats of plugins.

    `parsers` are by media type. `media` has the media type and the package by suffix or file name.
    `faults` says of each plugin, or part of one, that is not used, why.
    """

    parsers: Mapping[str, Parser]
    media: Mapping[str, tuple[str, str]]
    faults: tuple[str, ...] = ()


def find_formats(settings: Plugins) -> Formats:
    """Return the formats of all plugins that can be used."""
    parsers, media, faults = dict[str, Parser](), dict[str, tuple[str, str]](), list[str]()
    for plugin, facts in inspect_plugins(settings, faults, PARSERS):
        row = facts.media
        assert row is not None, "a parser has a media type"
        may_replace = plugin.name in settings.replace
        stored = format_stored_media(row)
        if is_built_in(row.name) and not may_replace:
            faults.append(f"{plugin.label}: kebab itself reads {row.name}")
            continue
        if is_built_in(row.name) and stored != row.name:
            faults.append(f"{plugin.label}: {row.name} is cited in another way")
            continue
        if stored in parsers:
            faults.append(f"{plugin.label}: another plugin reads {row.name}")
            continue
        for name in (*row.suffixes, *row.names):
            owner = "another plugin" if name in media else "kebab itself"
            if name in media or (name in READABLE_NAMES and not may_replace):
                faults.append(f"{plugin.label}: {owner} reads {name}")
            else:
                media[name] = (stored, plugin.package)
        parsers[stored] = PluginParser(plugin, facts.version)
    return Formats(parsers, media, tuple(faults))


def inspect_plugins(
    settings: Plugins, faults: list[str], *groups: str
) -> Iterator[tuple[Plugin, Facts]]:
    """Yield the plugins that can be used, with their facts; add the reasons of others to `faults`.

    Of two plugins of a group with one name the first is used.
    """
    seen: dict[tuple[str, str], Plugin] = {}
    for plugin in find_plugins(settings, *groups):
        first = seen.setdefault((plugin.group, plugin.name), plugin)
        if first is not plugin:
            faults.append(f"{plugin.label}: {first.package} has a plugin of the same name")
            continue
        try:
            facts = inspect_plugin(plugin)
        except PluginError as error:
            faults.append(f"{plugin.label}: {error}")
        else:
            yield plugin, facts


_PROVIDER_SETTING = "models.llm.provider"


class PluginModel:
    """A language model of a plugin; whatever it raises becomes a signal."""

    def __init__(self, settings: Settings, name: str, operation: str) -> None:
        """Import the plugin and build its model.

        Raises:
            ConfigInvalid: No plugin has the provider of the settings, or it cannot be used.
        """
        llm = settings.models.llm
        found = [
            one for one in find_plugins(settings.plugins, PROVIDERS) if one.name == llm.provider
        ]
        if not found:
            off = "" if settings.plugins.enabled else "; plugins are off"
            cause = f"no provider `{llm.provider}`: {', '.join(OWN_PROVIDERS)}, or a plugin{off}"
            raise ConfigInvalid(path=_PROVIDER_SETTING, cause=cause)
        plugin = found[0]
        self.label, self._operation = plugin.label, operation
        try:
            self._model: Any = plugin.load()(llm, name)
            self.name, self.context_tokens = name, int(self._model.context_tokens)
        except (Exception, SystemExit) as fault:
            if isinstance(fault, Signal):
                raise
            cause = f"{plugin.label}: {_describe_fault(fault)}"
            raise ConfigInvalid(path=_PROVIDER_SETTING, cause=cause) from fault

    def chat(self, *arguments: Any, **options: Any) -> Completion:
        """Return the answer of the model.

        Raises:
            ModelProtocol: The plugin failed.
        """
        own = list[BaseException]()
        on_text = options["on_text"]

        def relay(text: str) -> None:
            try:
                on_text(_replace_surrogates(text))
            except BaseException as fault:
                own.append(fault)
                raise

        try:
            completion = self._model.chat(*arguments, **{**options, "on_text": relay})
            found = msgspec.convert(msgspec.to_builtins(completion), Completion)
        except (Exception, SystemExit) as fault:
            if own:  # the caller cannot go on, for example because its reader is gone
                raise own[0] from None
            if isinstance(fault, Signal):
                raise
            cause = _describe_fault(fault)
            raise build_provider_failure(self.label, self._operation, cause) from fault
        return msgspec.structs.replace(found, text=_replace_surrogates(found.text))


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _describe_fault(fault: BaseException) -> str:
    try:
        return f"{type(fault).__name__}: {fault}"
    except Exception:  # noqa: BLE001 - a plugin may raise anything, also from here
        return type(fault).__name__


def build_provider_failure(provider: str, operation: str, cause: str) -> ModelProtocol:
    """Return the error of a model of a plugin."""
    return ModelProtocol(endpoint=provider, operation=operation, cause=cause)

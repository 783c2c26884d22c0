"""Finds what other packages add to kebab through entry points, and checks it in a worker process.

A plugin is an entry point of one of `GROUPS`. Its code runs in this process only when it is a rule
or a language model that a command uses; a parser or an embedding model always runs in a worker.
`docs/plugins.md` shows how to write one.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, get_args

import msgspec

import kebab
from kebab.config.settings import Plugins, find_cache_folder
from kebab.core.media import CitationKind, MediaType
from kebab.core.ports import Parser
from kebab.errors.catalog import DependencyMissing
from kebab.errors.signal import Signal

EMBEDDERS = "kebab.embedders"
PARSERS, PROVIDERS, RULES = "kebab.parsers", "kebab.providers", "kebab.rules"
GROUPS = (EMBEDDERS, PARSERS, PROVIDERS, RULES)

OWN_PROVIDERS = ("ollama", "openai", "extractive")
"""The providers of kebab itself."""

IMPORT_S = 30.0
"""The longest time by the clock in which a plugin must be imported."""

_MAX_DIMENSION, _MIN_WINDOW = 8_192, 16

INSPECTIONS = "plugins.json"
"""The file of what is known about plugins, in the cache folder of the user."""

_MEDIA_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_MODEL_NAME = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")


class PluginError(Exception):
    """A plugin cannot be used; the text says why."""


class Format(NamedTuple):
    """What an entry point of `kebab.parsers` names: a file format and its parser."""

    media: MediaType
    parser: Parser


class EmbeddingFacts(NamedTuple):
    """What kebab has to know about an embedding model.

    `version` is raised whenever the vector of any text changes. `window` is how many tokens of a
    passage count, by the estimate of kebab. `languages` is for people; a model for `English` gets
    no text in other scripts. The prefixes are put before each text.
    """

    version: int
    dimension: int
    window: int
    languages: str
    query_prefix: str = ""
    passage_prefix: str = ""


class Embedding(NamedTuple):
    """What an entry point of `kebab.embedders` names: an embedding model.

    `embed` returns a vector for each text, in order. Its first call may load the weights.
    """

    facts: EmbeddingFacts
    embed: Callable[[list[str]], Sequence[Any]]


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
    """What the inspection of a plugin tells: the parts that its group has."""

    media: MediaType | None = None
    version: str = ""
    names: tuple[str, ...] = ()
    model: EmbeddingFacts | None = None


def find_plugins(settings: Plugins, *groups: str) -> list[Plugin]:
    """Return the entry points of some groups, sorted by name; none when plugins are off."""
    if not settings.enabled:
        return []
    from importlib.metadata import entry_points

    every = entry_points()  # to look for each group would read what is installed again
    found = {
        Plugin(group, one.name, one.value.replace(" ", ""), one.dist.name, one.dist.version)
        for group in groups
        for one in every.select(group=group)
        if one.dist is not None
    }
    return sorted(found)


def inspect_plugin(plugin: Plugin, *, again: bool = False) -> Facts:
    """Return the facts of a plugin, which a worker process imports under limits.

    What it found is kept until a file of the plugin changes; `again` imports it in any case. No
    failure is kept but a late import: others are found again at once.

    Raises:
        PluginError: It cannot be imported or is not what its group promises.
    """
    name, state = " ".join((sys.prefix, *plugin[:-1])), _describe_state(plugin)
    kept, found = _load_inspections().get(name, ("", ""))
    if again or not state or kept != state:
        found = _run_inspection(plugin)
        if state and (found == _LATE or isinstance(found, Facts)):
            _store_inspection(name, (state, found))
    if isinstance(found, str):
        raise PluginError(found)
    return found


def _describe_state(plugin: Plugin) -> str:
    """Return what changes with the files of a plugin; nothing when they are not found."""
    try:
        spec = find_spec(plugin.target.partition(":")[0].partition(".")[0])
        folders = (spec and spec.submodule_search_locations) or ()
        found = [path for one in folders for path in Path(one).rglob("*.py")]
        if not found and spec and spec.origin:
            found = [Path(spec.origin)]
        newest = max(path.stat().st_mtime_ns for path in found)
    except (ImportError, OSError, ValueError):  # a finder of another package may raise them too
        return ""
    return f"{kebab.__version__} {sys.hexversion} {plugin.version} {len(found)} {newest}"


_Inspection: TypeAlias = tuple[str, Facts | str]
"""The state of the files of a plugin, and its facts or why it cannot be used."""


def _load_inspections() -> dict[str, _Inspection]:
    with suppress(OSError, msgspec.MsgspecError):
        data = (find_cache_folder() / INSPECTIONS).read_bytes()
        return msgspec.json.decode(data, type=dict[str, _Inspection])
    return {}


def _store_inspection(name: str, found: _Inspection) -> None:
    from kebab.core.durable import replace_file

    with suppress(OSError):
        folder = find_cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with replace_file(folder / INSPECTIONS) as file:
            file.write(msgspec.json.encode(_load_inspections() | {name: found}))


_LATE = f"its import takes more than {IMPORT_S:.0f} s; `kebab doctor` tries it again"


def _run_inspection(plugin: Plugin) -> Facts | str:
    """Import a plugin in a worker process, and return its facts or why there are none."""
    from kebab.limits.worker import DEFAULT_MEMORY_MB, START_S, WorkerProcess

    try:
        worker = WorkerProcess(_inspect, DEFAULT_MEMORY_MB)
    except OSError as fault:
        return f"no process can be started: {fault.strerror}"
    with worker:
        if not worker.poll(START_S) or worker.receive() is None:
            return "no process can be started"
        worker.send(plugin)
        if not worker.poll(IMPORT_S):
            return _LATE
        reply = worker.receive()
        if reply is None:
            return worker.explain_end().replace("the parser", "its import")
    return reply.result if isinstance(reply.result, Facts) else str(reply.result or reply.fault)


def _inspect(plugin: Plugin) -> Facts | str:
    """Return the facts of a plugin, or why it cannot be used; this runs in the worker."""
    try:
        is_named = plugin.group != EMBEDDERS or _MODEL_NAME.fullmatch(plugin.name)
        _require(is_named, "its name is not made of small letters, digits and single `-` or `.`")
        return _CHECKS[plugin.group](plugin.load())
    except MemoryError:
        raise
    except BaseException as fault:  # noqa: BLE001 - a plugin may raise anything
        return str(fault) if isinstance(fault, PluginError) else describe_fault(fault)


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


def check_embedding(found: Any) -> Facts:
    """Return the facts of an embedding model.

    Raises:
        PluginError: It cannot be used.
    """
    _require(isinstance(found, Embedding), "it is no `kebab.plugins.Embedding`")
    try:
        facts = msgspec.convert(tuple(found.facts), EmbeddingFacts, strict=True)
    except (msgspec.ValidationError, TypeError) as fault:
        raise PluginError(f"its `facts` are no `EmbeddingFacts`: {fault}") from fault
    _require(facts.version > 0, "its version is no positive number")
    _require(0 < facts.dimension <= _MAX_DIMENSION, f"no dimension: {facts.dimension}")
    _require(facts.window >= _MIN_WINDOW, f"a window of {facts.window} tokens is too small")
    _require(callable(found.embed), "its `embed` cannot be called")
    return Facts(model=facts)


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
    EMBEDDERS: check_embedding,
    PARSERS: check_format,
    PROVIDERS: _check_provider,
    RULES: _check_rule,
}


def build_missing_plugin(feature: str, package: str, *, enabled: bool) -> DependencyMissing:
    """Return the error of what cannot be done without a plugin, with what brings it back."""
    install = f"pip install --upgrade {package}" if enabled else _SWITCH_ON
    return DependencyMissing(feature=feature, install=install)


_SWITCH_ON = "export KEBAB_PLUGINS_ENABLED=true"


def inspect_plugins(
    settings: Plugins, faults: list[str], *groups: str, again: bool = False
) -> Iterator[tuple[Plugin, Facts]]:
    """Yield the plugins that can be used, with their facts; add the reasons of others to `faults`.

    Of two plugins of a group with one name the first is used. `again` is that of `inspect_plugin`.
    """
    seen: dict[tuple[str, str], Plugin] = {}
    for plugin in find_plugins(settings, *groups):
        first = seen.setdefault((plugin.group, plugin.name), plugin)
        if first is not plugin:
            faults.append(f"{plugin.label}: {first.package} has a plugin of the same name")
            continue
        try:
            facts = inspect_plugin(plugin, again=again)
        except PluginError as error:
            faults.append(f"{plugin.label}: {error}")
        else:
            yield plugin, facts

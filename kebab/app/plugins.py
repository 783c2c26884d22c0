"""Joins what plugins add with what the index knows of plugins that are gone."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from kebab.app.context import AppContext, load_formats
from kebab.core.documents import PLUGIN_FORMATS
from kebab.core.media import READABLE_NAMES, is_built_in
from kebab.doctor.checks import PluginState
from kebab.errors.catalog import NotIndexed
from kebab.plugins import GROUPS, Formats, MissingParser, find_formats, inspect_plugins

if TYPE_CHECKING:
    from kebab.core.ports import LibraryWriter, Parser


def list_formats(context: AppContext) -> Formats:
    """Return the formats of plugins, with stand-ins for those that only stored documents have."""
    settings = context.settings.plugins
    found = find_formats(settings)
    try:
        with context.open_reader() as reader:
            stored = load_formats(reader)
            counts = context.build_catalogue(reader).count_contents().media if stored else {}
    except NotIndexed:
        return found
    media, parsers, faults = dict(found.media), dict(found.parsers), list(found.faults)
    for name, (form, package) in stored.items():
        if name in media or name in READABLE_NAMES or not counts.get(form):
            continue
        media[name] = (form, package)
        if form not in parsers and not is_built_in(form):
            parsers[form] = MissingParser(form, package, enabled=settings.enabled)
            cause = "is not used" if settings.enabled else "is off"
            faults.append(
                f"the plugin of {package} {cause}: {counts[form]:,} documents of {form} stay as"
                " they were read"
            )
    return Formats(parsers, media, tuple(faults))


def store_formats(library: "LibraryWriter", formats: Formats) -> None:
    """Store the formats of plugins for readers, and for the time when a plugin is gone."""
    text = msgspec.json.encode(formats.media).decode() if formats.media else None
    if text != library.get_value(PLUGIN_FORMATS):
        library.set_value(PLUGIN_FORMATS, text)


def find_parser(context: AppContext, parsers: "Mapping[str, Parser]", media: str) -> "Parser":
    """Return the parser of a stored document; plugins are asked only where kebab has none."""
    if parser := parsers.get(media):
        return parser
    parser = list_formats(context).parsers.get(media)
    return parser or parsers["text/plain"]


def check_plugins(context: AppContext) -> PluginState:
    """Return the plugins that can be used, and why others cannot be."""
    faults, formats = list[str](), list_formats(context)
    used = inspect_plugins(context.settings.plugins, faults, *GROUPS)
    labels = tuple(plugin.label for plugin, _ in used)
    return PluginState(
        enabled=context.settings.plugins.enabled,
        labels=labels,
        faults=tuple(dict.fromkeys((*formats.faults, *faults))),
        packages=tuple(
            dict.fromkeys(
                package
                for form, package in formats.media.values()
                if isinstance(formats.parsers.get(form), MissingParser)
            )
        ),
    )

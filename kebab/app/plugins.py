"""Joins what plugins add with what the index knows of plugins that are gone."""

from typing import TYPE_CHECKING

import msgspec

from kebab.app.context import AppContext, load_formats
from kebab.core.documents import PLUGIN_FORMATS
from kebab.core.media import READABLE_NAMES, get_media_type, is_built_in
from kebab.errors.catalog import IoError, Locked, NotIndexed, StoreCorrupt
from kebab.parse.plugin import Formats, MissingParser, find_formats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kebab.core.ports import LibraryWriter, Parser


def list_formats(context: AppContext) -> Formats:
    """Return the formats of plugins, with stand-ins for those that only stored documents have."""
    settings = context.settings.plugins
    found = find_formats(settings)
    try:
        with context.open_reader() as reader:
            stored = load_formats(reader)
            counts = context.build_catalogue(reader).count_contents().media if stored else {}
    except (NotIndexed, IoError, Locked, StoreCorrupt):  # other steps report it
        return found
    media, parsers, faults = dict(found.media), dict(found.parsers), list(found.faults)
    for name, (form, package) in stored.items():
        if name in media or name in READABLE_NAMES or not counts.get(form):
            continue
        media[name] = (form, package)
        if form not in parsers and not is_built_in(form):
            parsers[form] = MissingParser(form, package, enabled=settings.enabled)
            cause = "cannot be used" if settings.enabled else "is off"
            label = get_media_type(form).label
            faults.append(f"{package} {cause}; files of {label} in the index: {counts[form]:,}")
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

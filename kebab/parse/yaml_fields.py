"""Reads the upper levels of a YAML mapping, as strings, lists and mappings of strings.

It is a module of its own because PyYAML is imported only when needed.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

from kebab.errors.system import translate_import_errors

with translate_import_errors("reading front matter", "pyyaml"):
    import yaml

Value: TypeAlias = str | list[Any] | dict[str, Any] | None
"""A scalar, a list of scalars and mappings of scalars, or a mapping of scalars and their lists."""

_MAX_DEPTH = 1000  # the time of libyaml grows with the square of the depth
_LEVELS = 2
_NULL_WORDS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class YamlError:
    """The text is not YAML or too deeply nested; `line` is 1-based, 0 when unknown."""

    line: int


def read_top_level(text: str) -> dict[str, Value] | YamlError | None:
    """Return the fields of a mapping; None when the text is valid but something else."""
    try:
        fields: dict[str, Value] | None = yaml.load(text, Loader=TopLevelLoader)  # noqa: S506 - builds no objects
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        return YamlError(mark.line + 1 if mark else 0)
    return fields


class TopLevelLoader(yaml.CBaseLoader):
    """Reads the events of the parser without building objects.

    Therefore no tag is run, no alias is followed, and depth needs no stack.
    """

    def get_single_data(self) -> dict[str, Value] | None:
        """Return the mapping, or None when the document is something else."""
        for _ in ("stream", "document"):
            self.get_event()
        if not isinstance(self.get_event(), yaml.MappingStartEvent):
            return None
        fields = self._read_mapping(_LEVELS)
        while self.check_event():  # finds damage behind the mapping
            self.get_event()
        return fields

    def _read_mapping(self, levels: int) -> dict[str, Value]:
        """Return the fields of the mapping that has just begun."""
        fields: dict[str, Value] = {}
        while not isinstance(key := self.get_event(), yaml.MappingEndEvent):
            name, value = self._read_value(key, 0), self._read_value(self.get_event(), levels)
            if isinstance(name, str):
                fields[name] = value
        return fields

    def _read_value(self, event: yaml.Event | None, levels: int) -> Value:
        """Return a scalar, or a collection when that many levels may be built; else skip it."""
        if isinstance(event, yaml.ScalarEvent):
            plain_null = not event.style and event.value in _NULL_WORDS
            return None if plain_null else str(event.value)
        if isinstance(event, yaml.SequenceStartEvent) and levels:
            return self._read_items(levels - 1)
        if isinstance(event, yaml.MappingStartEvent) and levels:
            return self._read_mapping(levels - 1)
        if isinstance(event, yaml.CollectionStartEvent):
            self._skip_collection()
        return None

    def _read_items(self, levels: int) -> list[Any]:
        """Return the scalars and mappings of a sequence."""
        items: list[Any] = []
        while not isinstance(event := self.get_event(), yaml.SequenceEndEvent):
            if isinstance(event, yaml.ScalarEvent):
                items.append(str(event.value))
            elif isinstance(event, yaml.MappingStartEvent) and levels:
                items.append(self._read_mapping(levels - 1))
            elif isinstance(event, yaml.CollectionStartEvent):
                self._skip_collection()
        return items

    def _skip_collection(self) -> None:
        """Read to the end of the collection that has just begun."""
        depth = 1
        while depth:
            event = self.get_event()
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise yaml.YAMLError

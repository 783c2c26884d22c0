"""Reads the top level of a YAML mapping, as strings and lists of strings.

It is a module of its own because PyYAML and python-frontmatter are imported only when needed.
"""

from dataclasses import dataclass
from typing import TypeAlias

from kebab.errors.system import translate_import_errors

with translate_import_errors("reading front matter", "python-frontmatter"):
    import yaml
    from frontmatter.default_handlers import YAMLHandler

Value: TypeAlias = str | list[str] | None

_MAX_DEPTH = 1000  # the time of libyaml grows with the square of the depth
_NULL_WORDS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class YamlError:
    """The text is not YAML or too deeply nested; `line` is 1-based, 0 when unknown."""

    line: int


def read_top_level(text: str) -> dict[str, Value] | YamlError | None:
    """Return the fields of a mapping; None when the text is valid but something else."""
    try:
        fields: dict[str, Value] | None = YAMLHandler().load(text, Loader=TopLevelLoader)
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
        fields: dict[str, Value] = {}
        while not isinstance(key := self.get_event(), yaml.MappingEndEvent):
            name, value = self._read_value(key), self._read_value(self.get_event())
            if isinstance(name, str):
                fields[name] = value
        while self.check_event():  # finds damage behind the mapping
            self.get_event()
        return fields

    def _read_value(self, event: yaml.Event | None) -> Value:
        """Return a scalar or a list of scalars; skip everything else."""
        if isinstance(event, yaml.ScalarEvent):
            plain_null = not event.style and event.value in _NULL_WORDS
            return None if plain_null else str(event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._read_items()
        if isinstance(event, yaml.MappingStartEvent):
            self._skip_collection()
        return None

    def _read_items(self) -> list[str]:
        """Return the scalars of a sequence."""
        items = []
        while not isinstance(event := self.get_event(), yaml.SequenceEndEvent):
            if isinstance(event, yaml.ScalarEvent):
                items.append(str(event.value))
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

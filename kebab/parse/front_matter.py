"""Reads front matter of YAML, TOML and JSON by handlers of python-frontmatter.

YAML gives the upper levels of a mapping, with all scalars as strings. This is a module of its own
because the libraries are imported only when they are needed.
"""

import json
import re
import tomllib
from typing import Any, NamedTuple, TypeAlias

from kebab.errors.system import translate_import_errors

with translate_import_errors("reading front matter", "python-frontmatter"):
    import yaml
    from frontmatter.default_handlers import BaseHandler, JSONHandler, YAMLHandler

Value: TypeAlias = str | list[Any] | dict[str, Any] | None
"""A scalar, or a list or a mapping of values."""

_MAX_CHARS = 4 * 1024 * 1024
_LEVELS = 9
_NULL_WORDS = frozenset({"", "~", "null", "Null", "NULL"})
_REST_OF_LINE = re.compile(r"[ \t]*(?:\n|\Z)")


class Block(NamedTuple):
    """Front matter as it stands: its text, the offset `end` behind it, its fields and its fault.

    Without a closing line `end` is 0. `fields` are None when the text is damaged or no mapping.
    """

    inner: str
    end: int
    fields: dict[str, Any] | None = None
    fault: str = ""


class _YamlHandler(YAMLHandler):
    def load(self, fm: str, **_options: object) -> Any:
        """Return the upper levels of a mapping."""
        try:
            node = yaml.compose(fm, Loader=yaml.CBaseLoader)
        except yaml.YAMLError as failure:
            mark = getattr(failure, "problem_mark", None)
            where = f" at line {mark.line + 2}" if mark else ""
            raise ValueError(f"is not valid YAML{where}") from failure
        if not isinstance(node, yaml.MappingNode):
            raise ValueError("is not a mapping")  # noqa: TRY004 - the text is at fault
        return _read_node(node, _LEVELS, set())


class _TomlHandler(BaseHandler):
    def load(self, fm: str) -> dict[str, Any]:
        """Return all fields."""
        if len(fm) > (256 * 1024):
            raise ValueError("is too long for TOML")
        try:
            return tomllib.loads(fm)
        except (ValueError, RecursionError) as failure:
            raise ValueError("is not valid TOML") from failure


class _JsonHandler(JSONHandler):
    def split(self, text: str) -> tuple[str, str]:
        """Return one object that ends with its line, and the rest of the text."""
        try:
            _, end = json.JSONDecoder().raw_decode(text)
        except RecursionError as failure:
            raise ValueError("is not valid JSON") from failure
        rest = _REST_OF_LINE.match(text, end)
        if rest is None:
            raise ValueError("text follows the object")
        return text[:end], text[rest.end() :]


_HANDLERS = (
    _YamlHandler(re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)),
    _TomlHandler(re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE)),
    _JsonHandler(re.compile(r"\{")),
)


def read_block(text: str) -> Block | None:
    """Return the front matter at the beginning of a text; None when there is none."""
    head = text[:_MAX_CHARS]
    handler = next(one for one in _HANDLERS if one.detect(head))
    try:
        inner, rest = handler.split(head)
    except ValueError as failure:
        if isinstance(handler, _JsonHandler):
            is_meant = (
                re.match(r'\{\s*"\w+"\s*:', text) and str(failure) != "text follows the object"
            )
            return Block("", 0, None, "is not valid JSON") if is_meant else None
        return Block(head.partition("\n")[2][:200], 0, None, "is not closed")
    end = len(head) - len(rest)
    if not inner.strip():
        return Block(inner, end, {})
    try:
        return Block(inner, end, handler.load(inner))
    except ValueError as failure:
        return Block(inner, end, None, str(failure))


def _read_node(node: yaml.Node, levels: int, seen: set[int]) -> Value:
    """Return a scalar, or a collection when that many levels may be built; else None.

    No tag is run, and a collection that an alias names is built once.
    """
    if isinstance(node, yaml.ScalarNode):
        return None if not node.style and node.value in _NULL_WORDS else str(node.value)
    if not levels or id(node) in seen:
        return None
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        items = (  # the word `null` is an item
            str(one.value)
            if isinstance(one, yaml.ScalarNode)
            else _read_node(one, levels - 1, seen)
            for one in node.value
        )
        return [item for item in items if item is not None]
    return {
        str(key.value): _read_node(value, levels - 1, seen)
        for key, value in node.value
        if isinstance(key, yaml.ScalarNode)
    }

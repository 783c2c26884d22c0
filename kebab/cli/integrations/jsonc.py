"""Parses JSON with comments and trailing commas to values that know their place in the text.

No library for Python does this: those that exist return values without places, or start Node.js.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kebab.cli.integrations.entry import EntryError

_TOKENS = re.compile(
    r"(?P<blank>[ \t\r\n]+)"
    r"|(?P<comment>//[^\r\n]*|/\*.*?\*/)"
    r'|(?P<scalar>"(?:[^"\\\r\n]|\\[^\r\n])*"'
    r"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)"
    r"|(?P<mark>[{}\[\],:])",
    re.DOTALL,
)
_MOST_LEVELS = 200


@dataclass(slots=True)
class Member:
    """A member of an object: its key, where it begins, and where the comma after it ends."""

    key: str
    start: int
    node: "Node"
    comma: int | None = None

    @property
    def end(self) -> int:
        """Where the member ends, with its comma."""
        return self.comma or self.node.end


@dataclass(slots=True)
class Node:
    """A value and its place in the text; `members` are those of an object."""

    start: int
    end: int
    value: Any
    members: list[Member] | None = None

    def find(self, key: str) -> Member | None:
        """Return the member of a key.

        Raises:
            EntryError: The value is no object, or has the key twice.
        """
        if self.members is None:
            raise EntryError(f"`{key}` is expected in an object, and there is another value")
        found = [one for one in self.members if one.key == key]
        if len(found) > 1:
            raise EntryError(f"`{key}` occurs twice")
        return found[0] if found else None


def parse_jsonc(text: str) -> Node | None:
    """Return the root of a document, None when the text has only blanks and comments.

    Raises:
        EntryError: The text is no such document.
    """
    return _Parser(text).parse()


def ends_line_comment(text: str, place: int) -> bool:
    """Return whether a comment that ends with its line ends at a place of a parsed document."""
    tokens = (token for token in _TOKENS.finditer(text, 0, place) if token.end() == place)
    return any(token[0].startswith("//") for token in tokens)


class _Parser:
    """Reads the tokens of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan()
        self._kind: str | None = None
        self._next()

    def parse(self) -> Node | None:
        """Return the root, None when there are only blanks and comments."""
        if self._is_at_end():
            return None
        root = self._read_value(0)
        if not self._is_at_end():
            raise self._refuse("the end of the file")
        return root

    def _is_at_end(self) -> bool:
        return self._kind is None

    def _scan(self) -> Iterator[tuple[str, int, int]]:
        place = 0
        while place < len(self._text):
            token = _TOKENS.match(self._text, place)
            if token is None:
                self._start = place
                raise self._refuse("a value or a comment")
            if token.lastgroup in ("scalar", "mark"):
                yield token.lastgroup, token.start(), token.end()
            place = token.end()

    def _next(self) -> None:
        self._kind, self._start, self._end = next(
            self._tokens, (None, len(self._text), len(self._text))
        )

    @property
    def _word(self) -> str:
        return self._text[self._start : self._end]

    def _read_value(self, level: int) -> Node:
        if level > _MOST_LEVELS:
            raise EntryError(f"values are nested in more than {_MOST_LEVELS} levels")
        if self._word == "{":
            return self._read_object(level)
        if self._word == "[":
            return self._read_array(level)
        return self._read_scalar()

    def _read_scalar(self) -> Node:
        if self._kind != "scalar":
            raise self._refuse("a value")
        start, end = self._start, self._end
        try:
            value = json.loads(self._word, strict=False)
        except ValueError:  # an escape that does not exist, or a number with thousands of digits
            raise self._refuse("a value") from None
        self._next()
        return Node(start, end, value)

    def _read_object(self, level: int) -> Node:
        start, members = self._start, list[Member]()
        self._next()
        while self._word != "}":
            if members and members[-1].comma is None:
                raise self._refuse("`,` or `}`")
            place, key = self._start, self._read_scalar().value
            if not isinstance(key, str) or self._word != ":":
                raise self._refuse("a key and `:`")
            self._next()
            members.append(Member(key, place, self._read_value(level + 1)))
            members[-1].comma = self._skip_comma()
        end = self._end
        self._next()
        return Node(start, end, {one.key: one.node.value for one in members}, members)

    def _read_array(self, level: int) -> Node:
        start, values, separated = self._start, list[Any](), True
        self._next()
        while self._word != "]":
            if not separated:
                raise self._refuse("`,` or `]`")
            values.append(self._read_value(level + 1).value)
            separated = self._skip_comma() is not None
        end = self._end
        self._next()
        return Node(start, end, values)

    def _skip_comma(self) -> int | None:
        """Skip a comma; return where it ends, None when there is none."""
        if self._word != ",":
            return None
        end = self._end
        self._next()
        return end

    def _refuse(self, wanted: str) -> EntryError:
        line = self._text.count("\n", 0, self._start) + 1
        column = self._start - self._text.rfind("\n", 0, self._start)
        return EntryError(f"line {line}, column {column}: expected {wanted}")

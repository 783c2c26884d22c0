"""Sets or removes one entry of a JSON file; every other byte stays.

The file may have comments and trailing commas.

An entry is a member of an object that is a member of the root, such as `mcpServers.kebab`. The
form of what `set_entry` adds tells `remove_entry` what was there before, so both together return
the original text: an object that existed and was empty gets its member on the same line, one
that is new gets lines of its own.

The text is parsed to values that know their place in it. No library for Python does this: those
that exist return values without places, or start Node.js.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from kebab.cli.integrations.clients import Entry, EntryError, is_current, keeps_members

_TOKENS = re.compile(
    r"(?P<blank>[ \t\r\n]+)"
    r"|(?P<comment>//[^\r\n]*|/\*.*?\*/)"
    r'|(?P<scalar>"(?:[^"\\\r\n]|\\[^\r\n])*"'
    r"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)"
    r"|(?P<mark>[{}\[\],:])",
    re.DOTALL,
)
_MOST_LEVELS = 200


class Member(Struct):
    """A member of an object: its key, where it begins, and where the comma after it ends."""

    key: str
    start: int
    node: "Node"
    comma: int | None = None

    @property
    def end(self) -> int:
        """Where the member ends, with its comma."""
        return self.comma or self.node.end


class Node(Struct):
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


_COMMENTS_OF_LINE = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/))*(?:[ \t]*//[^\r\n]*)?")
_REST_OF_LINE = re.compile(r"[ \t]*[^ \t\r\n]")
_BLANKS = re.compile(r"[ \t]*")
_NARROW = "  "
_WIDE = "    "
Path = tuple[str, str]
"""The name of the object and the name of the entry."""
Edit = tuple[int, int, str]
"""Where a piece begins and ends, and what replaces it."""


def read_values(text: str) -> Any:
    """Return the values of a document, an empty object when there is none.

    Raises:
        EntryError: The text is no JSON with comments.
    """
    root = parse_jsonc(text)
    return {} if root is None else root.value


def set_entry(text: str | None, path: Path, entry: Entry) -> str:
    """Return the text with an entry; None stands for a file that does not exist.

    Raises:
        EntryError: The text is no JSON with comments, or the entry has no place in it.
    """
    form = _Form(text or "")
    root = parse_jsonc(text or "")
    if text is None:
        return form.render({path[0]: {path[1]: entry}}) + form.newline
    if root is None:
        return text + form.render_after_comments({path[0]: {path[1]: entry}})
    form.learn_indent(root)
    container = root.find(path[0])
    if container is None:
        return _apply(text, form.insert(root, path[0], {path[1]: entry}, new=True))
    member = container.node.find(path[1])
    if member is None:
        return _apply(text, form.insert(container.node, path[1], entry))
    return _update(text, form, path, entry, member)


def _update(text: str, form: "_Form", path: Path, entry: Entry, member: Member) -> str:
    """Change the members of an entry that differ, or all of it when it is another kind."""
    found = member.node.value
    if is_current(found, entry):
        return text
    if not keeps_members(found):
        indent = form.find_indent(member.start)
        value = _compact(entry) if indent is None else form.render(entry, indent)
        return _apply(text, [(member.node.start, member.node.end, value)])
    key = next(key for key in entry if found.get(key) != entry[key])
    old = member.node.find(key)
    if old is None:
        changed = _apply(text, form.insert(member.node, key, entry[key]))
    else:
        changed = _apply(text, [(old.node.start, old.node.end, _compact(entry[key]))])
    return set_entry(changed, path, entry)


def remove_entry(text: str, path: Path) -> str | None:
    """Return the text without an entry, None when the file itself was made for the entry.

    Raises:
        EntryError: The text is no JSON with comments.
    """
    root = parse_jsonc(text)
    container = root.find(path[0]) if root else None
    member = container.node.find(path[1]) if container else None
    if root is None or container is None or member is None:
        return text
    if len(container.node.members or ()) == 1:
        # What the text may have been before the object of the entry was added.
        head, tail = text[: root.start], text[root.end :]
        bare = head.removesuffix("\n").removesuffix("\r")
        origins = [None, head, bare, f"{head}{{}}{tail}"] if len(root.members or ()) == 1 else []
        for before in (*origins, _apply(text, _cut(text, root, container))):
            if set_entry(before, path, member.node.value) == text:
                return before
    return _apply(text, _cut(text, container.node, member))


def _cut(text: str, parent: Node, member: Member) -> list[Edit]:
    """Return the edits that remove a member, with its line when it has one."""
    members = parent.members or []
    place = members.index(member)
    start, end = _find_cut(text, members, place)
    if (
        len(members) == 1
        and text[parent.start + 1 : start].strip() == "" == text[end : parent.end - 1].strip()
        and "\n" in text[start : member.start]
    ):
        return [(parent.start + 1, parent.end - 1, "")]
    edits = [(start, end, "")]
    comma = members[place - 1].comma if place and member.comma is None else None
    return [(comma - 1, comma, ""), *edits] if comma else edits


def _find_cut(text: str, members: Sequence[Member], place: int) -> tuple[int, int]:
    """Return the part of the text to cut; a comment behind a member stays."""
    member = members[place]
    start, end = member.start, member.end
    if _match(_COMMENTS_OF_LINE, text, end):
        return start, end
    line = len(text[:start].rstrip(" \t"))
    if text[:line].endswith("\n"):
        line -= 2 if text[:line].endswith("\r\n") else 1
        hides_rest = _match(_REST_OF_LINE, text, end) and ends_line_comment(text, line)
        return (start if hides_rest else line), end
    if member.comma and text[end : end + 1] == " ":
        return start, end + 1
    added = text[start - 1] == " " and text[start - 2] != "{"
    return (start - 1 if added else start), end


class _Form:
    """The form of a text: its line ends and its indentation."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._unit = _NARROW
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def learn_indent(self, root: Node) -> None:
        """Indent as the first member of the root is."""
        if self._text[root.start : root.end] == "{}":
            self._unit = _WIDE
        elif root.members:
            self._unit = self.find_indent(root.members[0].start) or _NARROW

    def find_indent(self, place: int) -> str | None:
        """Return the blanks before a place, None when something else is before it on its line."""
        line = self._text.rfind("\n", 0, place) + 1
        blanks = self._text[line:place]
        return None if blanks.strip(" \t") else blanks

    def render(self, value: Any, indent: str = "") -> str:
        """Return a value; each member of an object has its own line."""
        if not isinstance(value, dict) or not value:
            return _compact(value)
        inner = indent + self._unit
        lines = [f"{inner}{_compact(key)}: {self.render(one, inner)}" for key, one in value.items()]
        return self.newline.join(["{", f",{self.newline}".join(lines), f"{indent}}}"])

    def render_after_comments(self, value: Any) -> str:
        """Return a document to be added to a text that has blanks and comments at most."""
        if not self._text or self._text.endswith("\n"):
            return self.render(value)
        return self.newline + self.render(value) + self.newline

    def insert(self, parent: Node, key: str, value: Any, *, new: bool = False) -> list[Edit]:
        """Return the edits that add a member behind those of an object; `new` is for the root."""
        if parent.members:
            return self._insert_behind(parent.members[-1], key, value)
        inside = self._text[parent.start + 1 : parent.end - 1]
        if inside.strip():  # comments
            place, added = parent.start + 1 + len(inside.rstrip()), f" {_compact(key)}: "
            if "\n" not in inside:
                return [(place, place, added + _compact(value))]
            line = self._text.rfind("\n", 0, parent.end) + 1
            indent = _match(_BLANKS, self._text, line) + self._unit
            added = f"{self.newline}{indent}{_compact(key)}: {self.render(value, indent)}"
            return [(place, place, added)]
        if new and not inside:
            return [(parent.start, parent.end, self.render({key: value}))]
        place = parent.start + 1
        return [
            (place, place, f"{_compact(key)}: {self.render(value) if new else _compact(value)}")
        ]

    def _insert_behind(self, last: Member, key: str, value: Any) -> list[Edit]:
        comments = _match(_COMMENTS_OF_LINE, self._text, last.end)
        place = last.end + len(comments)
        indent = self.find_indent(last.start)
        if indent is not None:
            added = f"{self.newline}{indent}{_compact(key)}: {self.render(value, indent)}"
        else:
            ends = comments and self._text[place : place + 1] in ("\r", "\n")
            added = f"{self.newline if ends else ' '}{_compact(key)}: {_compact(value)}"
        if last.comma:
            return [(place, place, f"{added},")]
        return [(last.node.end, last.node.end, ","), (place, place, added)]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _match(pattern: re.Pattern[str], text: str, place: int) -> str:
    """Return what a pattern that may be empty matches at a place."""
    found = pattern.match(text, place)
    return found[0] if found else ""


def _apply(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with edits, which stand in order and do not overlap."""
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text

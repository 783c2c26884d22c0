"""Reads content lines, which iCalendar (RFC 5545) and vCard (2.1, RFC 2426, RFC 6350) share.

A content line is `NAME;PARAMETER=VALUE:VALUE`; long ones are folded over several lines of the
file. Components stand between `BEGIN:KIND` and `END:KIND`.
"""

import codecs
import quopri
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, field

from kebab.errors.catalog import ParseFailed
from kebab.parse.encoding import decode

_LINE = re.compile(
    r'\s*+(?:[\w-]++\.)?([\w-]++)((?:;[^;:="]*+(?:=(?:"[^"]*+"|[^";:])*+)?+)*+)\s*+:(.*)', re.DOTALL
)
_PARAMETER = re.compile(r';([^;:="]*+)(?:=((?:"[^"]*+"|[^";:])*+))?+')
_QUOTED_PRINTABLE = re.compile(rb"[^:]*;(?:ENCODING=)?QUOTED-PRINTABLE\b[^:]*:", re.IGNORECASE)
_CHARSET = re.compile(rb"[^:]*;CHARSET=\"?([\w.:-]+?)\"?[;:]", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([\\,;:nN\"])")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_HEAD_BYTES = 1000
"""The longest start of a line in which its parameters are looked for."""


class Property(NamedTuple):
    """A content line; the names are in upper case, and `value` keeps its escapes."""

    name: str
    parameters: Mapping[str, str]
    value: str

    @property
    def text(self) -> str:
        """The value without escapes."""
        return unescape(self.value)

    @property
    def types(self) -> str:
        """The words of `TYPE`, such as `work`; empty without one that means something."""
        bare = (name for name, value in self.parameters.items() if not value)
        words = (self.parameters.get("TYPE", ""), *bare)
        found = ",".join(words).replace('"', "").lower().split(",")
        return ", ".join(dict.fromkeys(word for word in found if word and word not in _NO_TYPES))


_NO_TYPES = frozenset({"internet", "pref", "voice", "quoted-printable", "base64", "b", "8bit"})


class Component(Struct):
    """The properties of a component, without those of the components inside it."""

    kind: str
    properties: list[Property] = field(default_factory=list)

    def find(self, name: str) -> Property | None:
        """Return the first property of a name that has a value."""
        return next(self.list_all(name), None)

    def list_all(self, name: str) -> Iterator[Property]:
        """Yield the properties of a name that have a value."""
        return (one for one in self.properties if one.name == name and one.value.strip())

    def read(self, name: str) -> str:
        """Return the text of the first property of a name, on one line."""
        found = self.find(name)
        return "" if found is None else " ".join(found.text.split())


class ContentFile(NamedTuple):
    """The components of a file in the order of their starts, the outer ones first."""

    components: list[Component]
    warnings: tuple[str, ...]


def read_components(data: bytes, path: str, parser: str) -> ContentFile:
    """Return the components of a file; `path` and `parser` are for the error.

    Raises:
        ParseFailed: The file has no component.
    """
    decoded = decode(b"\n".join(_unfold(data)), path, parser)
    components: list[Component] = []
    stack: list[Component] = []
    unread = 0
    for line in decoded.text.split("\n"):
        match = _LINE.match(line)
        if match is None:
            unread += bool(line.strip()) and bool(stack)
            continue
        name, value = match[1].upper(), match[3]
        if name == "BEGIN":
            stack.append(Component(value.strip().upper()))
            components.append(stack[-1])
        elif name == "END":
            ended = value.strip().upper()
            while (
                any(one.kind == ended for one in stack[-_MAX_OPEN:]) and stack.pop().kind != ended
            ):
                pass
        elif stack:
            parameters: dict[str, str] = {}
            for key, word in _PARAMETER.findall(match[2]):
                key, word = key.strip().upper(), word.strip()  # noqa: PLW2901
                before = parameters.get(key) if key == "TYPE" else None
                if before is None or len(before) < _MAX_TYPE_CHARS:
                    parameters[key] = f"{before},{word}" if before else word
            stack[-1].properties.append(Property(name, parameters, value))
    if not components:
        raise ParseFailed(
            path=path, parser=parser, cause="not a calendar and no contacts: no `BEGIN:`"
        )
    warnings = list(decoded.warnings)
    if unread:
        warnings.append(f"lines that are no properties are left out: {unread}")
    if stack:
        warnings.append(f"`{stack[-1].kind}` has no end: the file is cut off")
    return ContentFile(components, tuple(warnings))


_MAX_TYPE_CHARS = 200
_MAX_OPEN = 20
"""How many open components an `END` may close."""


def _unfold(data: bytes) -> Iterator[bytes]:
    """Yield the lines in UTF-8, or in the encoding of the file, without folds.

    A fold may split a character, so bytes are joined before they are decoded. vCard 2.1 has an
    encoding per line.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "replace").encode()
    parts: list[bytes] = []
    is_quoted = False
    for line in data.removeprefix(codecs.BOM_UTF8).splitlines():
        if parts and is_quoted and parts[-1].endswith(b"="):
            parts[-1] = parts[-1][:-1]
            parts.append(line.lstrip(b" \t") if line[:1] in b" \t" else line)
        elif parts and (not line or line[:1] in b" \t"):
            parts.append(line[1:])  # some programs leave a line empty before a fold
        else:
            yield _convert(b"".join(parts), is_quoted=is_quoted)
            parts = [line]
            is_quoted = _QUOTED_PRINTABLE.match(line[:_HEAD_BYTES]) is not None
    yield _convert(b"".join(parts), is_quoted=is_quoted)


def _convert(line: bytes, *, is_quoted: bool) -> bytes:
    """Return a line without the encoding that its own parameters name."""
    if line.isascii() and not is_quoted:
        return line
    head, colon, value = line.partition(b":")
    if is_quoted:
        value = re.sub(rb"\r\n?|\n", rb"\\n", quopri.decodestring(value))
    found = _CHARSET.match(head[:_HEAD_BYTES] + b":")
    if found is None:
        return head + colon + value
    try:
        return head + colon + value.decode(found[1].decode(), "strict").encode()
    except (LookupError, ValueError):
        return head + colon + value


def unescape(value: str) -> str:
    r"""Return a value without its escapes `\n`, `\,` and `\;`."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def split_value(value: str, separator: str = ";") -> list[str]:
    """Return the parts of a structured value, without escapes."""
    plain = _ESCAPED.sub("  ", value)
    starts = [0, *(one.end() for one in re.finditer(separator, plain))]
    ends = [*(start - len(separator) for start in starts[1:]), len(value)]
    parts = (value[start:end] for start, end in zip(starts, ends, strict=True))
    return [" ".join(unescape(part).split()) for part in parts]


def list_categories(components: Iterable[Component]) -> list[str]:
    """Return the words of `CATEGORIES`."""
    found = (one.value for component in components for one in component.list_all("CATEGORIES"))
    return [word for value in found for word in split_value(value, ",")]

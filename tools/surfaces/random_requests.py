"""Makes random requests: valid, broken and hostile ones, from the records that declare them."""

import json
import random
import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from kebab.wire.operations import OPERATIONS

Words = Mapping[str, Sequence[str]]
Forms = Mapping[str, type[msgspec.Struct]]
Node = dict[str, Any]

TEXTS = (
    "",
    " ",
    "restore",
    "how do I restore a backup",
    "백업은 어떻게 복원하나요",
    '"exact phrase" -draft',
    "lang:en title:backup",
    "-",
    "--",
    "--json",
    "a\nb",
    "a\tb",
    "../../etc/passwd",
    "notes/*.md",
    "%s%n{0}",
    "'; drop table documents; --",
    "[]()|\\",
    "\x00",
    "\x1b[31mred",
    "\u202eright to left",
    "\ufeff",
    "e\u0301",
    "🍞" * 50,
    "word " * 2_000,
    "x" * 5_000,
)
"""Texts for every field."""

_NUMBERS = (0, 1, 2, 3, 10, 100, 1000, 2**31, 2**53, -1)
_JUNK: tuple[Any, ...] = (None, True, 0, -1, 1.5, 1e300, 2**70, "", "x", [], [[]], {}, {"a": {}})
_BASE64 = ("", "U29tZSB0ZXh0Lg==", "AAH/gA==")
_MOST_ITEMS = 3
_DEPTH = 10_000
_RAW: tuple[bytes, ...] = (
    b"[" * _DEPTH,
    b'{"a":' * _DEPTH,
    b"null",
    b"[]",
    b'"text"',
    b"7",
    b"{",
    b'{"query": "x",}',
    b"\xff\xfe{}",
    b'{"query": "\xff"}',
    b'{"query": "\\ud800"}',
    b'{"query": "\\u0000"}',
    b'{"query": NaN}',
    b'{"limit": 1e999}',
    b"\x00",
    b"query=x",
    b"{}{}",
)
"""Bodies that are no request, whatever the operation."""


class RequestMaker:
    """Makes requests; the same seed makes the same ones.

    Args:
        seed: The seed.
        words: Texts that mean something in the knowledge base, by the name of the field.
        forms: The records of the requests by name, by default those of the operations.
    """

    def __init__(self, seed: int, words: Words, forms: Forms | None = None) -> None:
        operations = {name: one.request for name, one in OPERATIONS.items()}
        self.forms: Forms = operations if forms is None else forms
        self.chance = random.Random(seed)  # noqa: S311 - the same seed makes the same requests
        self._words = words
        self._kinds: tuple[Callable[[str], bytes], ...] = (self._make_broken, self._make_raw)

    def make(self, operation: str) -> bytes:
        """Return the body of a request: valid, as two of three are, broken, or no request."""
        if self._happens(0.67):
            return msgspec.json.encode(self.make_valid(operation))
        return self.chance.choice(self._kinds)(operation)

    def make_valid(self, operation: str) -> Node:
        """Return the fields of a request that conforms to its schema."""
        info = inspect.type_info(self.forms[operation])
        assert isinstance(info, inspect.StructType)
        return self._make_struct(info)

    def _happens(self, share: float) -> bool:
        """Return True in this share of the calls."""
        return self.chance.random() < share

    def _make_broken(self, operation: str) -> bytes:
        fields: Node = self.make_valid(operation)
        name = self.chance.choice(
            [*fields, *_list_fields(self.forms[operation]), "unknown", "schema_version"]
        )
        if fields and self._happens(0.2):
            del fields[self.chance.choice([*fields])]
        else:
            fields[name] = self.chance.choice(_JUNK)
        return _encode(fields)

    def _make_raw(self, operation: str) -> bytes:
        raw = self.chance.choice(_RAW)
        if self._happens(0.5):
            raw = _encode(self.make_valid(operation))
            place = self.chance.randrange(len(raw))
            raw = raw[:place] + self.chance.randbytes(self.chance.randrange(3)) + raw[place + 1 :]
        return raw

    def _make_struct(self, info: inspect.StructType) -> Node:
        chosen = [one for one in info.fields if one.required or self._happens(0.2)]
        return {one.encode_name: self._make_value(one.type, one.name) for one in chosen}

    def _make_value(self, info: inspect.Type, name: str) -> Any:
        if isinstance(info, inspect.UnionType):
            return self._make_value(self.chance.choice(info.types), name)
        if isinstance(info, inspect.ListType):
            count = self.chance.randint(info.min_length or 0, _MOST_ITEMS)
            return [self._make_value(info.item_type, name) for _ in range(count)]
        return (
            self._make_struct(info)
            if isinstance(info, inspect.StructType)
            else self._make_leaf(info, name)
        )

    def _make_leaf(self, info: inspect.Type, name: str) -> Any:
        """Return a value without parts."""
        if isinstance(info, inspect.LiteralType):
            return self.chance.choice(info.values)
        if isinstance(info, inspect.BytesType):
            return self.chance.choice(_BASE64)
        if isinstance(info, inspect.StrType):
            text = self._make_text(name)
            # The texts with a pattern may all be empty.
            return text if info.pattern is None or re.search(info.pattern, text) else ""
        if isinstance(info, inspect.BoolType):
            return self._happens(0.5)
        return None if isinstance(info, inspect.NoneType) else self._make_number(info)

    def _make_number(self, info: inspect.Type) -> Any:
        assert isinstance(info, inspect.IntType | inspect.FloatType), info
        least = -(2**31) if info.ge is None else info.ge
        most = 2**53 if info.le is None else info.le
        fitting = [one for one in (*_NUMBERS, least, most) if least <= one <= most]
        if isinstance(info, inspect.FloatType):
            return float(self.chance.choice([*fitting, self.chance.uniform(least, min(most, 1e6))]))
        return int(self.chance.choice(fitting))

    def _make_text(self, name: str) -> str:
        known = self._words.get(name, ())
        if known and self._happens(0.7):
            return self.chance.choice(known)
        if self._happens(0.2):
            letters = string.printable + "가나다ÅßΩ🙂"
            return "".join(self.chance.choices(letters, k=self.chance.randrange(1, 30)))
        return self.chance.choice(TEXTS)


def mutate(raw: bytes, chance: random.Random) -> bytes:
    """Return bytes with some of them replaced, dropped, repeated or added."""
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(raw) + 1)
        length = chance.choice((0, 1, 1, 2, 8, 64))
        junk = chance.choice(_MUTATIONS) or chance.randbytes(chance.randint(1, 4))
        raw = raw[:place] + junk * chance.choice((1, 1, 1, 50)) + raw[place + length :]
    return raw


_MUTATIONS = (
    *(b"", b"\0", b"\r\n", b"\n", b"\r\n\r\n", b" ", b":", b'"', b"{", b"[", b"}", b"\\u0000"),
    *(b"\xff", b"0", b"-1", b"9" * 20, b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"),
)


def _list_fields(form: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(form)]


def _encode(fields: Node) -> bytes:
    """Return JSON; `json` also writes numbers that `msgspec` refuses."""
    return json.dumps(fields).encode()

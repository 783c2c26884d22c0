"""Mutates files: flips, cuts, repeats, splices, deep nesting and extreme numbers."""

import io
import random
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import TypeAlias

_DEEP = (b"(", b"[", b"{", b"<div>", b"<a>", b"> ", b"  - ", b"\\begin{a}", b"* ", b"\x00", b"\xff")

Mutation: TypeAlias = Callable[[bytearray, random.Random, Sequence[bytes]], bytes]


def flip_bytes(data: bytearray, chance: random.Random, _: Sequence[bytes]) -> bytes:
    """Change a few bytes."""
    for _number in range(chance.randint(1, 32)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def cut_end(data: bytearray, chance: random.Random, _: Sequence[bytes]) -> bytes:
    """Cut off the end."""
    return bytes(data[: chance.randrange(len(data))])


def delete_part(data: bytearray, chance: random.Random, _: Sequence[bytes]) -> bytes:
    """Delete a part from the middle."""
    start, end = sorted(chance.choices(range(len(data) + 1), k=2))
    return bytes(data[:start] + data[end:])


def repeat_part(data: bytearray, chance: random.Random, _: Sequence[bytes]) -> bytes:
    """Repeat a part up to a thousand times."""
    start = chance.randrange(len(data))
    part = data[start : start + chance.randint(1, 64)]
    return bytes(data[:start] + part * chance.randint(2, 1000) + data[start:])


def splice_sample(data: bytearray, chance: random.Random, samples: Sequence[bytes]) -> bytes:
    """Replace a part by a part of another sample."""
    other = chance.choice(samples)
    start, end = sorted(chance.choices(range(len(data) + 1), k=2))
    first, last = sorted(chance.choices(range(len(other) + 1), k=2))
    return bytes(data[:start] + other[first:last] + data[end:])


def nest_deeply(data: bytearray, chance: random.Random, _: Sequence[bytes]) -> bytes:
    """Insert many openings that nothing closes."""
    start = chance.randrange(len(data))
    return bytes(data[:start] + chance.choice(_DEEP) * chance.randint(100, 50_000) + data[start:])


def raise_numbers(data: bytearray, chance: random.Random, _: Sequence[bytes]) -> bytes:
    """Replace some numbers by extreme ones."""
    extreme = chance.choice((b"4294967295", b"-1", b"0", b"99999999999999999999", b"1e309"))
    parts = bytes(data).split(b"1")
    return b"".join(
        part + (extreme if chance.random() < 0.2 else b"1")  # noqa: PLR2004 - a fifth of the numbers
        for part in parts
    )


def insert_noise(data: bytearray, chance: random.Random, _: Sequence[bytes]) -> bytes:
    """Insert random bytes."""
    start = chance.randrange(len(data))
    return bytes(data[:start] + chance.randbytes(chance.randint(1, 2000)) + data[start:])


MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes,
    cut_end,
    delete_part,
    repeat_part,
    splice_sample,
    nest_deeply,
    raise_numbers,
    insert_noise,
)


def mutate_file(data: bytes, chance: random.Random, samples: Sequence[bytes]) -> bytes:
    """Return a mutated file; half of the zip files are mutated inside a member."""
    if data[:2] == b"PK" and chance.random() < 0.5:  # noqa: PLR2004 - half of them
        inside = mutate_member(data, chance, samples)
        if inside is not None:
            return inside
    if not data:
        return chance.randbytes(chance.randint(0, 64))
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = chance.choice(MUTATIONS)(bytearray(data or b"\0"), chance, samples)
    return data


def mutate_member(data: bytes, chance: random.Random, samples: Sequence[bytes]) -> bytes | None:
    """Return a zip file with one mutated member, None when the file cannot be read."""
    target = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as out:
            chosen = chance.choice(source.namelist())
            for name in source.namelist():
                content = source.read(name)
                if name == chosen:
                    content = chance.choice(MUTATIONS)(bytearray(content or b"\0"), chance, samples)
                out.writestr(name, content, chance.choice((0, zipfile.ZIP_DEFLATED)))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError):
        return None
    return target.getvalue()

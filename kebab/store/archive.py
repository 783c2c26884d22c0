"""Reads archives of knowledge bases, which may be damaged or made to do harm."""

import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from kebab.errors.catalog import NotIndexed, StoreCorrupt
from kebab.errors.system import build_read_error, translate_os_errors
from kebab.store import vectors
from kebab.store.sqlite.connection import get_expected_schema_version
from kebab.wire.published import ArchiveManifest
from kebab.wire.record import DECODE_ERRORS

FORMAT_VERSION = 2
MANIFEST, INDEX, REVIEWS = "manifest.json", "kebab.sqlite", "reviews.sqlite"
TEXTS, VECTORS = "stdin", "lance"
"""The folders of the texts from standard input and of the vectors."""
_MAX_MANIFEST_BYTES = 1 << 20
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    *(ValueError, OverflowError, KeyError, *DECODE_ERRORS),
)
"""What the readers of zip files and of JSON raise for damaged ones."""


@contextmanager
def translate_damage(path: Path) -> Iterator[None]:
    """Raise what the content of an archive is to blame for as signals that name the archive.

    Raises:
        NotIndexed: A newer kebab wrote it.
        StoreCorrupt: It is damaged, or kebab did not write it.
    """
    try:
        yield
    except StoreCorrupt as fault:
        raise StoreCorrupt(path=str(path), cause=fault.cause, archive=str(path)) from fault
    except NotIndexed as fault:
        raise NotIndexed(
            data_dir=str(path), expected=fault.expected, found=fault.found, file=str(path)
        ) from fault
    except _DAMAGE as fault:
        cause = f"it is not whole: {fault}"
        raise StoreCorrupt(path=str(path), cause=cause, archive=str(path)) from fault


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open an archive; the caller closes it, and reads it within `translate_damage`."""
    with translate_os_errors(path, "read"):
        if not stat.S_ISREG(path.stat().st_mode):
            raise build_read_error(path, "it is not a regular file")
        with translate_damage(path):
            return zipfile.ZipFile(path)


class _Format(msgspec.Struct, frozen=True):
    """The part of a manifest that every version of the format has."""

    format_version: int


def read_manifest(archive: zipfile.ZipFile, is_text: Callable[[str], bool]) -> ArchiveManifest:
    """Return the manifest of an archive that has only members of known names.

    So no member leads out of the folder in which it is unpacked. `is_text` tells the names that
    texts from standard input have.
    """
    if archive.getinfo(MANIFEST).file_size > _MAX_MANIFEST_BYTES:
        raise ValueError("its manifest is too long")
    raw, path = archive.read(MANIFEST), str(archive.filename)
    version = msgspec.json.decode(raw, type=_Format).format_version
    schema = get_expected_schema_version()
    if version > FORMAT_VERSION:
        raise NotIndexed(data_dir=path, expected=str(FORMAT_VERSION), found=version)
    manifest = msgspec.json.decode(raw, type=ArchiveManifest)
    if manifest.index_schema > schema:
        raise NotIndexed(data_dir=path, expected=str(schema), found=manifest.index_schema)
    names = archive.namelist()
    unknown = [name for name in names if not _is_member(name, is_text)]
    if unknown or INDEX not in names:
        raise ValueError(f"not its members: {', '.join(unknown) or f'{INDEX} is missing'}")
    return manifest


def _is_member(name: str, is_text: Callable[[str], bool]) -> bool:
    folder, _, below = name.partition("/")
    if not below:
        return name in (MANIFEST, INDEX, REVIEWS)
    if folder == TEXTS:
        return is_text(below) and not {"/", "\\", "\0"}.intersection(below)
    return folder == VECTORS and vectors.is_own(below) and below.endswith(".npy")

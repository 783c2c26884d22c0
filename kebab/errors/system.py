"""Translates errors of the operating system and of imports into signals."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kebab.errors.catalog import DependencyMissing, IoError, Op

_NO_PATH = ("<", "'", '"')


def resolve_path(path: object, base: str = "") -> str:
    """Return a path that errors may name; a relative one lies below `base`, or where we are."""
    text = str(path)
    if text.startswith(_NO_PATH):
        return text
    try:
        return os.path.abspath(os.path.join(base, text))  # noqa: PTH100, PTH118 - no link is followed, and `Path` keeps `..`
    except FileNotFoundError:  # the folder that we are in was deleted
        return text


def build_io_error(fault: OSError, op: Op, path: object) -> IoError:
    """Return the signal for a refusal, in the system's own words."""
    return IoError(path=resolve_path(path), op=op, cause=fault.strerror or str(fault))


def build_read_error(path: object, cause: str) -> IoError:
    """Return the signal for a place that cannot be read, for a reason that kebab found itself."""
    return IoError(path=resolve_path(path), op="read", cause=cause)


def build_memory_error() -> IoError:
    """Return the signal for a machine that has no memory left."""
    return IoError(path="<memory>", op="create", cause="out of memory")


@contextmanager
def translate_os_errors(path: object, op: Op) -> Iterator[None]:
    """Turn a refusal of the file system within into the signal for it.

    Raises:
        IoError: The file system refused.
    """
    try:
        yield
    except OSError as fault:
        raise build_io_error(fault, op, path) from fault


@contextmanager
def translate_import_errors(feature: str, package: str) -> Iterator[None]:
    """Turn the failed import of a library within into the signal for it.

    Args:
        feature: What does not work without the library.
        package: The name that pip knows it by.

    Raises:
        DependencyMissing: It is not installed, or cannot be loaded.
    """
    try:
        yield
    except (ImportError, OSError) as fault:
        raise _build_missing(fault, feature, package) from fault


def build_import_error(fault: ImportError) -> DependencyMissing | None:
    """Return the signal for an import that nobody prepared for; None when it is our own fault."""
    library = (fault.name or "").partition(".")[0]
    if library in {"", "kebab", *sys.stdlib_module_names}:
        return None
    return _build_missing(fault, library, library)


def _build_missing(fault: ImportError | OSError, feature: str, package: str) -> DependencyMissing:
    # What is there and cannot be loaded is not mended by asking for it once more.
    command = "install" if isinstance(fault, ModuleNotFoundError) else "install --force-reinstall"
    return DependencyMissing(feature=feature, install=f"pip {command} {package}")

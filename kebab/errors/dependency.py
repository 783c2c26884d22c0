"""Libraries that cannot be loaded on this machine: the one translation of a failed import."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kebab.errors.catalog import DependencyMissing


@contextmanager
def needed(feature: str, package: str) -> Iterator[None]:
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
        raise _missing(fault, feature, package) from fault


def absent(fault: ImportError) -> DependencyMissing | None:
    """Return the signal for an import that nobody prepared for; None when it is our own fault."""
    library = (fault.name or "").partition(".")[0]
    if library in {"", "kebab", *sys.stdlib_module_names}:
        return None
    return _missing(fault, library, library)


def _missing(fault: ImportError | OSError, feature: str, package: str) -> DependencyMissing:
    # What is there and cannot be loaded is not mended by asking for it once more.
    command = "install" if isinstance(fault, ModuleNotFoundError) else "install --force-reinstall"
    return DependencyMissing(feature=feature, install=f"pip {command} {package}")

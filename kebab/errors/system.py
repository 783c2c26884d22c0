"""Translates errors of the operating system and of imports to signals."""

import errno
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from kebab.errors.catalog import DependencyMissing, IoError, Op, OutOfMemory
from kebab.errors.signal import Signal
from kebab.platform import read_address_space, read_memory_limit

_NO_PATH = ("<", "'", '"')
_MOST_CAUSES = 20
_NO_MEMORY = re.compile(
    r"std::bad_alloc|bad allocation|cannot allocate memory|failed to allocate memory|out of memory"
    r"|malloc failed|memory allocation of \d+ bytes failed|can't start new thread"
    r"|resource temporarily unavailable.{0,99}thread|pthread_create|failed to map segment",
    re.IGNORECASE,
)
"""How native libraries and the system word a lack of memory."""


def resolve_path(path: object, base: str = "") -> str:
    """Return an absolute path for errors; `base` or the working folder precedes a relative one."""
    text = str(path)
    if text.startswith(_NO_PATH):
        return text
    try:
        return os.path.abspath(os.path.join(base, text))  # noqa: PTH100, PTH118 - no link is followed, and `Path` keeps `..`
    except FileNotFoundError:  # the working folder was deleted
        return text


def escape_undecodable(text: str) -> str:
    r"""Return text that UTF-8 and JSON can carry; bytes that are not UTF-8 become `\xNN`."""
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that encodes no byte
        raw = text.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "backslashreplace")


def build_io_error(fault: OSError, op: Op, path: object) -> IoError:
    """Return the signal for an error of the system, with the text of the system."""
    return IoError(path=resolve_path(path), op=op, cause=fault.strerror or str(fault))


def build_read_error(path: object, cause: str) -> IoError:
    """Return the signal for a path that cannot be read for a reason that kebab has found."""
    return IoError(path=resolve_path(path), op="read", cause=cause)


def build_memory_error(operation: str = "") -> OutOfMemory:
    """Return the signal for a lack of memory during an operation."""
    return OutOfMemory(operation=operation or "kebab", limit_bytes=read_memory_limit())


_IMPORT_ADDRESS_SPACE = {
    "numpy": 150_000_000,
    "onnxruntime": 250_000_000,
    "pyarrow": 400_000_000,
    "lancedb": 2_300_000_000,
}
"""How many bytes of address space a library takes, with its threads; most of it is unused.

Measured: 83, 135, 245 and 2,130 MB, and up to 67 MB more when another thread allocates memory. With
less the native code ends the process, with exit status 1 and without an exception, or waits for
ever for a thread.
"""


class _AddressSpaceGuard:
    """Refuses the import of native libraries for which the address space is too small."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Return nothing, so that the next finder looks for the module.

        Raises:
            ImportError: The library would end the process.
        """
        del path, target
        limit = read_memory_limit()
        size = _IMPORT_ADDRESS_SPACE.get(name, 0)
        if size and limit is not None and limit - read_address_space() < size:
            raise ImportError(f"cannot allocate memory for the library {name}", name=name)


def guard_native_imports() -> None:
    """Refuse imports that would end the process, where the address space is limited."""
    if read_memory_limit() is not None and _AddressSpaceGuard not in sys.meta_path:
        sys.meta_path.insert(0, _AddressSpaceGuard)


def is_memory_fault(fault: BaseException) -> bool:
    """Return whether an exception or one of its causes is a lack of memory.

    Native libraries report it with an exception of their own and these words.
    """
    seen = 0
    cause: BaseException | None = fault
    while cause is not None and seen < _MOST_CAUSES:
        lacking = isinstance(cause, OSError) and cause.errno == errno.ENOMEM
        if lacking or isinstance(cause, MemoryError) or _NO_MEMORY.search(str(cause)):
            return True
        cause, seen = cause.__cause__ or cause.__context__, seen + 1
    return False


def is_interruption(fault: BaseException) -> bool:
    """Return whether Ctrl-C is the exception or its cause; an import may raise it as another."""
    cause: BaseException | None = fault
    for _ in range(_MOST_CAUSES):
        if cause is None or isinstance(cause, KeyboardInterrupt):
            break
        cause = cause.__cause__
    return isinstance(cause, KeyboardInterrupt)


@contextmanager
def translate_os_errors(path: object, op: Op) -> Iterator[None]:
    """Turn errors of the file system in the block into `IoError`."""
    try:
        yield
    except OSError as fault:
        raise build_io_error(fault, op, path) from fault


@contextmanager
def translate_import_errors(feature: str, package: str, extra: str | None = None) -> Iterator[None]:
    """Turn a failed import in the block into `DependencyMissing`, or into a lack of memory.

    Args:
        feature: The feature that needs the library.
        package: The name of the library's package for pip.
        extra: The extra of kebab that installs it; None when kebab always needs it.
    """
    try:
        yield
    except (ImportError, OSError) as fault:
        if is_memory_fault(fault):
            raise build_memory_error() from fault
        raise _build_missing(fault, feature, package, extra) from fault


def import_library(name: str, feature: str, package: str) -> Any:
    """Import a library that kebab always needs, and return it.

    Raises:
        DependencyMissing: It failed.
        KeyboardInterrupt: Ctrl-C ended the import, which the library reports as a failure.
        OutOfMemory: There is too little memory for it.
    """
    with translate_import_errors(feature, package):
        try:
            return import_module(name)
        except (ImportError, OSError) as fault:
            if is_interruption(fault):
                raise KeyboardInterrupt from fault
            raise


def build_import_error(fault: ImportError) -> Signal | None:
    """Return the signal for an unexpected failed import; None when the fault is a bug of kebab."""
    if is_memory_fault(fault):
        return build_memory_error()
    library = (fault.name or "").partition(".")[0]
    if library in {"", "kebab", *sys.stdlib_module_names}:
        return None
    return _build_missing(fault, library, library)


def build_missing_program(program: str, feature: str, install: str) -> DependencyMissing:
    """Return the signal for a program that is not there; `install` is the command that helps."""
    return DependencyMissing(feature=feature, install=install, program=program)


def _build_missing(
    fault: ImportError | OSError, feature: str, package: str, extra: str | None = None
) -> DependencyMissing:
    # `pip install` does not replace a package that is installed and broken.
    if not isinstance(fault, ModuleNotFoundError):
        return DependencyMissing(
            feature=feature,
            install=f"{_find_pip()} install --force-reinstall {package}",
            cause=str(fault),
        )
    wanted = [extra] if extra else []
    return DependencyMissing(feature=feature, install=format_install(package, wanted))


def format_install(package: str, extras: Sequence[str] = ()) -> str:
    """Return the command that installs a package, or extras of kebab, where kebab itself is.

    An installed kebab stays as it is, also when it was installed from a checkout.
    """
    wanted = shlex.quote(f"kebab[{','.join(extras)}]") if extras else package
    return f"{_find_pip()} install {wanted}"


def _find_pip() -> str:
    """Return how to call pip for this interpreter; another one may be the first in the path."""
    import shutil

    found = shutil.which("pip")
    if found and sys.executable and os.path.dirname(found) == os.path.dirname(sys.executable):  # noqa: PTH120 - links are kept
        return "pip"
    return f"{shlex.quote(sys.executable)} -m pip" if sys.executable else "pip"

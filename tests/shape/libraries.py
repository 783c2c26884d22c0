"""The exceptions that a library has of its own."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from contextlib import suppress
from types import ModuleType


def list_own_exceptions(package: str) -> set[type[BaseException]]:
    """Return every exception class that a library defines, its own programs left out."""
    return {
        thing
        for module in _modules(package)
        for thing in vars(module).values()
        if inspect.isclass(thing)
        and issubclass(thing, BaseException)
        and thing.__module__.partition(".")[0] == package
    }


def _modules(package: str) -> Iterator[ModuleType]:
    root = importlib.import_module(package)
    yield root
    for below in pkgutil.walk_packages(getattr(root, "__path__", []), f"{package}."):
        if {"cli", "__main__"}.isdisjoint(below.name.split(".")):
            with suppress(ImportError, AssertionError):  # made for another system
                yield importlib.import_module(below.name)

"""What a command can meet: a writer at work, damage, a server that is gone, a planted fault."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kebab.store.sqlite.lock import WriterLock
from tests.fakes.console import run
from tests.fakes.dead_ends import never_accepting, refusing

Meeting = Callable[[Path], AbstractContextManager[object]]


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Let another writer be at work."""
    with WriterLock(home / "data" / "kebab"):
        yield


@contextmanager
def changed(home: Path) -> Iterator[None]:
    """Let the index move."""
    (home / "notes" / "new.md").write_text("# New\n\nA restore that came later.\n")
    assert run("ingest", "notes").status == 0
    yield


@contextmanager
def logged(_: Path) -> Iterator[None]:
    """Let three things have gone wrong."""
    for line in (["search", ""], ["search", "x", "--cursor", "forged"], ["search", ""]):
        assert run(*line, "--json").status
    yield


@contextmanager
def gone(_: Path) -> Iterator[None]:
    """Let nothing listen where the model server should."""
    with refusing() as url, _environment(OLLAMA_HOST=url):
        yield


@contextmanager
def full(_: Path) -> Iterator[None]:
    """Let the model server take no connection."""
    with never_accepting() as url, _environment(OLLAMA_HOST=url):
        yield


def file(name: str, data: bytes) -> Meeting:
    """Let a file be there."""

    @contextmanager
    def meet(home: Path) -> Iterator[None]:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        yield

    return meet


def read(name: str, data: bytes) -> Meeting:
    """Let a note be there and indexed."""

    @contextmanager
    def meet(home: Path) -> Iterator[None]:
        (home / "notes" / name).write_bytes(data)
        assert run("ingest", "notes").status == 0
        yield

    return meet


def without(library: str) -> Meeting:
    """Let a library be missing."""

    @contextmanager
    def meet(_: Path) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, library, None)
            yield

    return meet


def taken(name: str) -> Meeting:
    """Let a file be taken away."""

    @contextmanager
    def meet(home: Path) -> Iterator[None]:
        (home / name).unlink()
        yield

    return meet


def raising(fault: BaseException) -> Callable[..., Any]:
    """Return an opener of knowledge bases that fails."""

    def open_(*_: Any, **__: Any) -> Any:
        raise fault

    return open_


@contextmanager
def _environment(**wanted: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in wanted.items():
            patch.setitem(os.environ, name, value)
        yield

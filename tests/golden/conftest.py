"""The flag that writes results anew, and the stage."""

import pytest

from tests.fakes.ollama import Model, fake_ollama
from tests.golden.stage import Stage


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="Write the golden files anew.")


@pytest.fixture
def update(request):
    return request.config.getoption("--update", default=False)


@pytest.fixture(scope="session")
def stage(tmp_path_factory):
    embeds = Model(name="embed:latest", capabilities=("embedding",))
    with fake_ollama("gemma3:4b", embeds) as server:
        yield Stage(tmp_path_factory.mktemp("stage"), server)

"""A command line over a scripted knowledge base."""

import os
from functools import partial

import pytest

from tests.fakes.console import environment, run
from tests.fakes.facade import FakeKebab


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in set(os.environ) - set(environment(tmp_path)):
        monkeypatch.delenv(name)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def opened():
    """The knowledge bases that commands opened, in order."""
    return []


@pytest.fixture
def kebab(opened):
    def opener(*arguments, **flags):
        opened.append(FakeKebab(*arguments, **flags))
        return opened[-1]

    return partial(run, opener=opener)

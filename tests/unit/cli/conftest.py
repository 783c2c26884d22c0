"""A command line over a scripted knowledge base."""

import os
from functools import partial

import pytest

from kebab.cli.channels import OutputChannel
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


@pytest.fixture
def pipe():
    """The end of a pipe that is read, and a channel that writes into the other."""
    reader, writer = os.pipe()
    yield reader, OutputChannel(writer, "<stdout>")
    for descriptor in (reader, writer):
        try:
            os.close(descriptor)
        except OSError:
            continue


TEXT = "# Doors\n\nOpen the the door.\n"


@pytest.fixture
def note(home, monkeypatch):
    monkeypatch.chdir(home)
    file = home / "a.md"
    file.write_text(TEXT, encoding="utf-8")
    return file


def requests(opened, name):
    """Return the requests of an operation that reached the opened knowledge bases."""
    return [request for known in opened for what, request in known.asked if what == name]

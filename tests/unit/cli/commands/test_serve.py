import pytest

from tests.fakes.console import run
from tests.fakes.warm import open_runtime_folder


@pytest.fixture
def runtime_folder(monkeypatch):
    with open_runtime_folder() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield folder


def test_nothing_runs_is_an_honest_no(runtime_folder):
    ran = run("serve", "--status")

    assert (ran.status, ran.out) == (1, "the warm process does not run\n")


def test_the_status_names_the_socket(runtime_folder):
    ran = run("serve", "--stop", "--json")

    assert ran.status == 1
    assert ran.reply["running"] is False
    assert ran.reply["socket"].startswith(str(runtime_folder))

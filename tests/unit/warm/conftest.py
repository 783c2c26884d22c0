import os

import pytest

from tests.fakes.console import environment
from tests.fakes.warm import open_runtime_folder, run_call, start_warm_process


@pytest.fixture
def runtime():
    with open_runtime_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The environment of a person with a small index."""
    home = tmp_path_factory.mktemp("warm")
    notes = home / "notes"
    notes.mkdir()
    (notes / "bread.md").write_text("# Bread\n\nSourdough needs time.\n", encoding="utf-8")
    (notes / "김치.md").write_text("# 김치\n\n김치는 배추로 담근다.\n", encoding="utf-8")
    environ = environment(home) | {"PYTHONPATH": os.getcwd()}  # noqa: PTH109 - a string is wanted
    done = run_call(environ, "ingest", str(notes))
    assert done.returncode == 0, done.stderr
    return environ


@pytest.fixture(scope="module")
def warm(base):
    with start_warm_process(base) as process:
        yield process

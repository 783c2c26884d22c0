import os

import pytest

from kebab.bench.sandbox import Sandbox, build_kebab_command
from tests.fakes.runner import FakeRunner


@pytest.fixture
def runner():
    return FakeRunner()


@pytest.fixture
def sandbox(tmp_path, runner, monkeypatch):
    monkeypatch.setenv("KEBAB_SEARCH_LIMIT", "3")
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    return Sandbox(tmp_path / "sandbox", tmp_path / "models", runner)


def test_processes_ignore_the_settings_of_the_user(sandbox, runner, tmp_path):
    sandbox.run(build_kebab_command("--help"))

    (environment,) = runner.environments
    ours = {name: value for name, value in environment.items() if name.startswith("KEBAB_")}
    assert ours == {
        "KEBAB_DAEMON_AUTO": "false",
        "KEBAB_DATA_DIR": str(tmp_path / "sandbox" / "data"),
        "KEBAB_MODELS_DIR": str(tmp_path / "models"),
        "KEBAB_OFFLINE": "true",
    }
    assert environment["HOME"].startswith(str(tmp_path))
    assert environment["ORT_DISABLE_TELEMETRY"] == "1"
    assert "XDG_DATA_HOME" not in environment


def test_variables_can_be_added_for_some_processes(sandbox, runner):
    sandbox.with_variables({"KEBAB_DAEMON_AUTO": "true"}).run(build_kebab_command("--help"))
    sandbox.run(build_kebab_command("--help"))

    first, second = runner.environments
    assert first == {**second, "KEBAB_DAEMON_AUTO": "true"}
    assert second["KEBAB_DAEMON_AUTO"] == "false"


def test_disk_space_is_that_of_the_data_directory(sandbox):
    (sandbox.data / "lance").mkdir(parents=True)
    (sandbox.data / "kebab.db").write_bytes(b"x" * 10_000)
    (sandbox.data / "lance" / "rows").write_bytes(b"x" * 10_000)
    (sandbox.folder / "notes.md").write_bytes(b"x" * 100_000)
    os.sync()

    assert 20_000 <= sandbox.count_disk_bytes() < 60_000


def test_kebab_runs_from_another_folder(tmp_path):
    outcome = Sandbox(tmp_path / "sandbox", tmp_path / "models").run(
        build_kebab_command("--version")
    )

    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(b"kebab ")


@pytest.mark.parametrize("forbidden", [True, False])
def test_bytecode_is_cached_even_if_none_is_written_beside_the_sources(
    tmp_path, runner, monkeypatch, forbidden
):
    monkeypatch.setattr("sys.dont_write_bytecode", forbidden)
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)

    Sandbox(tmp_path / "sandbox", tmp_path / "models", runner).run(build_kebab_command("--help"))

    (environment,) = runner.environments
    assert ("PYTHONPYCACHEPREFIX" in environment) is forbidden
    assert not (forbidden and environment["PYTHONDONTWRITEBYTECODE"])

import socket
from pathlib import Path

import pytest

from kebab.config.settings import Settings, Watch
from kebab.store.sqlite.connection import get_database_path
from kebab.warm.client import LENGTH_BYTES
from kebab.warm.worker import WATCH, Demand, build_demand, receive_demand, send_demand


@pytest.fixture
def settings(tmp_path):
    database = get_database_path(tmp_path / "kb")
    database.parent.mkdir(parents=True)
    database.touch()
    return Settings(data_dir=str(tmp_path / "kb"), watch=Watch(auto=True))


def test_settings_without_a_watcher_want_none(tmp_path):
    assert build_demand(Settings(), tmp_path / "config.toml", {}) is None


def test_a_knowledge_base_without_an_index_wants_none(tmp_path):
    settings = Settings(data_dir=str(tmp_path), watch=Watch(auto=True))

    assert build_demand(settings, tmp_path / "config.toml", {}) is None


def test_paths_of_a_demand_are_absolute(settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environ = {"KEBAB_WORKSPACE": "notes", "LANG": "C"}
    demand = build_demand(settings, Path("own.toml"), environ)

    assert demand == Demand(
        f"{tmp_path}/kb",
        ["--data-dir", f"{tmp_path}/kb", "--config", f"{tmp_path}/own.toml"],
        {"KEBAB_WORKSPACE": f"{tmp_path}/notes", "LANG": "C"},
    )


def test_a_demand_arrives_whole():
    demand = Demand("/데이터", ["--data-dir", "/데이터"], {f"V{n}": "x" * 1000 for n in range(50)})
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send_demand(theirs, demand)

        assert ours.recv(1) == WATCH
        assert receive_demand(ours) == demand


def test_a_worker_that_ends_amid_a_demand_is_noticed():
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            theirs.sendall((100).to_bytes(LENGTH_BYTES, "big") + b"half")
        with pytest.raises(ConnectionError):
            receive_demand(ours)

"""No test sees the person who runs it: not the home, not the settings, not the network."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from kebab.config.load import load_settings
from kebab.config.settings import Settings, find_default_config, resolve_paths
from tests.isolation import DEFAULT_PORTS, KEPT, REAL, UNREACHABLE, NetworkUseError, is_kept

OUTSIDE = ("KEBAB_", "OPENAI_", "HF_", "HUGGINGFACE_", "OLLAMA_", "XDG_", "PIP_")


def test_the_home_is_an_empty_temporary_folder():
    assert Path.home().is_relative_to(tempfile.gettempdir())
    assert not list(Path.home().iterdir())
    assert str(Path.home()) != REAL["HOME"]


def test_the_default_places_lie_below_the_home():
    for place in (find_default_config(), *list_personal_folders()):
        assert place.is_relative_to(Path.home())


def list_personal_folders():
    found = resolve_paths(Settings())
    return (found.data, found.models, found.state)


def test_the_settings_are_the_defaults():
    assert load_settings() == Settings()


@pytest.mark.parametrize("mark", ["first", "second"])
def test_no_test_sees_what_another_left_in_its_home(mark):
    assert not (Path.home() / "left").exists()
    (Path.home() / "left").write_text(mark)


def test_variables_of_the_person_are_not_seen():
    seen = {name for name in os.environ if not is_kept(name)} - {"HOME", *UNREACHABLE}

    assert not [name for name in seen if os.environ[name] == REAL.get(name)]
    assert not [name for name in seen if name.startswith(OUTSIDE) or "proxy" in name.lower()]
    assert not [name for name in KEPT if name.startswith(OUTSIDE)]


def test_a_child_process_sees_the_same():
    program = "import os, pathlib; print(pathlib.Path.home()); print(*sorted(os.environ))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    home, names = ran.stdout.splitlines()

    assert home == str(Path.home())
    # Libraries in C set these below Python.
    below = {"COLUMNS", "LINES", "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    assert set(names.split()) - below == set(os.environ) - below


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "10.0.0.1"])
def test_connecting_to_another_machine_raises(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for call in (socket.socket.connect, socket.socket.connect_ex):
        with socket.socket(family) as one, pytest.raises(NetworkUseError):
            call(one, (address, 80))
    with socket.socket(family, socket.SOCK_DGRAM) as one, pytest.raises(NetworkUseError):
        one.sendto(b"x", (address, 53))


def test_looking_up_a_name_raises():
    with pytest.raises(NetworkUseError):
        socket.getaddrinfo("example.org", 443)
    with pytest.raises(NetworkUseError):
        httpx.get("https://example.org")


def test_a_model_server_of_this_machine_is_not_reached():
    for port in DEFAULT_PORTS:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def test_loopback_and_unix_sockets_work(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    first, second = socket.socketpair()
    first.close()
    second.close()


def test_the_real_world_is_back_only_inside(isolation):
    with isolation.real_world():
        assert dict(os.environ) == REAL
    assert set(os.environ) != set(REAL)

import os
import socket
import sys

import pytest

from kebab.warm import client


def test_a_change_of_what_the_interpreter_read_at_its_start_is_another_identity():
    one = client.compute_identity({"LANG": "C.UTF-8"})

    assert client.compute_identity({"LANG": "C.UTF-8", "HOME": "/elsewhere"}) == one
    assert client.compute_identity({"LANG": "ko_KR.UTF-8"}) != one


def test_the_name_of_a_socket_is_the_same_in_every_process():
    environ = {"XDG_RUNTIME_DIR": "/run/user/7"}

    assert client.find_socket(environ, b"identity") == client.find_socket(environ, b"identity")
    assert client.find_socket(environ, b"identity") != client.find_socket(environ, b"another")
    assert str(client.find_socket(environ, b"identity")).startswith("/run/user/7/kebab/")


def test_without_a_runtime_folder_it_is_a_temporary_one_of_the_user():
    assert client.find_folder({"TMPDIR": "/t"}) == f"/t/kebab-{os.getuid()}"
    assert (
        client.find_folder({"TMPDIR": "t", "XDG_RUNTIME_DIR": "r"}) == f"/tmp/kebab-{os.getuid()}"
    )


def test_a_path_that_is_too_long_for_a_socket_is_none():
    assert client.find_socket({"XDG_RUNTIME_DIR": "/" + "x" * 200}, b"identity") is None


def test_only_a_folder_that_nobody_else_can_enter_is_private(tmp_path):
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir(mode=0o700)
    link.symlink_to(folder)

    assert client.is_private_folder(str(folder))
    assert not client.is_private_folder(str(link))
    assert not client.is_private_folder(str(tmp_path / "nowhere"))
    folder.chmod(0o710)
    assert not client.is_private_folder(str(folder))


@pytest.mark.skipif(sys.platform != "linux", reason="SO_PEERCRED")
def test_only_a_peer_of_this_user_is_an_own_one(monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert client.is_own_peer(ours)
        monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
        assert not client.is_own_peer(ours)

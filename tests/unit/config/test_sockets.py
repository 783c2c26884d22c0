import os
import subprocess

import pytest

from kebab.config.sockets import find_fault, find_folder, is_private_folder


def test_without_a_runtime_folder_it_is_a_temporary_one_of_the_user():
    assert find_folder({"TMPDIR": "/t"}) == f"/t/kebab-{os.getuid()}"
    assert find_folder({"TMPDIR": "t", "XDG_RUNTIME_DIR": "r"}) == f"/tmp/kebab-{os.getuid()}"


def test_only_a_folder_that_nobody_else_can_enter_is_private(tmp_path):
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir(mode=0o700)
    link.symlink_to(folder)

    assert is_private_folder(str(folder))
    assert not is_private_folder(str(link))
    assert not is_private_folder(str(tmp_path / "nowhere"))
    folder.chmod(0o710)
    assert not is_private_folder(str(folder))


@pytest.mark.parametrize("kind", ["open", "link"])
def test_the_command_that_is_named_mends_a_folder_that_is_not_private(kind, tmp_path):
    environ, state = {"XDG_RUNTIME_DIR": str(tmp_path)}, str(tmp_path / "state")
    assert find_fault(environ, state) is None
    folder = tmp_path / "kebab"
    if kind == "link":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir(mode=0o755)
    fault = find_fault(environ, state)

    assert fault is not None
    assert fault[0].endswith(f": {folder}")
    subprocess.run(fault[1], shell=True, check=True)
    assert find_fault(environ, state) is None


@pytest.mark.parametrize("name", ["XDG_RUNTIME_DIR", "TMPDIR"])
def test_the_folder_of_another_user_is_left_for_that_of_the_state(name, tmp_path, monkeypatch):
    environ, state = {name: str(tmp_path)}, tmp_path / "my state"
    folder = find_folder(environ)
    os.mkdir(folder, 0o700)  # noqa: PTH102 - a string
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    fault = find_fault(environ, str(state))

    assert fault is not None
    assert "belongs to another user" in fault[0]
    assert fault[1] == f"export {name}='{state}'"
    assert find_fault({name: str(state)}, str(state)) is None

import os
from pathlib import PureWindowsPath

import pytest

from tools.other_systems.windows_paths import WindowsPath, to_linux, to_windows


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("C:\\notes\\a.md", "/notes/a.md"),
        ("c:/notes/a.md", "/notes/a.md"),
        ("\\\\?\\C:\\notes", "/notes"),
        ("\\notes", "/notes"),
        ("sub\\a.md", "sub/a.md"),
        ("C:", "/"),
        ("/notes/a.md", "/notes/a.md"),
        ("file:///C:/notes/a.db?mode=ro", "file:///notes/a.db?mode=ro"),
        (PureWindowsPath("C:/notes"), "/notes"),
        (b"raw", b"raw"),
        (3, 3),
    ],
)
def test_a_path_of_windows_stands_for_one_on_this_machine(path, expected):
    assert to_linux(path) == expected


def test_a_path_has_a_drive_and_backslashes(tmp_path):
    path = WindowsPath(to_windows(str(tmp_path)))

    assert str(path / "a" / "b") == "C:" + f"{tmp_path}/a/b".replace("/", "\\")
    assert path.absolute() == path.expanduser() == path
    assert WindowsPath("a").absolute() == WindowsPath.cwd() / "a"
    assert path.resolve() == WindowsPath(to_windows(os.path.realpath(tmp_path)))
    assert WindowsPath("~").expanduser() == WindowsPath.home()

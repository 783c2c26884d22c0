import os

import pytest

from kebab.errors.system import resolve_path


@pytest.mark.parametrize(
    ("path", "base", "named"),
    [
        ("a.md", "", "{here}/a.md"),
        ("./x/../a.md", "", "{here}/a.md"),
        ("/notes/a.md", "", "/notes/a.md"),
        ("sub/a.md", "/notes", "/notes/sub/a.md"),
        ("/else/a.md", "/notes", "/else/a.md"),
        ("<stdout>", "", "<stdout>"),
        (repr("a\0b"), "", "'a\\x00b'"),
    ],
)
def test_a_path_becomes_absolute_and_other_text_stays(path, base, named, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    assert resolve_path(path, base) == named.format(here=tmp_path)


def test_a_deleted_working_folder_leaves_the_path_unchanged(monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert resolve_path("a.md") == "a.md"
    os.chdir(tmp_path)

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
def test_a_path_is_named_from_the_root_and_what_is_none_stays(
    path, base, named, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)

    assert resolve_path(path, base) == named.format(here=tmp_path)


def test_a_folder_that_is_gone_leaves_the_path_as_it_is(monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert resolve_path("a.md") == "a.md"
    os.chdir(tmp_path)

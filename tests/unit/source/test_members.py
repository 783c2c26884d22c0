import io
import zipfile

import pytest

from kebab.source import members
from kebab.source.members import clean_name, is_export, make_unique, read_directory


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../../etc/x.md", "etc/x.md"),
        ("C:\\a\\.\\b.md", "C:/a/b.md"),
        ("Yahoo!/c\x01.md", "Yahoo/c_.md"),
        ("Wow!!/d.md", "Wow/d.md"),
        ("..", ""),
        ("\ud800.md", "_.md"),
    ],
)
def test_the_name_of_a_member_is_a_relative_path(name, expected):
    assert clean_name(name) == expected


def test_many_equal_names_are_not_compared_with_each_other():
    taken: dict[str, int] = {}
    names = {make_unique("a.md", taken) for _ in range(20_000)}

    assert len(names) == 20_000


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Home/Page 0123456789abcdef0123456789abcdef.md", True),
        ("0123456789abcdef0123456789abcdef.js", False),
    ],
)
def test_exports_are_known_by_their_names(tmp_path, name, expected):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "x")
        archive.writestr(name, "x")

    assert is_export(str(path)) is expected
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="damaged"):
        is_export(str(path))
    path.unlink()
    with pytest.raises(FileNotFoundError):
        is_export(str(path))


def test_the_directory_of_an_archive_is_bounded(monkeypatch):
    file = io.BytesIO()
    link = zipfile.ZipInfo("link.md")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("a.md", "b.md", link):
            archive.writestr(name, "x")
    assert [one.filename for one in read_directory(file)] == ["a.md", "b.md"]

    monkeypatch.setattr(members, "MAX_FILES", 2)
    with pytest.raises(ValueError, match="more than 2 files"):
        read_directory(file)
    monkeypatch.setattr(members, "_MAX_DIRECTORY_BYTES", 50)
    with pytest.raises(ValueError, match="directory is too large"):
        read_directory(file)

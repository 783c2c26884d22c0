import pytest

from kebab.store.derived_file import DerivedFile


@pytest.fixture
def file(tmp_path):
    return DerivedFile(tmp_path / "new" / "file", b"magic 1 ")


def test_the_content_is_read_as_it_was_written_last(file):
    assert file.read() is None

    for content in (b"first", b"", b"last"):
        file.write(content)

        assert file.read() == content
    assert [path.name for path in file.path.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("place", [0, 8, 12, -1])
def test_a_changed_byte_or_a_lost_end_counts_as_missing(file, place):
    file.write(b"content")
    raw = bytearray(file.path.read_bytes())
    raw[place] ^= 1
    file.path.write_bytes(raw)
    assert file.read() is None

    raw[place] ^= 1
    file.path.write_bytes(raw[:-1])
    assert file.read() is None


def test_a_file_of_another_format_counts_as_missing(file):
    file.write(b"content")

    assert DerivedFile(file.path, b"magic 2 ").read() is None


def test_nothing_is_written_where_writing_is_switched_off(file):
    DerivedFile(file.path, b"magic 1 ", read_only=True).write(b"content")

    assert not file.path.parent.exists()


def test_a_refused_draft_leaves_the_old_file(file, monkeypatch):
    file.write(b"old")
    monkeypatch.setattr("kebab.store.derived_file.rename_over", lambda *_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        file.write(b"new")

    assert file.read() == b"old"
    assert [path.name for path in file.path.parent.iterdir()] == ["file"]

import pytest

from kebab.server.pictures import detect_picture, locate_picture, read_picture
from tests.unit.server.conftest import PNG


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\nx", "image/png"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"", None),
    ],
)
def test_pictures_are_known_by_their_content(data, kind):
    assert detect_picture(data) == kind


def test_a_picture_lies_in_the_folder_of_the_source(tmp_path):
    note, folder = tmp_path / "source" / "a" / "note.md", tmp_path / "source"
    note.parent.mkdir(parents=True)
    for name in ("source/x.png", "out.png"):
        (tmp_path / name).touch()

    assert locate_picture(str(note), str(folder), "../x.png") == (folder / "x.png").resolve()
    for source in ("../../out.png", "/x.png", "gone.png", "", ".", "..", "x\0.png", "x" * 5_000):
        assert locate_picture(str(note), str(folder), source) is None


def test_a_picture_is_known_by_its_content_and_size(tmp_path, monkeypatch):
    picture, other = tmp_path / "x.png", tmp_path / "x.jpg"
    picture.write_bytes(PNG)
    other.write_bytes(b"<svg onload=alert(1)>")

    assert read_picture(picture) == (PNG, "image/png")
    for missing in (other, tmp_path / "gone.png", tmp_path):
        assert read_picture(missing) is None
    monkeypatch.setattr("kebab.server.pictures.MOST_PICTURE_BYTES", 4)
    assert read_picture(picture) is None

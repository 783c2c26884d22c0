import struct
import zlib

import pytest

from kebab.web.pictures import PageTask, detect_picture, locate_picture, measure_picture
from tests.pdf_files import Text, build_pdf

WHITE = (255, 255, 255)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\nx", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>", None),
        (b"", None),
    ],
)
def test_pictures_are_known_by_their_content(data, kind):
    assert detect_picture(data) == kind


@pytest.mark.parametrize(
    ("head", "pixels"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x75\x30\0\0\x75\x30", 900_000_000),
        (b"GIF89a\xff\xff\xff\xff", 65_535**2),
        (b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\x27\0\x0f\x27\0", 10_000**2),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0/\x0f\xc0\x03\0", 256),
        (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x10\0\x20\0", 512),
        (b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\xff\xff\xff\xff", 65_535**2),
        (b"\xff\xd8\xff\xe0\0\x04ab\xff\xda\0\x08", None),
    ],
)
def test_the_size_of_a_picture_is_read_from_its_head(head, pixels):
    assert measure_picture(head + b"\0\0") == pixels


def test_a_picture_lies_in_the_folder_of_the_source(tmp_path):
    note, folder = tmp_path / "source" / "a" / "note.md", tmp_path / "source"
    note.parent.mkdir(parents=True)
    for name in ("source/x.png", "out.png"):
        (tmp_path / name).touch()

    assert locate_picture(str(note), str(folder), "../x.png") == (folder / "x.png").resolve()
    for source in ("../../out.png", "/x.png", "gone.png", "", ".", "..", "x\0.png", "x" * 5_000):
        assert locate_picture(str(note), str(folder), source) is None


@pytest.fixture
def file(tmp_path):
    lines = [Text(72, 700, "The kiln is cold."), Text(72, 600, "A second line of it.")]
    path = tmp_path / "a.pdf"
    path.write_bytes(build_pdf([lines, [Text(72, 700, "Two")]]))
    return str(path)


def read_png(data):
    """Return the width, the height and the pixels of a picture, row by row."""
    width, height = struct.unpack(">II", data[16:24])
    begin = data.index(b"IDAT")
    (size,) = struct.unpack(">I", data[begin - 4 : begin])
    raw = zlib.decompress(data[begin + 4 : begin + 4 + size])
    rows = [raw[row * (3 * width + 1) :][1 : 3 * width + 1] for row in range(height)]
    return width, height, rows


def find_marks(data):
    """Return the highest and the lowest row with a pixel that is tinted, and the tints."""
    _, _, rows = read_png(data)
    tints: dict[tuple[int, int, int], list[int]] = {}
    for y, row in enumerate(rows):
        for pixel in zip(row[::3], row[1::3], row[2::3], strict=True):
            if pixel[0] > pixel[2] + 50:
                tints.setdefault(pixel, []).append(y)
    return {pixel: (min(found), max(found)) for pixel, found in tints.items() if len(found) > 50}


def test_a_page_is_a_picture_without_marks_unless_asked(file):
    assert read_png(PageTask(file, 1, 1.0, "", "")())[:2] == (595, 842)
    assert read_png(PageTask(file, 1, 0.01, "", "")())[:2] == (149, 211)
    assert not find_marks(PageTask(file, 1, 1.0, "nowhere at all", "")())
    assert PageTask(file, 3, 1.0, "", "")() is None


def test_the_passage_and_the_quotation_are_marked_where_they_stand(file):
    marks = find_marks(PageTask(file, 1, 1.0, "The kiln\nis cold.", "cold")())

    (top, bottom), (quote_top, quote_bottom) = marks[255, 238, 150], marks[255, 182, 54]
    assert 130 < top <= bottom < 155
    assert top <= quote_top <= quote_bottom <= bottom


def test_lines_of_a_passage_are_marked_where_the_page_has_not_all_of_it(file):
    marks = find_marks(PageTask(file, 1, 1.0, "A second line of it.\nOn another page.", "")())

    assert [230 < top <= bottom < 255 for top, bottom in marks.values()] == [True]

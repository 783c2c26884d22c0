import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.ocr import ImageParser
from tests.fakes.tesseract import install_tesseract
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_pages_of_a_picture_are_numbered(folder):
    install_tesseract(folder, r"first page\f\fthird page\f")

    document = ImageParser().parse((SAMPLES / "scan-two-pages.tif").read_bytes(), "dir/scan.tif")

    assert document.text == "first page\n\nthird page"
    assert [(place.number, place.of) for place in document.places] == [(1, 3), (3, 3)]
    assert document.title == "scan"


def test_what_is_no_picture_is_refused_without_the_program(folder):
    with pytest.raises(ParseFailed) as refusal:
        ImageParser().parse(b"%PDF-1.4", "a.png")

    assert refusal.value.cause == "not a picture"


def test_a_picture_without_text_says_so(folder):
    install_tesseract(folder, r" . \f")

    with pytest.raises(ParseFailed) as refusal:
        ImageParser().parse((SAMPLES / "scan.png").read_bytes(), "a.png")

    assert refusal.value.cause == "no text in the picture"

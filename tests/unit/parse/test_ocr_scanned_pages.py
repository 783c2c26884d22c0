import pypdfium2
import pytest

from kebab.core.files import OcrSettings
from kebab.errors.catalog import DependencyMissing, ParseFailed
from kebab.parse.ocr import draw_page
from kebab.parse.pdf import PdfParser
from tests.fakes.tesseract import install_tesseract
from tests.pdf_files import Text, build_pdf, write_lines
from tests.shape.tree import ROOT

SCANNED = (ROOT / "samples" / "formats" / "scanned.pdf").read_bytes()
SHIFTED = "".join(chr(max(ord(char) - 29, 33)) for char in "the vineyard keeps a sensor " * 3)
BROKEN = build_pdf([write_lines([SHIFTED] * 9)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def parse(data, **settings):
    return PdfParser(OcrSettings(**settings)).parse(data, "a.pdf")


def test_only_the_pages_without_text_are_recognised(folder):
    log = install_tesseract(folder, "Minutes of the society")

    document = parse(SCANNED)

    assert document.text == ("Minutes of the society\n\nThis second page has letters of its own.")
    assert [place.number for place in document.places] == [1, 2]
    assert document.warnings == ("text of page 1 was recognised in images and may have mistakes",)
    assert log.read_text().count("stdin stdout") == 1


def test_pages_of_broken_fonts_are_recognised(folder):
    install_tesseract(folder, "the vineyard keeps a sensor")

    assert parse(BROKEN).text == "the vineyard keeps a sensor"


def test_without_the_program_the_pages_with_text_are_read(folder):
    assert parse(SCANNED).warnings == ("no text on page 1: only images",)

    with pytest.raises(DependencyMissing):
        parse(BROKEN)


def test_a_page_that_takes_too_long_is_left_out(folder):
    program = folder / "tesseract"
    program.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    program.chmod(0o755)

    document = parse(SCANNED, page_deadline_s=0.2)

    assert document.text == "This second page has letters of its own."


def test_the_time_for_a_file_is_bounded(folder, monkeypatch):
    monkeypatch.setattr("kebab.parse.ocr._TIME_SHARE", -1)
    log = install_tesseract(folder, "text")

    assert parse(SCANNED).warnings == ("no text on page 1: only images",)
    assert not log.exists()


def test_a_document_without_any_text_in_its_images_says_so(folder):
    install_tesseract(folder, "")

    with pytest.raises(ParseFailed) as refusal:
        parse(BROKEN)

    assert refusal.value.cause == "the text is unreadable: broken fonts"


def test_a_page_is_drawn_in_grey_with_bounded_pixels(monkeypatch):
    document = pypdfium2.PdfDocument(build_pdf([[Text(72, 700, "dark letters", size=40)]]))

    picture, dpi = draw_page(document, 0)
    head, body = picture[:17], picture[17:]

    assert (head, dpi) == (b"P5\n2066 2924\n255\n", 250)
    assert len(body) == 2066 * 2924
    assert min(body) < 60
    assert max(body) > 200

    monkeypatch.setattr("kebab.parse.ocr.MAX_PIXELS", 10_000)
    small, dpi = draw_page(document, 0)

    assert len(small) < 11_000
    assert dpi < 20

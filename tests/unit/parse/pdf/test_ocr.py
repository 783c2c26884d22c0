import shutil

import pypdfium2
import pytest

from kebab.core.files import OcrSettings
from kebab.errors.catalog import DependencyMissing, ParseFailed, TimedOut
from kebab.parse.blocks import TextBuilder
from kebab.parse.pdf.document import PdfParser
from kebab.parse.pdf.ocr import ImageParser, draw_page, recognize_text, write_recognized_text
from kebab.parse.pdf.paragraphs import LineJoiner
from tests.fakes.tesseract import install_tesseract
from tests.pdf_files import Text, build_pdf, write_lines
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"
HAS_TESSERACT = shutil.which("tesseract") is not None


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def recognize(settings=OcrSettings(), **options):  # noqa: B008 - immutable
    return recognize_text(b"picture", settings, "a.png", **options)


def test_the_picture_and_the_languages_reach_the_program(folder):
    log = install_tesseract(folder, "text")

    recognize(OcrSettings("eng+kor"), dpi=250)

    assert log.read_text().split() == [
        *("stdin", "stdout", "-l", "eng+kor", "--psm", "1"),
        *("-c", "preserve_interword_spaces=1", "--dpi", "250"),
        str(len(b"picture")),
    ]


def test_without_the_program_the_error_says_how_to_install_it(folder):
    with pytest.raises(DependencyMissing) as missing:
        recognize()

    assert missing.value.program == "tesseract"
    assert "install" in missing.value.install


def test_a_language_that_is_not_installed_is_named(folder, monkeypatch):
    monkeypatch.setattr("kebab.platform.SYSTEM", "linux")
    error = "Failed loading language \\047chi_sim\\047"
    install_tesseract(folder, "", error=error, status=1)

    with pytest.raises(DependencyMissing) as missing:
        recognize(OcrSettings("chi_sim"))

    assert missing.value.install == "sudo apt install tesseract-ocr-chi-sim"


def test_a_picture_that_the_program_refuses_is_damaged(folder):
    install_tesseract(folder, "", error="Error in pixReadMem", status=1)

    with pytest.raises(ParseFailed) as refusal:
        recognize()

    assert refusal.value.cause == "damaged: the picture cannot be read"


@pytest.mark.parametrize(
    "act", ["exec /bin/sleep 60", "while :; do :; done"], ids=["sleep", "spin"]
)
def test_a_page_has_a_deadline(folder, act, monkeypatch):
    monkeypatch.setattr("kebab.limits.deadline.WALL_FACTOR", 4)
    program = folder / "tesseract"
    program.write_text(f"#!/bin/sh\n{act}\n")
    program.chmod(0o755)

    with pytest.raises(TimedOut) as late:
        recognize(OcrSettings(page_deadline_s=0.1))

    assert late.value.elapsed_ms >= late.value.deadline_ms == 100
    assert (late.value.setting, late.value.path) == ("ingest.ocr_page_deadline_s", "a.png")


def test_a_page_may_wait_longer_than_its_processor_time(folder):
    install_tesseract(folder, "Some words")
    program = folder / "tesseract"
    program.write_text(program.read_text().replace("\n", "\n/bin/sleep 0.5\n", 1))

    assert recognize(OcrSettings(page_deadline_s=0.2)) == ["Some words"]


def test_paragraphs_are_joined_and_specks_left_out():
    builder = TextBuilder()
    text = "The hedge along the ca-\nnal is cut.\n\n~ |\n\nNext\n . \n"
    write_recognized_text(builder, text, LineJoiner(text.splitlines()))

    assert builder.build("a.png").text == "The hedge along the canal is cut.\n\nNext"


@pytest.mark.skipif(not HAS_TESSERACT, reason="needs the program tesseract")
def test_the_real_program_reads_a_page():
    image = (SAMPLES / "scan.png").read_bytes()

    (text,) = recognize_text(image, OcrSettings(), "scan.png")

    assert "Minutes of the allotment society" in text
    assert "Margarethe" in text


def test_the_pages_of_a_picture_are_numbered(folder):
    install_tesseract(folder, r"first page\f\fthird page\f")

    document = ImageParser().parse((SAMPLES / "scan-two-pages.tif").read_bytes(), "dir/scan.tif")

    assert document.text == "first page\n\nthird page"
    assert [(place.number, place.of) for place in document.places] == [(1, 3), (3, 3)]
    assert document.title == "scan"


def test_a_picture_without_text_says_so(folder):
    install_tesseract(folder, r" . \f")

    with pytest.raises(ParseFailed) as refusal:
        ImageParser().parse((SAMPLES / "scan.png").read_bytes(), "a.png")

    assert refusal.value.cause == "no text in the picture"


SCANNED = (ROOT / "samples" / "formats" / "scanned.pdf").read_bytes()
SHIFTED = "".join(chr(max(ord(char) - 29, 33)) for char in "the vineyard keeps a sensor " * 3)
BROKEN = build_pdf([write_lines([SHIFTED] * 9)])


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


def test_a_page_that_takes_too_long_is_left_out(folder, monkeypatch):
    monkeypatch.setattr("kebab.limits.deadline.WALL_FACTOR", 4)
    program = folder / "tesseract"
    program.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    program.chmod(0o755)

    document = parse(SCANNED, page_deadline_s=0.2)

    assert document.text == "This second page has letters of its own."


def test_the_time_for_a_file_is_bounded(folder, monkeypatch):
    monkeypatch.setattr("kebab.parse.pdf.ocr._TIME_SHARE", -1)
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

    monkeypatch.setattr("kebab.parse.pdf.ocr.MAX_PIXELS", 10_000)
    small, dpi = draw_page(document, 0)

    assert len(small) < 11_000
    assert dpi < 20

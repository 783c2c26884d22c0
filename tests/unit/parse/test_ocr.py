import shutil

import pytest

from kebab.core.files import OcrSettings
from kebab.errors.catalog import DependencyMissing, ParseFailed, TimedOut
from kebab.parse.blocks import TextBuilder
from kebab.parse.ocr import recognize_text, write_recognized_text
from tests.fakes.tesseract import install_tesseract
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"
HAS_TESSERACT = shutil.which("tesseract") is not None


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def recognize(settings=OcrSettings(), **options):  # noqa: B008 - immutable
    return recognize_text(b"picture", settings, "a.png", "image-v1", **options)


def test_the_pages_are_separated(folder):
    install_tesseract(folder, r"one\ftwo\f")

    assert recognize() == ["one", "two"]


def test_the_picture_and_the_languages_reach_the_program(folder):
    log = install_tesseract(folder, "text")

    recognize(OcrSettings("eng+kor"), dpi=250)

    assert log.read_text().split() == [
        *("stdin", "stdout", "-l", "eng+kor", "--dpi", "250"),
        str(len(b"picture")),
    ]


def test_without_the_program_the_error_says_how_to_install_it(folder):
    with pytest.raises(DependencyMissing) as missing:
        recognize()

    assert missing.value.program == "tesseract"
    assert "install" in missing.value.install


def test_a_language_that_is_not_installed_is_named(folder, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
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
def test_a_page_has_a_deadline(folder, act):
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
    write_recognized_text(builder, "The hedge along the ca-\nnal is cut.\n\n~ |\n\nNext\n . \n")

    assert builder.build("a.png").text == "The hedge along the canal is cut.\n\nNext"


@pytest.mark.skipif(not HAS_TESSERACT, reason="needs the program tesseract")
def test_the_real_program_reads_a_page():
    image = (SAMPLES / "scan.png").read_bytes()

    (text,) = recognize_text(image, OcrSettings(), "scan.png", "image-v1")

    assert "Minutes of the allotment society" in text
    assert "Margarethe" in text

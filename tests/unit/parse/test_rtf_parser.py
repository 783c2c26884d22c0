from pathlib import Path

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.rtf import RtfParser

SAMPLES = Path("samples/formats")


def parse(data):
    return RtfParser().parse(data, "dir/a.rtf")


def parse_sample(name):
    return parse((SAMPLES / name).read_bytes())


@pytest.mark.parametrize("name", ["harbour-libreoffice.rtf", "harbour-pandoc.rtf"])
def test_headings_and_tables_are_read(name):
    text = parse_sample(name).text

    assert "# Keeping the lamps\n\nThe quay lamps burn" in text
    assert "## Oil" in text
    assert "| Lamp | Oil a night | Keeper |\n|---|---|---|\n| North pier | 2.4 l | Aino |" in text


def test_lists_properties_and_footnotes_are_read():
    document = parse_sample("harbour-libreoffice.rtf")

    assert document.title == "Harbour lamps"
    assert document.metadata.authors == ("Nora Lind",)
    assert (
        "1. Fill the tank to the red line.\n2. Trim the wick:\n  - short in summer" in document.text
    )
    assert document.text.endswith("the log.^1\n\n1. Both are kept in the harbour office.")


def test_a_korean_text_is_read_and_a_title_of_question_marks_is_none():
    document = parse_sample("lighthouse-libreoffice.rtf")

    assert document.metadata.title is None
    assert document.title == "\ub4f1\ub300\uc9c0\uae30\uc758 \ucc45"
    assert document.lang == "ko"
    assert (
        "\ub4f1\ub300\uc758 \ubd88\ube5b\uc740 \uc774\uc2ed \ud0ac\ub85c\ubbf8\ud130"
        in document.text
    )


@pytest.mark.parametrize("data", [b"", b"text", b"{\\html", b"\xd0\xcf\x11\xe0"])
def test_other_files_are_refused(data):
    with pytest.raises(ParseFailed, match="not an RTF file"):
        parse(data)


def test_keywords_are_tags():
    assert parse(b"{\\rtf1{\\info{\\keywords oil, lamps;oil}}a}").metadata.tags == ("oil", "lamps")

import pytest

from kebab.core.documents import BlockKind
from kebab.errors.catalog import ParseFailed
from kebab.parse.pdf import document as pdf
from kebab.parse.pdf.document import PdfParser
from kebab.parse.registry import PARSER_EXCEPTIONS
from tests.pdf_files import Text, assemble, build_pdf, write_lines
from tests.shape.libraries import list_own_exceptions
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"


def parse(data, path="a.pdf"):
    return PdfParser().parse(data, path)


def parse_sample(name):
    return parse((SAMPLES / name).read_bytes(), name)


def list_headings(document):
    return [
        (block.level, block.label) for block in document.blocks if block.kind is BlockKind.HEADING
    ]


def get_cause(data):
    with pytest.raises(ParseFailed) as refusal:
        parse(data)
    return refusal.value.cause


def test_an_article_in_columns_is_read_column_by_column_under_its_headings():
    document = parse_sample("columns.pdf")

    assert list_headings(document) == [
        (1, "Soil Moisture Sensors in Vineyards"),
        (1, "Abstract"),
        (1, "1 Introduction"),
        (2, "1.1 Materials"),
        (1, "2 Results"),
        (1, "3 Conclusion"),
    ]
    assert "1 Introduction\n\nThe introduction begins with the copper probes." in document.text
    assert document.text.count("Journal of Garden Sensors") == 1  # a running head
    assert "\ufffe" not in document.text
    assert document.text.count("instrumentation was recorded after irrigation.") > 3
    assert (
        "- The first probe stood in gravel, where water ran away within an hour of every rain\n"
        "- The second probe stood in clay\n"
        "- The third probe broke"
    ) in document.text
    assert document.metadata.authors == ("Ann Example", "Bo Sample")


@pytest.mark.parametrize("name", ["columns.pdf", "report.pdf", "korean.pdf", "japanese.pdf"])
def test_the_words_of_a_page_are_on_that_page(name):
    import pypdfium2

    data = (SAMPLES / name).read_bytes()
    document = parse(data, name)
    ends = [place.start for place in document.places[1:]] + [len(document.text)]
    raw = pypdfium2.PdfDocument(data)

    for place, end in zip(document.places, ends, strict=True):
        page = raw[place.number - 1].get_textpage().get_text_range()
        letters = "".join(char for char in page if char.isalnum())
        words = document.text[place.start : end].split()
        found = ["".join(char for char in word if char.isalnum()) for word in words]
        assert [word for word in found if word not in letters] == []


def test_a_page_of_pictures_is_named():
    document = parse_sample("scanned.pdf")

    assert document.text == "This second page has letters of its own."
    assert document.warnings == ("no text on page 1: only images",)


def test_each_file_that_cannot_be_read_gets_its_own_cause():
    whole = (SAMPLES / "columns.pdf").read_bytes()

    assert get_cause(b"") == "the file is empty"
    assert get_cause(b"<html>no</html>") == "not a PDF file"
    assert get_cause(whole[:300]) == "damaged: the end of the file is missing"
    assert get_cause(build_pdf([])) == "damaged: the structure of the PDF cannot be read"
    assert get_cause(build_pdf([[], []])) == "no text"
    assert get_cause((SAMPLES / "encrypted.pdf").read_bytes()) == (
        "the file is encrypted: it opens only with a password"
    )
    # PDFium does not say why this one fails, and keeps the reason of the last file.
    without_pages = assemble({1: b"<< /Type /Catalog >>"}, 1)
    assert get_cause(without_pages) == "damaged: the structure of the PDF cannot be read"


def test_a_document_of_pictures_says_so():
    import re

    scanned = (SAMPLES / "scanned.pdf").read_bytes()
    only_picture = re.sub(
        rb"/Count 2 /Kids \[ (\d+ 0 R) \d+ 0 R \]", rb"/Count 1 /Kids [ \1 ]", scanned
    )

    assert get_cause(only_picture) == "only images, no text"


def test_fonts_that_do_not_say_their_letters_make_a_page_unreadable():
    shifted = "".join(chr(max(ord(char) - 29, 33)) for char in "the vineyard keeps a sensor " * 3)
    pages = [write_lines([shifted] * 9), [Text(72, 700, "This page can be read.")]]

    document = parse(build_pdf(pages))

    assert document.text == "This page can be read."
    assert document.warnings == ("text of page 1 is unreadable: broken fonts",)
    assert get_cause(build_pdf(pages[:1])) == "the text is unreadable: broken fonts"


@pytest.mark.parametrize(("name", "limit"), [("MAX_PAGES", 2), ("MAX_CHARS", 12)])
def test_pages_beyond_a_limit_are_left_out_with_a_warning(monkeypatch, name, limit):
    monkeypatch.setattr(pdf, name, limit)

    document = parse(build_pdf([[Text(72, 700, f"text {number}")] for number in "abc"]))

    assert document.text == "text a\n\ntext b"
    assert document.warnings == ("only the first 2 of 3 pages are searched",)


def test_without_a_title_in_the_properties_the_largest_text_is_the_title():
    page = [
        Text(72, 760, "How to prune roses", size=22),
        *write_lines(["Cut them in spring."] * 4, top=700),
    ]

    assert parse(build_pdf([page], info="/Title (Microsoft Word - x.doc)")).title == (
        "How to prune roses"
    )
    assert parse(build_pdf([page], info="/Title (Roses)")).title == "Roses"


def test_lists_of_pages_are_short():
    assert pdf._format_pages([4]) == "page 4"
    assert pdf._format_pages([2, 3, 9]) == "pages 2, 3, 9"
    assert pdf._format_pages([*range(30)]) == "pages 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more"


def test_every_exception_of_the_library_is_one_that_is_caught_or_of_other_work():
    own = {kind for kind in list_own_exceptions("pypdfium2") if not issubclass(kind, Warning)}

    assert {kind.__name__ for kind in own if not issubclass(kind, PARSER_EXCEPTIONS)} == {
        "_ImageExtractionError"  # of saving pictures as files
    }

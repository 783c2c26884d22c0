import pypdfium2
import pytest

from kebab.parse.pdf.document import PdfParser
from kebab.parse.pdf.pages import _ALEF_LAM, PageReader
from kebab.parse.pdf.rows import build_rows
from tests.pdf_files import FONT, Text, assemble, build_pdf

ENGLISH = "Dry soil warms faster than wet soil, so the curve reveals the moisture of the ground. "


def read(*texts):
    document = pypdfium2.PdfDocument(build_pdf([texts]))
    return PageReader(document.raw).read(0)


def test_a_line_has_its_place_and_its_font():
    (segment,) = read(Text(72, 700, "bold words", size=14, bold=True)).segments

    assert segment.text == "bold words"
    assert (segment.size, segment.bold, segment.turned) == (14, True, False)
    assert (round(segment.left), round(segment.base)) == (72, 700)
    assert 130 < segment.right < 160


def test_a_hyphen_that_divides_a_word_is_marked():
    page = read(Text(72, 700, "the transmis-"), Text(72, 688, "sion of the well-known sign"))

    assert [(one.text, one.hyphen) for one in page.segments] == [
        ("the transmis-", True),
        ("sion of the well-known sign", False),
    ]


def test_a_page_is_read_by_its_language_where_the_fonts_name_no_letters(monkeypatch):
    text = ENGLISH.replace("warms", "\x1crst")
    monkeypatch.setattr(PageReader, "_get_text", lambda *_: (text, len(text)))
    document = pypdfium2.PdfDocument(build_pdf([[Text(10, 700, ENGLISH, size=4)]]))
    reader = PageReader(document.raw)
    reader._has_error = lambda *_: 1

    page = reader.read(0)

    assert page.legible
    assert page.segments[0].text.startswith("Dry soil first faster")


def test_a_page_on_its_side_reads_from_its_own_left():
    page = read(Text(300, 72, "first line", turned=True), Text(312, 72, "second", turned=True))

    assert [(one.text, one.turned, round(one.left), round(one.base)) for one in page.segments] == [
        ("first line", False, 72, -300),
        ("second", False, 72, -312),
    ]


def draw(content):
    data = assemble(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
            3: FONT % b"Helvetica",
            4: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>",
            5: b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content),
        },
        3,
    )
    document = pypdfium2.PdfDocument(data)
    return PageReader(document.raw).read(0).segments


def test_raised_text_is_found_where_the_matrix_has_the_size_of_the_font():
    segments = draw(
        b"BT /F1 1 Tf 10 0 0 10 72 700 Tm (10) Tj 6 0 0 6 83.1 704 Tm (5) Tj"
        b" 10 0 0 10 90 700 Tm (cells) Tj"
        b" 6 0 0 6 72 682 Tm (o) Tj 10 0 0 10 75.3 680 Tm (See the map) Tj ET"
    )

    assert [(one.text, one.size) for one in segments] == [("10⁵ cells", 10), ("o See the map", 10)]


def test_a_text_across_the_page_is_no_line_of_it():
    segments = draw(b"BT /F1 9 Tf 1 0 0 1 72 700 Tm (a line) Tj 1 1 -1 1 99 99 Tm (DRAFT) Tj ET")

    assert [(one.text, one.turned) for one in segments] == [("a line", False), ("DRAFT", True)]


def test_an_exponent_that_begins_a_line_of_pdfium_is_at_its_base():
    page = read(Text(72, 700, "x", size=11), Text(77.5, 704, "2", size=8), Text(85, 700, "= 9"))

    assert " ".join(one.text for one in page.segments) == "x² = 9"


def test_values_of_forms_and_comments_are_read():
    value = b"BT /F1 10 Tf 2 2 Td (Harbour office) Tj ET"
    data = assemble(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
            3: FONT % b"Helvetica",
            4: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 9 0 R"
            b" /Annots [5 0 R 6 0 R 8 0 R] >>",
            5: b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (Harbour office) /F 4"
            b" /Rect [70 700 200 715] /AP << /N 7 0 R >> >>",
            6: b"<< /Type /Annot /Subtype /Highlight /Rect [0 0 9 9] /T (Ann)"
            b" /Contents (Who is it?) >>",
            7: b"<< /Type /XObject /Subtype /Form /BBox [0 0 130 15]"
            b" /Resources << /Font << /F1 3 0 R >> >> /Length %d >>\nstream\n%b\nendstream"
            % (len(value), value),
            8: b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /Contents (a link) >>",
            9: b"<< /Length 2 >>\nstream\nq Q\nendstream",
        },
        3,
    )
    document = pypdfium2.PdfDocument(data)
    page = PageReader(document.raw).read(0)

    assert [segment.text for segment in page.segments] == ["Harbour office"]
    assert page.comments == ("Comment by Ann: Who is it?",)


def test_the_text_of_a_page_is_bounded(monkeypatch):
    monkeypatch.setattr("kebab.parse.pdf.pages.MAX_PAGE_CHARS", 8)

    page = read(Text(72, 700, "abcdefghijklmn"))

    assert (page.segments[0].text, page.cut) == ("abcdefgh", True)


@pytest.mark.parametrize(
    ("before", "small", "rise", "text"),
    [
        ("a load of 10", "5", 4, "a load of 10⁵"),
        ("a rate of 10", "-3", 4, "a rate of 10⁻³"),
        ("an area of 25 m", "2", 4, "an area of 25 m²"),
        ("shown in 1998", "3", 4, "shown in 1998 ³"),
        ("water is H", "2", -2, "water is H2"),
        ("a name", "th", 4, "a nameth"),
    ],
)
@pytest.mark.parametrize("gap", [0, 0.5], ids=["one word", "two words"])
def test_raised_digits_become_superscripts(before, small, rise, text, gap):
    (first,) = read(Text(72, 700, before)).segments

    page = read(
        Text(72, 700, before),
        Text(first.right + gap, 700 + rise, small, size=6),
        Text(72, 600, "end"),
    )

    assert build_rows(page.segments)[0].text == text


@pytest.mark.parametrize(("step", "text"), [(0, "سلام"), (5, "سالم")])
def test_the_letters_of_an_arabic_ligature_stand_in_order(step, text):
    document = pypdfium2.PdfDocument(build_pdf([[Text(72, 700, "abcdef")]]))
    reader = PageReader(document.raw)

    def place(_text, index, x, _y):
        x._obj.value = step * index

    reader._get_origin = place

    assert _ALEF_LAM.sub(reader._order_ligature, "سالم") == text


def test_columns_of_vertical_text_go_from_right_to_left():
    columns = ("吾輩は猫である。", "名前はまだ無い。", "見当がつかぬ。")
    shows = (
        f"BT /F1 12 Tf 1 0 0 1 {500 - 20 * at} 780 Tm <{text.encode('utf-16-be').hex()}> Tj ET"
        for at, text in enumerate(columns)
    )
    content = "\n".join(shows).encode()
    data = assemble(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
            3: b"<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3-UniJIS-UTF16-V"
            b" /Encoding /UniJIS-UTF16-V /DescendantFonts [5 0 R] >>",
            4: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 6 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>",
            5: b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /DW 1000"
            b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >>"
            b" /DW2 [880 -1000] /FontDescriptor 7 0 R >>",
            6: b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content),
            7: b"<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 6 /Ascent 709"
            b" /CapHeight 709 /FontBBox [-123 -257 1001 910] /ItalicAngle 0 /Descent -241 >>",
        },
        3,
    )

    assert PdfParser().parse(data, "a.pdf").text == "".join(columns)

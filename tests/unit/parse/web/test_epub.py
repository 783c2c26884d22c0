import io
import zipfile
from pathlib import Path

import pytest

from kebab.core.documents import Omission
from kebab.errors.catalog import ParseFailed
from kebab.parse.web.epub import EpubParser

SAMPLES = Path("samples/formats")
CONTAINER = "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>"
OPF = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>Lamps</dc:title><dc:creator>Nora</dc:creator><dc:language>en-GB</dc:language>
<dc:date>2024-03-05</dc:date><dc:subject>oil</dc:subject></metadata>
<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>
<item id="b" href="text/b%20c.xhtml" media-type="application/xhtml+xml"/>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="x" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="i" href="i.png" media-type="image/png"/></manifest>
<spine><itemref idref="b"/><itemref idref="n"/><itemref idref="a"/><itemref idref="i"/></spine>
</package>"""
NAV = "<html><body><nav><a href='a.xhtml#x'>First</a><a href='text/b%20c.xhtml'>Second</a></nav>"
PARTS = {
    "META-INF/container.xml": CONTAINER,
    "OPS/book.opf": OPF,
    "OPS/a.xhtml": "<?xml version='1.0'?><html><head><title/></head><body><p>alpha</p></body>",
    "OPS/text/b c.xhtml": "<html><body><h2>Own</h2><p>beta</p></body></html>",
    "OPS/nav.xhtml": NAV,
}


def build_zip(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, text in parts.items():
            if text is not None:
                file.writestr(name, text)
    return buffer.getvalue()


def parse(data):
    return EpubParser().parse(data, "dir/a.epub")


def refuse(data):
    with pytest.raises(ParseFailed) as refusal:
        parse(data)
    return refusal.value.cause


def test_what_a_browser_would_hide_is_text_of_a_book():
    page = "<html><body><p>alpha</p><p hidden>gamma</p></body></html>"
    assert "gamma" in parse(build_zip({**PARTS, "OPS/a.xhtml": page})).text


def test_drawings_in_the_reading_order_are_chapters():
    opf = OPF.replace("i.png", "i.svg").replace("image/png", "image/svg+xml")
    drawing = (
        "<svg xmlns='http://www.w3.org/2000/svg'><text>gamma <tspan>delta</tspan></text></svg>"
    )
    text = parse(build_zip({**PARTS, "OPS/book.opf": opf, "OPS/i.svg": drawing})).text
    assert text.endswith("gamma delta")


def encrypt(algorithm):
    return {
        "META-INF/encryption.xml": "<encryption><EncryptedData><EncryptionMethod "
        f"Algorithm='{algorithm}'/></EncryptedData></encryption>"
    }


def test_chapters_are_read_in_the_order_of_the_spine_with_their_titles():
    document = parse(build_zip(PARTS))

    assert document.text == "## Own\n\nbeta\n\n# First\n\nalpha"
    assert document.title == "Lamps"
    assert document.metadata.authors == ("Nora",)
    assert document.metadata.date == "2024-03-05"
    assert document.metadata.lang == "en"
    assert document.metadata.tags == ("oil",)
    assert document.omissions == (Omission("tables of contents", "Second"),)


def test_a_book_of_pandoc_is_read():
    document = parse((SAMPLES / "lighthouse-pandoc.epub").read_bytes())

    assert document.title == "등대지기의 책"
    assert document.metadata.authors == ("이수진",)
    assert "# 첫째 장: 불빛\n\n등대의" in document.text
    assert "닿는다.^1" in document.text
    assert document.text.index("## 렌즈") < document.text.index("# 둘째 장")


def test_a_book_of_libreoffice_is_read():
    document = parse((SAMPLES / "harbour-libreoffice.epub").read_bytes())

    assert document.metadata.title == "Harbour lamps"
    assert "# Keeping the lamps" in document.text
    assert "| North pier | 2.4 l | Aino |" in document.text


def test_a_protected_book_is_named_as_such():
    aes = encrypt("http://www.w3.org/2001/04/xmlenc#aes256-cbc")

    assert refuse(build_zip({**PARTS, **aes})) == "the book is protected (DRM)"


def test_a_book_whose_fonts_are_encrypted_is_read():
    fonts = encrypt("http://www.idpf.org/2008/embedding")

    assert "alpha" in parse(build_zip({**PARTS, **fonts})).text


def test_a_broken_chapter_costs_only_itself():
    broken = {**PARTS, "OPS/a.xhtml": None, "OPS/text/b c.xhtml": bytes(range(256)) * 9}
    extra = OPF.replace(
        "<manifest>", '<manifest><item id="c" href="c.html" media-type="text/html"/>'
    )
    extra = extra.replace("<spine>", '<spine><itemref idref="c"/>')
    document = parse(build_zip({**broken, "OPS/book.opf": extra, "OPS/c.html": "<p>gamma"}))

    assert document.text == "gamma"
    assert document.warnings == (
        "a chapter is unreadable: b c.xhtml",
        "a chapter is missing: a.xhtml",
    )


def test_a_book_without_a_container_is_read():
    assert "alpha" in parse(build_zip({**PARTS, "META-INF/container.xml": None})).text


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"no zip", "damaged: not a zip archive"),
        (build_zip({"a.txt": "x"}), "not an EPUB book: it has no package document"),
        (build_zip({**PARTS, "OPS/book.opf": None}), "damaged: `OPS/book.opf` is missing"),
    ],
)
def test_what_is_no_book_is_refused_for_a_reason(data, cause):
    assert refuse(data) == cause


def test_a_book_of_pictures_has_no_text():
    page = "<html><body><img src='x'/></body></html>"
    pictures = {"OPS/a.xhtml": page, "OPS/text/b c.xhtml": page, "OPS/nav.xhtml": None}

    assert parse(build_zip({**PARTS, **pictures})).text == ""

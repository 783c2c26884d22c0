import re
import zipfile

import pytest

from kebab.core.documents import BlockKind
from kebab.errors.catalog import ParseFailed
from kebab.parse.docx import DocxParser
from tests.shape.tree import ROOT
from tests.unit.parse.office.office_files import build_docx, build_zip, parse_docx
from tests.unit.parse.office.office_files import build_paragraph as para

SAMPLES = sorted((ROOT / "samples" / "formats").glob("*.docx"))


def refuse(data):
    with pytest.raises(ParseFailed) as refusal:
        DocxParser().parse(data, "dir/a.docx")
    return refusal.value.cause


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples_have_their_headings_lists_and_tables(path):
    document = DocxParser().parse(path.read_bytes(), path.name)
    kinds = {block.kind for block in document.blocks}

    assert {BlockKind.HEADING, BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE} <= kinds
    assert document.title in {"Greenhouse handbook", "Lighthouse log"}
    assert document.metadata.authors in {("Mira Holt", "김하늘"), ("Jun Park", "Aiko Sato")}
    assert any("가" <= char <= "힣" for char in document.text)
    assert any("ぁ" <= char <= "ゖ" for char in document.text)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_word_of_a_sample_stands_under_its_heading(path):
    """The paragraphs of the file are read here by patterns, apart from the parser."""
    with zipfile.ZipFile(path) as file:
        body = file.read("word/document.xml").decode()
    document = DocxParser().parse(path.read_bytes(), path.name)
    sections: dict[str, str] = {}
    heading = current = ""
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            heading = block.label
        sections[heading] = sections.get(heading, "") + document.text[block.start : block.end]
    for paragraph in re.findall(r"<w:p[ >].*?</w:p>", body, re.DOTALL):
        plain = re.sub(r"<w:del .*?</w:del>", "", paragraph)
        text = "".join(re.findall(r"<w:t(?: [^>]*)?>([^<]*)</w:t>", plain)).strip()
        if re.search(r'<w:pStyle w:val="(?:Heading\d|Title)"', paragraph):
            current = text
        for word in text.split():
            assert word in sections[current]


def test_a_document_of_pictures_alone_is_refused():
    assert refuse(build_docx("<w:p><w:r><w:drawing/></w:r></w:p>")) == "only images, no text"


def test_an_empty_document_has_no_blocks():
    assert parse_docx("").blocks == ()


def test_damaged_files_are_refused():
    assert refuse(b"PK\x03\x04") == "damaged: the zip archive is cut off or broken"
    assert refuse(build_zip({"a.txt": "x"})) == "damaged: it has no main part"
    assert refuse(build_docx("<w:p>")).startswith(
        "damaged: the XML of `word/document.xml` is broken"
    )


def test_deeply_nested_tables_are_refused():
    deep = "<w:tbl><w:tr><w:tc>" * 100_000

    assert refuse(build_docx(deep)) == "`word/document.xml` is nested more than 200 levels deep"


def test_nesting_within_the_limit_is_read():
    deep = "<w:tbl><w:tr><w:tc>" * 60 + para("deep") + "</w:tc></w:tr></w:tbl>" * 60

    assert parse_docx(deep).text == "deep"

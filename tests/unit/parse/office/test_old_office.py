import sys
from functools import partial
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from kebab.core.chunks import Place
from kebab.core.media import detect_media_type
from kebab.errors.catalog import DependencyMissing, ParseFailed
from kebab.parse.office import old_office
from kebab.parse.office.docx import DocxParser
from kebab.parse.office.old_office import FAULTS, DocParser, OldOfficeParser, _ElementWriter
from kebab.parse.registry import PARSERS
from tests.shape.libraries import list_own_exceptions
from tests.unit.parse.office.compound_files import build_compound, build_hwp
from tests.unit.parse.office.office_files import build_zip

SAMPLES = Path("samples/formats")
HwpParser, PptParser = (partial(OldOfficeParser, kind) for kind in ("hwp", "ppt"))
DAMAGED, ENCRYPTED = "damaged, or of another kind", "the file is encrypted"


def parse_sample(name):
    return PARSERS[str(detect_media_type(name))].parse((SAMPLES / name).read_bytes(), name)


def refuse(parser, data):
    with pytest.raises(ParseFailed) as refusal:
        parser().parse(data, "a")
    return refusal.value.cause


def test_a_word_file_is_read_as_the_document_that_it_was_made_from():
    old, new = parse_sample("lighthouse-libreoffice.doc"), parse_sample("lighthouse.docx")

    assert old.title == "Lighthouse log"
    assert old.metadata.authors == ("Jun Park", "Aiko Sato")
    assert old.metadata.date == "2024-05-06T07:08:09Z"
    assert "## Care\n\n1. Trim the wick\n2. Polish the lens\n- use a dry cloth" in old.text
    assert "| Quarter | Keeper | Oil |\n|---|---|---|\n| Spring | Park | 310 |" in old.text
    headings = [block.label for block in old.blocks if block.level]
    assert headings == [block.label for block in new.blocks if block.level]


def test_slides_are_places_with_titles_lists_tables_and_notes():
    document = parse_sample("tour-libreoffice.ppt")

    assert [(place.number, place.of) for place in document.places] == [(n, 4) for n in range(1, 5)]
    assert document.text.startswith(
        "# Lighthouse tour\n\nSpring 2024\n\n> Notes: Welcome the guests at the pier.\n\n"
        "# Lamp room\n\n- The lamp turns once in nine seconds\n- driven by a falling weight\n\n"
        "# Oil by season\n\n| Season | Litres |\n|---|---|\n| Spring | 310 |"
    )
    assert document.metadata.authors == ("Aiko Sato",)


def test_the_xml_form_of_hangul_has_headings_tables_and_notes():
    document = parse_sample("lighthouse.hwpx")

    assert document.text == (
        "# 등대 일지\n\n등대의 불빛은 이십 킬로미터까지 닿는다.\n\n## 기름\n\n"
        "| 분기 | 담당 | 기름 |\n|---|---|---|\n| 봄 | 박 | 310 |\n| 여름 | 사토 | 180 |\n\n"
        "Footnote: 날씨가 맑을 때만 그렇다.\n\n안개가 낀 밤에는 경적을 삼십 초마다 울린다."
    )
    assert document.metadata.date == "2025-09-17T04:33:13Z"


def test_of_a_damaged_document_the_preview_is_read_and_said_so():
    data = build_hwp([], PrvText="미리 보기".encode("utf-16-le"), DocInfo=b"\xff" * 9, flags=1)
    document = HwpParser().parse(data, "a.hwp")

    assert document.text == "미리 보기"
    assert document.warnings == (
        "only the preview is read, which is the beginning of the text: the rest is damaged",
    )


def test_other_and_protected_files_are_refused_with_the_reason():
    manifest = {
        "META-INF/manifest.xml": "<a><encryption-data/></a>",
        "Contents/content.hpf": "<a/>",
    }

    assert refuse(DocParser, b"plain words") == "damaged: not a compound file"
    assert refuse(PptParser, build_compound({"Workbook": b"x"})) == DAMAGED
    assert refuse(DocParser, build_compound({"WordDocument": b"x"})) == DAMAGED
    assert refuse(PptParser, build_hwp([(0, "words")])) == DAMAGED
    assert refuse(HwpParser, build_hwp([(0, "a")], flags=2)) == ENCRYPTED
    assert refuse(HwpParser, build_zip(manifest)) == ENCRYPTED
    assert refuse(HwpParser, build_zip({"a.txt": b"x"})) == DAMAGED
    assert "Hangul 3" in refuse(HwpParser, b"HWP Document File V3.00 \x1a\1\2\3\4\5")


def test_a_merged_cell_stands_in_each_of_its_rows():
    from dochan.model.document import Paragraph, TextRun
    from dochan.model.header_footer import Footnote
    from dochan.model.table import Cell, Table

    def cell(text, rows=1, columns=1):
        return Cell([Paragraph([TextRun(text)])], row_span=rows, col_span=columns)

    note = Footnote(paragraphs=[Paragraph([TextRun("below")])])
    table = Table([[cell("a", rows=2), cell("b")], [cell("", 0, 0), cell("c")]])
    table.rows[0][1].paragraphs.append(note)
    writer = _ElementWriter([])
    writer.add([table, Table([[cell("alone")]])])

    assert writer.builder.build("a").text == (
        "| a | b |\n|---|---|\n| a | c |\n\nFootnote: below\n\nalone"
    )


@pytest.mark.parametrize(
    ("parser", "library"),
    [(DocParser, "doc2docx"), (DocParser, "dochan.cfb"), (HwpParser, "dochan")],
)
def test_a_missing_library_names_the_extra(monkeypatch, parser, library):
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(DependencyMissing) as missing:
        parser().parse(build_compound({"a": b"x"}), "a")
    assert "kebab[office]" in missing.value.install


def test_every_exception_of_the_library_is_one_that_is_caught():
    from doc2docx.errors import Doc2DocxError

    own = list_own_exceptions("doc2docx")

    assert not {kind for kind in own if not issubclass(kind, (Doc2DocxError, *FAULTS))}
    assert Doc2DocxError in own


def test_footers_of_slides_are_left_out_those_of_hangul_stand_at_the_end_and_slides_have_numbers():
    from dochan.model.document import Paragraph, TextRun
    from dochan.model.header_footer import HeaderFooter

    text = "Harbour office".encode("utf-16-le")
    string = b"\x20\0\xba\x0f" + len(text).to_bytes(4, "little") + text
    stream = b"\x3f\0\xd9\x0f" + len(string).to_bytes(4, "little") + string
    writer = _ElementWriter([])
    writer.add([HeaderFooter("footer", [Paragraph([TextRun("Page 3"), TextRun(" draft")])])])

    assert list(old_office._list_footers(b"\0" * 8 + stream + string)) == ["Harbour office"]
    assert writer.margins == [("footer", ["Page 3 draft"])]
    writer.add_slide([Paragraph([TextRun("Tide")])], Place(0, 3))
    assert writer.builder.build("a").text == "# Slide 3\n\nTide"


def test_a_long_word_file_is_read_without_conversion_and_said_so(monkeypatch):
    monkeypatch.setattr(old_office, "_MAX_CONVERTED_BYTES", 0)
    document = parse_sample("lighthouse-libreoffice.doc")

    assert "# Lamp\n\nThe lamp burns 12 litres of oil each night." in document.text
    assert document.warnings == ("the numbers of lists and the places of notes are not read",)


def test_a_partly_damaged_file_keeps_the_warnings_of_its_reader(monkeypatch):
    def parse(self, data, path):
        return read(self, data, path)._replace(warnings=("equations are not read",))

    read = DocxParser.parse
    monkeypatch.setattr(DocxParser, "parse", parse)
    monkeypatch.setattr(old_office, "_LOST_PARTS", MagicMock(__contains__=lambda *_: True))

    assert parse_sample("lighthouse-libreoffice.doc").warnings == (
        "equations are not read",
        "parts of the file are damaged and not read",
    )

"""What parsers leave out of each format, so that a word in it is not called absent."""

import base64
import json
import random

import openpyxl
import pytest
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

from kebab.core.documents import Omission
from kebab.parse.blocks import TextBuilder
from kebab.parse.exports import _UNSHOWN
from kebab.parse.registry import PARSERS
from tests.pdf_files import Text, build_pdf
from tests.unit.parse.office.office_files import build_docx, build_odf, save_workbook

DATA = base64.b64encode(random.Random(1).randbytes(900)).decode()
MINIFIED = "var walrus={a:[1,2],b:function(c){return d(c)}};" * 60
MAIL = """Subject: s
Content-Type: multipart/alternative; boundary=x

--x

The short text.
--x
Content-Type: text/html

<p>The short text, with a <b>zebra</b>.</p>
--x--
"""
ROW = "<w:p><w:r>{}</w:r></w:p>".format
DELETED = "<w:p><w:del><w:r><w:delText>otter</w:delText></w:r></w:del></w:p>"
HIDDEN = ROW("<w:rPr><w:vanish/></w:rPr><w:t>badger</w:t>")
BRANCHES = {
    "title": "t",
    "current_node": "b",
    "mapping": {
        one: {"parent": parent, "message": {"author": {"role": role}, "content": {"parts": [text]}}}
        for one, parent, role, text in (
            ("s", None, "system", "secret orders"),
            ("a", "s", "user", "shown"),
            ("b", "a", "assistant", "answer"),
            ("c", "a", "assistant", "older answer"),
        )
    },
}


LABELS = '<abbr title="eel">e</abbr><iframe srcdoc="<b>gnu</b>"></iframe>'
SCRIPT = '<script type="application/ld+json">{"@type": "Page", "author": "ibex"}</script>'
TEXT = ROW("<w:t>a</w:t>")
INSERTED = build_docx(TEXT, aFChunk="<w:p>mink</w:p>")
LINKED = build_docx(TEXT, relations={"f": ("hyperlink", "-> https://x.example/otter")})
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def build_named_workbook():
    """Return a workbook with a name, a header and a list of choices beside its cell."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["A1"] = "a"
    workbook.defined_names["Oil"] = DefinedName("Oil", attr_text="Sheet!$A$1")
    choices = DataValidation(type="list", formula1='"Walnut"')
    choices.add("B1")
    sheet.add_data_validation(choices)
    sheet.oddHeader.center.text = "puffin"
    return save_workbook(workbook)


def find_omissions(media, data):
    data = data if isinstance(data, bytes) else data.encode()
    found = PARSERS[media].parse(data, "a").omissions
    return {reason: " ".join(text.split()) for reason, text in found}


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"


@pytest.mark.parametrize(
    ("media", "data", "omissions"),
    [
        (
            "text/markdown",
            f"---\ntitle: a\n---\n<!-- bear -->\n\nshown\n\n![]({DATA})\n",
            {"comments and markup": "<!-- bear -->"},
        ),
        ("text/markdown", f"{MINIFIED}\nshown", {"encoded, minified or repeated data": MINIFIED}),
        ("text/x-rst", ".. a comment\n\nshown\n", {"comments and markup": ".. a comment"}),
        ("text/html", "<p>shown</p><select><option>wolf</select>", "controls and page furniture"),
        (
            "text/html",
            f"<nav title='ox'></nav><p>shown</p>{LABELS}",
            {"labels and addresses of elements": "eel gnu"},
        ),
        ("text/html", f"<p>shown</p>{SCRIPT}", {"data in scripts": "ibex"}),
        ("text/html", "<p>shown</p><svg><title>yak</title></svg>", "controls and page furniture"),
        ("text/html", "<nav>seal and others</nav><p>shown text</p>", "navigation"),
        (DOCX, build_docx(ROW("<w:t>a</w:t>") + DELETED), {"deleted text": "otter"}),
        (DOCX, INSERTED, {"files that are inserted as a whole": "mink"}),
        (DOCX, LINKED, {"addresses of links": "https://x.example/otter"}),
        (
            XLSX,
            build_named_workbook(),
            {"names, headers, choices, drawings and formulas of sheets": "Oil Walnut puffin"},
        ),
        (DOCX, build_docx(ROW("<w:t>a</w:t>") + HIDDEN), {"hidden text": "badger"}),
        (
            ODT,
            build_odf(
                "<text:p>a</text:p><text:table-of-content><text:p>lynx</text:p></text:table-of-content>"
            ),
            {"tables of contents": "lynx"},
        ),
        ("message/rfc822", MAIL, {"other forms of the text of mails": "with a zebra"}),
        (
            "application/x-chat+json",
            json.dumps([BRANCHES]),
            {_UNSHOWN: "secret orders older"},
        ),
        (
            "text/x-bibtex",
            "@comment{heron}\n@book{a, title={T}}",
            {"comments and markup": "@comment{heron}"},
        ),
    ],
)
def test_what_is_left_out_is_named(media, data, omissions):
    found = find_omissions(media, data)
    assert [*found] == [omissions] if isinstance(omissions, str) else found == omissions


def test_numbers_of_pages_and_pages_of_pictures_are_named():
    pages = [
        [Text(72, 800, f"Chapter {n} of tides"), Text(72, 700, f"text {'abc'[n]}")]
        for n in range(3)
    ]
    found = PARSERS["application/pdf"].parse(build_pdf(pages), "a.pdf").omissions

    assert found == (Omission("running heads", "Chapter 1 of tides Chapter 2 of tides"),)


def test_text_that_nobody_reads_has_no_words():
    builder = TextBuilder()
    builder.leave_out_unread("pictures of text and broken fonts")

    assert builder.build("a").omissions == (Omission("pictures of text and broken fonts", ""),)

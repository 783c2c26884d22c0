"""What is written in a file of each kind is in its passages: cases that other tools missed."""

from pathlib import Path

import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import split_document
from kebab.core.media import detect_media_type
from kebab.parse.registry import PARSERS
from tests.unit.parse.office.office_files import build_odf, build_pptx, build_shape

FILES = Path(__file__).parents[1] / "cases/files"


def read(name, *companion):
    """Return the document of a file, and the text of its passages."""
    media = detect_media_type(name.rpartition("/")[2])
    assert media is not None
    document = PARSERS[media].parse((FILES / name).read_bytes(), name, *companion)
    chunks = split_document(document, Budget(254))
    return document, "\n".join(" > ".join(one.heading_path) + "\n" + one.text for one in chunks)


@pytest.mark.parametrize(
    ("name", "found", "missing"),
    [
        ("three_articles.html", ["Zebra crossing", "Quince harvest", "Boiler service"], []),
        ("main_small.html", ["bees and hives in the orchard"], []),
        ("tabs_hidden.html", ["apt install kiln", "brew install kiln"], []),
        ("address_only_footer.html", ["12 Elm Street"], []),
        ("noscript.html", ["Safe browsing", "older templates"], []),
        ("table_nested_only.html", ["Name Detail"], []),
        ("ascii_escaped.json", ["서울", "Straße"], ["\\u"]),
        ("escaped.yaml", ["Zürich", "서울"], ["\\u"]),
        ("entities.xml", ["Café", "서울"], ["&#"]),
        ("alt_stub.eml", ["REALBODY"], ["cannot show HTML"]),
        ("alt_blank.eml", ["REALBODY"], []),
        (
            "book.xlsx",
            ["12.5%", "00123", "1,234.50", "0.125", "1234.5", "12345678901234570000"],
            [],
        ),
        ("dropcap.docx", ["Once upon a time"], []),
        ("textbox_sdt.docx", ["SDTBOX"], []),
        ("doc.qmd", ["QMDCALLOUT", "# Data"], []),
        ("rfc822.msg", ["Maildir programs"], []),
        ("gap120.pdf", ["This statement may be modified at any time"], []),
        ("hyphen.pdf", ["state-of-the-art", "end-to-end"], []),
        ("h3.pdf", ["NV-2203"], []),
        ("foot3.pdf", ["Patient Iroko file 88123"], []),
        ("anno.pdf", ["clementine", "marmalade", "bergamot", "satsuma", "data.csv"], []),
        ("clippings.txt", ["Bread at Sea", "the starter"], ["===="]),
        ("rolling.vtt", ["the kettle sings", "before the lamp"], ["<c>"]),
        (
            "chatgpt/conversations.json",
            ["NEWBRANCH", "MULTIMODAL", "CODECONTENT", "CANVASTEXT", "VOICETEXT"],
            ["SYSTEMHIDDEN", "OLDBRANCH", "THOUGHTSTEXT"],
        ),
    ],
)
def test_what_is_written_is_in_the_passages(name, found, missing):
    _, text = read(name)
    assert [one for one in found if one not in text] == []
    assert [one for one in missing if one in text] == []


STUB = """Subject: s
Content-Type: multipart/alternative; boundary=x

--x

Please view this message in HTML.
--x
Content-Type: text/html

<p>The airship leaves on Friday from hangar nine.</p>
--x--
"""
DRAWER = "* Crossing\n:PROPERTIES:\n:SKIPPER: Halvard Moe\n:END:\nWaves.\n"
VOICE = "WEBVTT\n\n00:00:01.000 --> 00:00:03.000\n<v Persephone>Nothing\n"
NOTES = {"n": ("notesSlide", "../notesSlides/n.xml")}
PAGE = f"<notes><spTree>{build_shape('7', 'sldNum')}{build_shape('a box')}</spTree></notes>"
CLIENT = '<meta:user-defined meta:name="Client">Ultramarine</meta:user-defined>'
META = f'<office:document-meta xmlns:meta="m" xmlns:office="o">{CLIENT}</office:document-meta>'


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("a.eml", STUB, "airship"),
        ("a.org", DRAWER, "skipper: Halvard Moe"),
        ("a.vtt", VOICE, "Persephone: Nothing"),
        ("a.txt", "plain words".encode("utf-16-le"), "plain words"),
        ("a.md", "plain words".encode("utf-16-be"), "plain words"),
        ("a.odt", build_odf("<text:p>z</text:p>", meta=META), "client: Ultramarine"),
        (
            "a.pptx",
            build_pptx(build_shape("x"), relations=NOTES, parts={"ppt/notesSlides/n.xml": PAGE}),
            "Notes: a box",
        ),
    ],
)
def test_what_people_write_beside_the_text_is_in_the_passages(name, data, found):
    data = data if isinstance(data, bytes) else data.encode()
    document = PARSERS[str(detect_media_type(name))].parse(data, name)
    passages = split_document(document, Budget(254))
    assert any(found in f"{one.context}\n{one.text}" for one in passages)


def test_running_heads_and_captions_stand_once():
    assert read("h3.pdf")[1].count("NV-2203") == 1
    assert read("rolling.vtt")[1].count("the kettle sings") == 1


def test_people_and_signs_of_slack_are_those_that_it_shows():
    _, text = read("slack/general/2023-11-14.json", (FILES / "slack/users.json").read_bytes())
    for shown in ("Ann Lee", "@Bob Ray", "[the folder](https://x.example/doc) & paid", "plan"):
        assert shown in text


def test_each_clipping_is_below_its_book():
    document, _ = read("clippings.txt")
    passages = split_document(document, Budget(254))
    assert [one.heading_path[-1] for one in passages] == [
        "The Lighthouse Garden (Marlow, Iris)",
        "Bread at Sea (Okoye, Tam)",
    ]
    assert document.title == "clippings"


@pytest.mark.parametrize("name", sorted(path.name for path in (FILES / "encodings").iterdir()))
def test_each_encoding_is_read(name):
    data = (FILES / "encodings" / name).read_bytes()
    codec = name.rpartition(".")[0].split("-", 1)[1].removeprefix("md-")
    document, _ = read(f"encodings/{name}")
    assert document.text == data.decode(codec).replace("\r\n", "\n")
    assert not document.warnings

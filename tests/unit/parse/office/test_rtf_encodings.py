import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.errors.catalog import ParseFailed
from kebab.parse.blocks import TextBuilder
from kebab.parse.office.rtf import (
    Paragraph,
    RtfParser,
    RtfReader,
    RtfWriter,
    join_surrogates,
)


def test_pairs_of_escapes_are_one_character():
    assert join_surrogates("a\ud83d\ude00b") == "a\U0001f600b"
    assert join_surrogates("\ud83d") == "\ufffd"


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
    assert document.text.endswith("the log.\n\n> Footnote: Both are kept in the harbour office.")


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


TOKEN_TEXTS = (
    r"{ } {\* \par \pard \cell \row \intbl \u48324 \'b5 \'ee \footnote \v \v0 \fonttbl \info"
    r" \stylesheet \s1 \f1 \uc0 \bin3 word \listtext \title \\ \} \~ \line"
)
TOKENS = st.sampled_from(TOKEN_TEXTS.split())


def read(text):
    builder = TextBuilder()
    RtfReader(text if isinstance(text, bytes) else text.encode("cp1252"), RtfWriter(builder)).read()
    return builder.build("a.rtf").text


@pytest.mark.parametrize(
    ("rtf", "text"),
    [
        (r"{\rtf1 a\par b}", "a\n\nb"),
        ("{\\rtf1 wor\r\nd}", "word"),
        (r"{\rtf1 {\b bo}ld}", "bold"),
        (r"{\rtf1 a\line b\tab c\emdash d}", "a\nb\tc\u2014d"),
        (r"{\rtf1 \{a\}\\\~b}", "{a}\\ b"),
        (r"{\rtf1\ansicpg949 \'b5\'ee\'b4\'eb}", "\ub4f1\ub300"),
        (r"{\rtf1\ansi{\fonttbl{\f0 A;}{\f1\fcharset129 B;}}\f1 \'b5\'ee\f0 \'e9}", "\ub4f1\u00e9"),
        (r"{\rtf1 {\fonttbl{\f1\fcharset129 B;}}{\f1 \'b5\'ee}\'e9}", "\ub4f1\u00e9"),
        (r"{\rtf1 \u46321?\u45824?}", "\ub4f1\ub300"),
        (r"{\rtf1 \u-19215?}", "\ub4f1"),
        (r"{\rtf1\uc2 \u46321\'b5\'ee x}", "\ub4f1 x"),
        (r"{\rtf1\uc0 \u46321 x}", "\ub4f1x"),
        (r"{\rtf1 \u55357?\u56832?}", "\U0001f600"),
        (r"{\rtf1 a{\v secret}b}", "ab"),
        (r"{\rtf1 a\v secret\v0 b}", "ab"),
        (r"{\rtf1 a{\*\unknown x{y}}b}", "ab"),
        (r"{\rtf1 a{\pict 0123abcd}b}", "ab"),
        (r"{\rtf1 a\bin5 {{{{{b}", "ab"),
        (r"{\rtf1 {\field{\*\fldinst HYPERLINK x}{\fldrslt link}}}", "link"),
        (r"{\rtf1 a{\footnote \pard note}b}", "ab\n\n> Footnote: note"),
        (
            r"{\rtf1 a{\*\atnauthor Ann}\chatn{\*\annotation{\*\atnref 1}\pard b\par}c\par}",
            "ac\n\n> Comment by Ann: b",
        ),
        (
            r"{\rtf1 a{\shp{\*\shpinst{\sp{\sn x}{\sv 2}}{\shptxt b\par c\par}}{\shprslt b}}d\par}",
            "ad\n\nb c",
        ),
        (
            r"{\rtf1\trowd\intbl a{\footnote b}\cell c\cell\row\pard d\par}",
            "| a | c |\n\n> Footnote: b\n\nd",
        ),
        (
            r"{\rtf1{\listtext 1.\tab}\pard a{\footnote b}\par{\listtext 2.\tab}\pard c\par}",
            "1. a\n2. c\n\n> Footnote: b",
        ),
        (r"{\rtf1{\stylesheet{\s1 heading 1;}}\pard\s1 A\par\pard b}", "# A\n\nb"),
        (r"{\rtf1\pard\outlinelevel1 A\par\pard b}", "## A\n\nb"),
        (r"{\rtf1\trowd\pard\intbl a\cell b\cell\row\pard c}", "| a | b |\n\nc"),
        (r"{\rtf1{\listtext 1.\tab}\pard a\par}", "1. a"),
        (r"{\rtf1 a", "a"),
        (r"{\rtf1 a}}}b", "ab"),
        ("", ""),
    ],
)
def test_text_is_read_as_a_word_processor_shows_it(rtf, text):
    assert read(rtf) == text


@given(tokens=st.lists(TOKENS, max_size=60))
def test_any_sequence_of_tokens_is_read(tokens):
    read("{\\rtf1 " + " ".join(tokens))


def test_deep_groups_are_read_in_linear_time():
    begun = time.process_time()

    assert read("{\\rtf1 " + "{" * 200_000 + "x") == "x"
    assert time.process_time() - begun < 5


def build(*steps):
    builder = TextBuilder()
    writer = RtfWriter(builder)
    for step in steps:
        step(writer)
    writer.finish()
    return builder.build("a.rtf").text


def add(text, **properties):
    def step(writer):
        for name, value in properties.items():
            setattr(writer.paragraph, name, value)
        writer.paragraph.text.append(text)
        writer.end_paragraph()

    return step


def test_styles_make_headings_by_name_or_level():
    text = build(
        lambda writer: writer.add_style(Paragraph(["heading 2;"], style=1, level=0)),
        lambda writer: writer.add_style(Paragraph(["\uac1c\uc694 3;"], style=2, level=0)),
        lambda writer: writer.add_style(Paragraph(["Chapter;"], style=3, level=1)),
        lambda writer: writer.add_style(Paragraph(["Title;"], style=4, level=0)),
        lambda writer: writer.add_style(Paragraph(["Normal;"], style=5, level=0)),
        add("a", style=1),
        add("b", style=2),
        add("c", style=3),
        add("d", style=4),
        add("e", style=5),
        add("f", style=5, level=2),
        add("body", style=5, level=10),
    )

    assert text == "## a\n\n### b\n\n# c\n\n# d\n\ne\n\n## f\n\nbody"


def test_markers_make_lists():
    text = build(add("a", marker=["1.\t"]), add("b", marker=["\u00b7"], depth=1), add("c", depth=0))

    assert text == "1. a\n  - b\n\nc"


def test_cells_and_rows_make_tables():
    def cells(*texts):
        def step(writer):
            for text in texts:
                writer.paragraph.text.append(text)
                writer.end_cell()
            writer.end_row()

        return step

    def leave(writer):
        writer.paragraph.in_table = False

    assert build(cells("a", "b"), cells("c", "d")) == "| a | b |\n|---|---|\n| c | d |"
    assert build(cells("a", "1"), cells("c", "d")) == "| a | 1 |\n| c | d |"
    assert build(cells("a"), cells("b"), leave, add("c")) == "a\n\nb\n\nc"


def test_footnotes_stand_behind_their_paragraph():
    def note(writer):
        writer.paragraph.text.append("text")
        writer.begin_note()
        writer.paragraph.text.append("note")
        writer.end_note("footnote")
        writer.paragraph.text.append(" goes on")

    assert build(note) == "text goes on\n\n> Footnote: note"


@pytest.mark.parametrize(
    ("rtf", "text"),
    [
        (rb"{\rtf1\ansi\*\foo words \b bold\plain\b0 plain\par}", "words boldplain"),
        (rb"{\rtf1{\fldrslt \*\cs12 link text} after{\*\unknown hidden}}", "link text after"),
        (rb"{\rtf1\private1\ansi words\par}", "words"),
        (rb"{\rtf1{\header\b Letterhead\plain\par}}", "Letterhead"),
        (rb"{\rtf1{\header Top}Body{\footer End}}", "Body"),
    ],
)
def test_only_a_word_at_the_start_of_a_group_leaves_the_group_out(rtf, text):
    assert parse(rtf).text == text


def test_raised_and_lowered_text_keeps_its_meaning():
    text = rb"10{\super -}{\super 6} H{\sub 2}O x\super 2\nosupersub , y\super 3\plain  z"

    assert parse(rb"{\rtf1 " + text + rb"\par}").text == "10⁻⁶ H₂O x², y³ z"

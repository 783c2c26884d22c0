from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.errors.catalog import ParseFailed
from kebab.parse.office.rtf import RtfParser

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
    return parse(text.encode("cp1252")).text


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
            "ad\n\n> Text box: b c",
        ),
        (
            r"{\rtf1\trowd\intbl a{\footnote b}\cell c\cell\row\pard d\par}",
            "| a | c |\n\nd\n\n> Footnote: b",
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
        (r"{\rtf1 \u55357?}", "\ufffd"),
        (
            r"{\rtf1{\stylesheet{\s2 \'b0\'b3\'bf\'e4 3;}{\s4 Title;}}\s2 a\par\s4 b\par}",
            "a\n\n# b",
        ),
        (r"{\rtf1\trowd a\cell b\cell\row c\cell 1\cell\row}", "| a | b |\n|---|---|\n| c | 1 |"),
        (r"{\rtf1\trowd a\cell\row b\cell\row\pard c\par}", "a\n\nb\n\nc"),
    ],
)
def test_text_is_read_as_a_word_processor_shows_it(rtf, text):
    assert read(rtf) == text


@given(tokens=st.lists(TOKENS, max_size=60))
def test_any_sequence_of_tokens_is_read(tokens):
    read("{\\rtf1 " + " ".join(tokens))


@pytest.mark.processor_s(3)
def test_deep_groups_are_read_in_linear_time():
    assert read("{\\rtf1 " + "{" * 100_000 + "x") == "x"


@pytest.mark.parametrize(
    ("rtf", "text"),
    [
        (rb"{\rtf1\ansi\*\foo words \b bold\plain\b0 plain\par}", "words boldplain"),
        (rb"{\rtf1{\fldrslt \*\cs12 link text} after{\*\unknown hidden}}", "link text after"),
        (rb"{\rtf1\private1\ansi words\par}", "words"),
        (rb"{\rtf1{\header\b Letterhead\plain\par}}", "> Header: Letterhead"),
        (rb"{\rtf1{\header Top}Body{\footerf End}}", "Body\n\n> Header: Top\n\n> Footer: End"),
    ],
)
def test_only_a_word_at_the_start_of_a_group_leaves_the_group_out(rtf, text):
    assert parse(rtf).text == text


def test_hidden_and_deleted_text_is_named():
    found = parse(rb"{\rtf1 a\v secret\v0 b{\deleted gone}}")

    assert (found.text, found.omissions) == ("ab", (("hidden and deleted text", "secret gone"),))

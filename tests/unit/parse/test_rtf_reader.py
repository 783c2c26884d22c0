import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.parse.blocks import TextBuilder
from kebab.parse.rtf import RtfReader, RtfWriter

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
        (r"{\rtf1 a{\footnote \pard note}b}", "a^1b\n\n1. note"),
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

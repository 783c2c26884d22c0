"""A document under review has exact positions in its file."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.review import FrontMatterUse, Markup
from kebab.review.document import (
    MAX_CHARS,
    MAX_SENTENCES,
    plan_units,
    show_sentence,
    show_sentences,
)
from tests.fakes.review import make_document


def slice_utf16(raw: str, start: int, end: int) -> str:
    return raw.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


@given(st.text(st.sampled_from("a\U0001f600\r\n\u1112\u1161\u0301\u05d0 .")), st.data())
def test_a_span_in_utf16_names_the_same_text_of_the_file(raw: str, data: st.DataObject) -> None:
    document = make_document(raw)
    start = data.draw(st.integers(0, len(document.text)))
    end = data.draw(st.integers(start, len(document.text)))
    span = document.to_utf16(start, end)
    named = slice_utf16(raw, *span)
    assert named.replace("\r\n", "\n").replace("\r", "\n") == document.text[start:end]
    assert document.from_utf16(*span) == (start, end)


@given(st.text(st.sampled_from("a\U0001f600\r\n. "), min_size=1), st.data())
def test_an_offset_inside_a_character_is_that_of_the_character(
    raw: str, data: st.DataObject
) -> None:
    document = make_document(raw)
    units = len(raw.encode("utf-16-le")) // 2
    unit = data.draw(st.integers(0, units))
    offset, _ = document.from_utf16(unit, unit)
    low, _ = document.to_utf16(offset, offset)
    assert low <= unit
    if offset < len(document.text):
        assert document.to_utf16(offset + 1, offset + 1)[0] > unit


PIECES = st.lists(
    st.sampled_from(
        [
            "Teh cat sat. ",
            "\U0001f469\u200d\U0001f469\u200d\U0001f467 smiles! ",
            "\U0001f1f0\U0001f1f7 ",
            "\u1112\u1161\u11ab\u1100\u1173\u11af은 글이다. ",
            "e\u0301\u0323tude. ",
            "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd. ",
            "日本語の文です。",
            "\r\n",
            "\r",
            "\n\n",
            "\r\n```\r\ncode teh\r\n```\r\n",
            "# Heading\r",
            "- item one\n",
            "`teh` ",
            "\0",
            "\ufffd",
        ]
    ),
    max_size=30,
)


@given(PIECES, st.data())
def test_lines_and_columns_are_those_of_the_file(pieces: list[str], data: st.DataObject) -> None:
    raw = "".join(pieces)
    document = make_document(raw)
    offset = data.draw(st.integers(0, len(document.text)))
    unit, _ = document.to_utf16(offset, offset)
    before = slice_utf16(raw, 0, unit)
    if before.endswith("\r") and raw[len(before) :].startswith("\n"):
        before = before[:-1]
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert document.find_line(offset) == (len(lines), len(lines[-1]) + 1)


@pytest.mark.parametrize(
    ("raw", "end"), [("a\r\nb\r\n", "\r\n"), ("a\rb\r", "\r"), ("a\nb", "\n"), ("a", "\n")]
)
def test_the_line_end_is_that_of_most_lines(raw: str, end: str) -> None:
    assert make_document(raw).line_end == end


def cover(document, units):
    return [list(range(*unit.sentences)) for unit in units]


def plan(text, markup=None):
    document = make_document(text, markup or Markup())
    return document, plan_units(document, "proofread")


def test_a_unit_has_four_sentences_and_shares_one_with_the_next():
    document, units = plan("One is here. Two is here. Three is here. Four is here. Five is here.")

    assert cover(document, units) == [[0, 1, 2, 3], [3, 4]]
    assert [unit.overlap for unit in units] == [0, 1]
    assert {unit.kind for unit in units} == {"proofread"}
    assert (units[1].start, units[1].end) == (
        document.sentences[3].start,
        document.sentences[4].end,
    )


def test_a_unit_ends_before_a_heading():
    document, units = plan("# A\n\nOne is here.\n\n## B\n\nTwo is here.\n")

    assert cover(document, units) == [[0, 1], [2, 3]]
    assert [unit.overlap for unit in units] == [0, 0]


def test_code_front_matter_and_rows_of_values_are_not_shown():
    text = (
        "---\ntitle: Bread\n---\n\nOne is here.\n\n```\nx = 1\n```\n\n| a | b |\n|---|---|\n"
        "| 1.5 kg | 2 |\n| The dough rests for a long time | 2 |\n"
    )
    front = FrontMatterUse(0, 21, (("title", "Bread"),))
    block = text.index("```"), text.index("```\n\n") + 3
    document, units = plan(text, Markup(front_matter=front, code=(block,), code_blocks=(block,)))

    shown = [one.text for unit in units for one in show_sentences(document, unit)]

    assert shown == ["One is here.", "| The dough rests for a long time | 2 |"]


def test_addresses_are_left_out_and_short_code_stays():
    text = "> See [the docs](https://example.org/x)\n> and run `kebab` now."
    address = text.index("https"), text.index(")")
    code = text.index("`"), text.rindex("`") + 1
    document = make_document(text, Markup(code=(address, code)))

    shown = show_sentence(document, 0)

    assert shown.text == "See [the docs]() and run `kebab` now."
    start = shown.text.index("and run")
    assert text[slice(*shown.locate(start, start + 7))] == "and run"
    assert len(shown.offsets) == len(shown.text)


WORDS = st.lists(
    st.sampled_from(["Bread", "rises", "빵이", "좋다", "👩‍🍳", "`x`", "42", "ein", "\u0915\u093f"]),
    min_size=1,
    max_size=60,
)
BLOCKS = st.one_of(
    WORDS.map(lambda words: " ".join(words) + "."),
    WORDS.map(lambda words: "## " + " ".join(words[:5])),
    WORDS.map(lambda words: "- " + " ".join(words) + ". And more. And even more."),
    st.just("```\ncode = 1\n```"),
    st.just("| 1 | 2 |\n|---|---|\n| 3 | 4 |"),
    st.just("가" * 1200),
)


@given(st.lists(BLOCKS, max_size=12).map("\n\n".join))
def test_every_prose_sentence_is_in_a_unit_and_neighbours_share_one(text):
    document = make_document(text)
    units = plan_units(document, "proofread")
    shown = [[one.sentence for one in show_sentences(document, unit)] for unit in units]

    prose = [
        index
        for index, sentence in enumerate(document.sentences)
        if sentence.kind in ("prose", "item", "heading")
        and any(map(str.isalpha, text[sentence.start : sentence.end]))
        and not text[: sentence.start].endswith("| ")
    ]
    assert set(prose) <= {index for indexes in shown for index in indexes}
    for unit, indexes in zip(units, shown, strict=True):
        assert 1 <= len(indexes) <= MAX_SENTENCES
        assert unit.sentences == (indexes[0], indexes[-1] + 1)
        lengths = [document.sentences[one].end - document.sentences[one].start for one in indexes]
        assert sum(lengths) <= MAX_CHARS
    for (before, after), unit in zip(pairwise(shown), units[1:], strict=True):
        assert after[0] >= before[-1]
        assert unit.overlap == (after[0] == before[-1])


@given(st.text(max_size=200))
def test_what_is_shown_stands_in_the_document(text):
    document = make_document(text)
    for index, sentence in enumerate(document.sentences):
        shown = show_sentence(document, index)
        for sign, offset in zip(shown.text, shown.offsets, strict=True):
            assert sentence.start <= offset < sentence.end
            assert sign in {document.text[offset], " "}

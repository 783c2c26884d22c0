from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kebab.core.review import FrontMatterUse, Heading, Markup
from kebab.review.document import (
    MAX_CHARS,
    MAX_SENTENCES,
    plan_units,
    show_sentence,
    show_sentences,
)
from tests.fakes.review import make_document

LONG = "This sentence has exactly one hundred and fifty characters " + "x" * 89 + "."


def cover(document, units):
    return [list(range(*unit.sentences)) for unit in units]


def plan(text, markup=None):
    document = make_document(text, markup or Markup())
    return document, plan_units(document, "detect")


def test_a_unit_has_four_sentences_and_shares_one_with_the_next():
    document, units = plan("One is here. Two is here. Three is here. Four is here. Five is here.")

    assert cover(document, units) == [[0, 1, 2, 3], [3, 4]]
    assert [unit.overlap for unit in units] == [0, 1]
    assert {unit.kind for unit in units} == {"detect"}
    assert (units[1].start, units[1].end) == (
        document.sentences[3].start,
        document.sentences[4].end,
    )


def test_long_sentences_make_units_of_fewer():
    _, units = plan(" ".join([f"S{LONG} {LONG}"] * 5))

    assert all(unit.end - unit.start <= MAX_CHARS for unit in units)
    assert all(unit.end - unit.start > 400 for unit in units)


def test_a_text_without_prose_has_no_units():
    assert plan("")[1] == []
    assert plan("```\nx = 1\n```\n")[1] == []


def test_a_unit_ends_before_a_heading():
    document, units = plan("# A\n\nOne is here.\n\n## B\n\nTwo is here.\n")

    assert cover(document, units) == [[0, 1], [2, 3]]
    assert [unit.overlap for unit in units] == [0, 0]


def test_headings_without_text_belong_to_the_next_section():
    document, units = plan("# A\n\n## B\n\nTwo is here.\n")

    assert cover(document, units) == [[0, 1, 2]]


def test_an_underlined_heading_begins_a_section():
    text = "One is here.\n\nTitle\n-----\n\nTwo is here.\n"
    start = text.index("Title")
    _, units = plan(text, Markup(headings=(Heading(2, "Title", start, start + 11),)))

    assert [unit.start for unit in units] == [0, start]


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

"""A document is cut into the texts that are translated; everything else is left out."""

from kebab.parse.markdown_parts import read_markup
from kebab.review.segments import (
    MAX_UNIT_CHARS,
    MAX_UNIT_SEGMENTS,
    Segment,
    group_segments,
    split_segments,
)
from tests.fakes.review import make_document


def _split(text: str) -> list[Segment]:
    return split_segments(make_document(text, read_markup(text)))


def _list_sources(text: str) -> list[str]:
    return [one.source for one in _split(text)]


def test_each_sentence_heading_and_item_is_a_segment() -> None:
    text = "# Head {#top}\n\nOne. Two\nlines.\n\n- item\n  1. inner\n\n> quote\n"
    assert _list_sources(text) == ["Head", "One.", "Two lines.", "item", "inner", "quote"]


def test_segments_have_stable_ids_and_their_places() -> None:
    text = "One. Two.\n"
    assert [(one.cid, text[one.start : one.end]) for one in _split(text)] == [
        ("seg-0001", "One."),
        ("seg-0002", "Two."),
    ]


def test_what_is_no_prose_has_no_segment() -> None:
    text = (
        "---\ntitle: No\n---\n\n```\nno code\n```\n\n    no code\n\n<!-- no -->\n\n![no](a.png)\n\n"
        "[no]: https://a.b\n\n{{< no >}}\n\n$$\nno\n$$\n\nkey:: no\n\n123\n\nhttps://no.example/a\n"
    )
    assert _list_sources(text) == []


def test_each_cell_of_a_table_is_a_segment() -> None:
    text = "| Name | Size |\n|---|---|\n| a \\| b | `x` |\n\nno | leading\n--|--\none | two\n"
    assert _list_sources(text) == ["Name", "Size", "a ⟦1⟧ b", "no", "leading", "one", "two"]


def test_lines_of_dialects_end_a_segment() -> None:
    text = '!!! note "Title"\n    Inside.\n\n> [!NOTE]\n> Called out.\n\n::: tip\nMore.\n:::\n'
    assert _list_sources(text) == ["Inside.", "Called out.", "More."]


def test_tags_of_html_blocks_end_a_segment() -> None:
    assert _list_sources("<table>\n<tr><td>one</td>\n<td>two</td></tr>\n</table>\n") == [
        "one",
        "two",
    ]


def test_a_footnote_has_its_text_as_segment() -> None:
    assert _list_sources("Said[^a].\n\n[^a]: The note.\n") == ["Said⟦1⟧.", "The note."]


def test_columns_of_a_plain_text_stay_lines() -> None:
    document = make_document("name  size\napple  big\n\nOne\nsentence.\n", media="text/plain")
    assert [one.source for one in split_segments(document)] == [
        "name⟦1⟧size",
        "apple⟦1⟧big",
        "One sentence.",
    ]


def test_groups_hold_all_segments_within_their_limits() -> None:
    text = "".join(f"Sentence number {number} has some words. " for number in range(200))
    segments = _split(text)
    groups = group_segments(segments)
    assert [one for group in groups for one in group] == segments
    sizes = [sum(len(one.source) for one in group) for group in groups]
    assert all(700 <= size <= MAX_UNIT_CHARS for size in sizes[:-1])
    assert max(map(len, groups)) <= MAX_UNIT_SEGMENTS


def test_many_short_segments_make_several_groups() -> None:
    assert [len(one) for one in group_segments(_split("- a\n" * 70))] == [32, 32, 6]

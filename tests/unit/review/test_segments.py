"""A document is cut into the texts that are translated; everything else is left out."""

import pytest

from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import ReviewDocument
from kebab.review.segments import (
    MAX_UNIT_CHARS,
    MAX_UNIT_SEGMENTS,
    Masked,
    ProtectedSpans,
    Segment,
    group_segments,
    keep_harmless,
    list_placeholder_faults,
    read_structure,
    restore,
    split_segments,
)
from tests.fakes.review import make_document


def _split(text: str) -> list[Segment]:
    return split_segments(make_document(text, read_markup(text)))


def _list_sources(text: str) -> list[str]:
    return [one.source for one in _split(text)]


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


def test_groups_hold_all_segments_within_their_limits() -> None:
    text = "".join(f"Sentence number {number} has some words. " for number in range(200))
    segments = _split(text)
    groups = group_segments(segments)
    assert [one for group in groups for one in group] == segments
    sizes = [sum(len(one.source) for one in group) for group in groups]
    assert all(700 <= size <= MAX_UNIT_CHARS for size in sizes[:-1])
    assert max(map(len, groups)) <= MAX_UNIT_SEGMENTS


def _parse(text: str) -> ReviewDocument:
    return make_document(text, read_markup(text))


def _mask(text: str, media: str = "text/markdown") -> Masked:
    document = _parse(text) if media == "text/markdown" else make_document(text, media=media)
    spans = ProtectedSpans(document)
    return spans.mask(*spans.trim(0, len(text)))


@pytest.mark.parametrize(
    ("text", "masked", "protected"),
    [
        ("Run `make` now.", "Run ⟦1⟧ now.", ("`make`",)),
        ("*A* or *b*", "⟦1⟧A⟦2⟧ or ⟦3⟧b⟦4⟧", ("*", "*", "*", "*")),
        ("A **bold** word.", "A ⟦1⟧bold⟦2⟧ word.", ("**", "**")),
        ("See [the docs](a.md).", "See ⟦1⟧the docs⟦2⟧.", ("[", "](a.md)")),
        ("See [[Note|it]].", "See ⟦1⟧it⟦2⟧.", ("[[Note|", "]]")),
        ("See [[Note]].", "See ⟦1⟧.", ("[[Note]]",)),
        ("An ![image](a.png) here.", "An ⟦1⟧ here.", ("![image](a.png)",)),
        ("Said so[^1] there.", "Said so⟦1⟧ there.", ("[^1]",)),
        ("At https://a.b/c_d now.", "At ⟦1⟧ now.", ("https://a.b/c_d",)),
        ("So {{< ref a >}} goes.", "So ⟦1⟧ goes.", ("{{< ref a >}}",)),
        ("A <b>tag</b> and &amp; sign.", "A ⟦1⟧tag⟦2⟧ and ⟦3⟧ sign.", ("<b>", "</b>", "&amp;")),
        (r"A \* star.", "A ⟦1⟧ star.", (r"\*",)),
        ("Sum $x^2$ up.", "Sum ⟦1⟧ up.", ("$x^2$",)),
        ("A ⟦1⟧ sign.", "A ⟦1⟧1⟦2⟧ sign.", ("⟦", "⟧")),
        ("5 * 3 and snake_case stay.", "5 * 3 and snake_case stay.", ()),
    ],
)
def test_markup_becomes_placeholders(text: str, masked: str, protected: tuple[str, ...]) -> None:
    assert _mask(text) == (masked, protected)


@pytest.mark.parametrize(
    "text", ["**All of it.**", "[All of it.](a.md)", "<b>All of it.</b>", "![x](y.png) All of it."]
)
def test_markup_around_all_of_a_segment_is_no_part_of_it(text: str) -> None:
    assert _mask(text) == ("All of it.", ())


def test_a_plain_text_has_no_markup_but_addresses_variables_and_columns() -> None:
    masked = _mask("A **b** {name} at http://a.b/c  with  gaps", "text/plain")
    assert masked == ("A **b** ⟦1⟧ at ⟦2⟧with⟦3⟧gaps", ("{name}", "http://a.b/c  ", "  "))


@pytest.mark.parametrize(
    ("answer", "faults"),
    [
        ("⟦1⟧ b ⟦2⟧", []),
        ("⟦2⟧ b ⟦ 1 ⟧", []),
        ("⟦1⟧ b", [2]),
        ("⟦1⟧ ⟦1⟧ ⟦2⟧", [1]),
        ("⟦1⟧ ⟦2⟧ ⟦3⟧", [3]),
    ],
)
def test_lost_repeated_and_invented_placeholders_are_faults(answer: str, faults: list[int]) -> None:
    assert list_placeholder_faults(Masked("⟦1⟧ a ⟦2⟧", ("`a`", "`b`")), answer) == faults


@pytest.mark.parametrize(
    ("source", "answer", "restored"),
    [
        ("a ⟦1⟧", "⟦1⟧ b", "`x` b"),
        ("a ⟦1⟧", "b\n\nc ⟦1⟧", "b c `x`"),
        ("a ⟦1⟧", "# b ⟦1⟧", r"\# b `x`"),
        ("a ⟦1⟧", "2024. b ⟦1⟧", r"2024\. b `x`"),
        ("a ⟦1⟧", "- b ⟦1⟧", r"\- b `x`"),
        ("a ⟦1⟧", "b | c ⟦1⟧", r"b \| c `x`"),
        ("a ⟦1⟧", "b [c](d) ⟦1⟧", r"b \[c\](d) `x`"),
        ("a ⟦1⟧", "b ⟦1⟧ \\", "b `x` \\\\"),
        ("a * b ⟦1⟧", "c * d ⟦1⟧", "c * d `x`"),
    ],
)
def test_a_translation_gets_no_markup_of_its_own(source: str, answer: str, restored: str) -> None:
    assert restore(Masked(source, ("`x`",)), answer, is_markdown=True) == restored


PAGE = "# A *b*\n\nSee [x](y.md) and `z`.\n\n| a | b |\n|---|---|\n| c | d |\n"


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("# A", "## A", "blocks"),
        ("c | d", "c d", "inline"),
        ("*b*", "b", "emphasis"),
        ("y.md", "w.md", "links"),
        ("`z`", "`w`", "inline"),
        ("See", "```\nSee", "code"),
    ],
)
def test_what_must_stay_is_told_apart(old, new, field):
    before, after = read_structure(PAGE), read_structure(PAGE.replace(old, new))

    assert getattr(before, field) != getattr(after, field)


def test_the_harmless_parts_are_kept_in_order():
    found = keep_harmless(range(10), lambda some: not {3, 8}.intersection(some))
    assert found == [0, 1, 2, 4, 5, 6, 7, 9]
    assert keep_harmless([], lambda some: False) == []
    assert keep_harmless([1, 2], lambda some: False) == []

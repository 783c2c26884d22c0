import base64
import random

import pytest

from kebab.core.chunks import Place
from kebab.core.documents import Block, BlockKind, Metadata
from kebab.parse.blocks import (
    MAX_TITLE_CHARS,
    Lines,
    Span,
    TextBuilder,
    build_blocks,
    build_line_document,
    choose_title,
    exclude_lines,
    find_blob_lines,
    find_paragraphs,
    format_file_name,
    group_lines,
    omit_gaps,
    read_metadata,
    shift_spans,
    shorten_line,
)
from kebab.parse.encoding import decode
from kebab.parse.markdown import MarkdownParser


def test_spans_lose_outer_blank_lines():
    text = "\n  a  \n\n"
    assert build_blocks(text, 0, [Span(BlockKind.LIST, 0, 3)]) == (Block(BlockKind.LIST, 1, 4),)


def test_lines_that_no_span_claims_become_paragraphs():
    text = "a\nb\n\nc\nd"
    blocks = build_blocks(text, 0, [Span(BlockKind.CODE, 3, 4)])
    assert [(block.kind, text[block.start : block.end]) for block in blocks] == [
        (BlockKind.PARAGRAPH, "a\nb"),
        (BlockKind.CODE, "c"),
        (BlockKind.PARAGRAPH, "d"),
    ]


def test_spans_that_overlap_are_cut():
    text = "a\nb\nc"
    blocks = build_blocks(text, 0, [Span(BlockKind.LIST, 0, 2), Span(BlockKind.LIST, 1, 3)])
    assert [text[block.start : block.end] for block in blocks] == ["a\nb", "c"]


def test_the_body_may_start_later():
    assert build_blocks("skip\nbody", 5, []) == (Block(BlockKind.PARAGRAPH, 5, 9),)


def test_paragraphs_end_at_blank_lines():
    lines = ["a", " ", "b", "c"]
    assert [(span.first, span.last) for span in find_paragraphs(lines, 0, 4)] == [(0, 1), (2, 4)]


def test_a_document_holds_the_text_its_blocks_and_each_link_once():
    decoded = decode(b"Title\n\nhidden\n\ntext\n")
    spans = [Span(BlockKind.HEADING, 0, 1, 1, "Title"), Span(None, 2, 3)]
    document = build_line_document(decoded, "a.rst", spans, Metadata(), ["b", "c", "b"])

    assert document.title == "Title"
    assert [document.text[one.start : one.end] for one in document.blocks] == ["Title", "text"]
    assert document.links == ("b", "c")


def test_shifting_moves_lines():
    span = Span(BlockKind.HEADING, 0, 1, 2, "x")
    assert list(shift_spans([span], 3)) == [Span(BlockKind.HEADING, 3, 4, 2, "x")]
    assert list(shift_spans([span], 0)) == [span]


def test_lines_are_taken_out_of_spans_or_stand_alone():
    spans = [Span(BlockKind.CODE, 0, 5), Span(BlockKind.LIST, 6, 9)]
    ranges = [(1, 2), (4, 7)]
    assert [one[1:3] for one in exclude_lines(spans, ranges)] == [(0, 1), (2, 4), (7, 9)]


def test_lines_between_spans_make_no_block():
    spans = omit_gaps([Span(BlockKind.CODE, 1, 2)], 3)
    assert [block.kind for block in build_blocks("a\nb\nc", 0, spans)] == [BlockKind.CODE]


def test_numbers_of_lines_are_grouped():
    assert list(group_lines([0, 1, 2, 5, 7, 8])) == [(0, 3), (5, 6), (7, 9)]
    assert list(group_lines([])) == []


def test_a_vague_name_of_a_file_is_shown_with_its_folder():
    assert format_file_name("shop/index.js", {"index"}) == "shop/index.js"
    assert format_file_name("shop/cart.js", {"index"}) == "cart.js"
    assert format_file_name("index.js", {"index"}) == "index.js"


def test_a_line_that_is_too_long_ends_with_a_mark():
    assert shorten_line("twelve words", 12) == "twelve words"
    assert shorten_line("twelve words", 8) == "twelve…"


BYTES = random.Random(1).randbytes(3_000)
BASE64 = base64.b64encode(BYTES).decode()
MINIFIED = "".join(f"function a{n}(b,c){{return b+c*{n}}};" for n in range(200))


@pytest.mark.parametrize(
    "line",
    [
        BASE64,
        BYTES.hex(),
        f"![logo](data:image/png;base64,{BASE64})",
        f"[image1]: <data:image/png;base64,{BASE64}>",
        f'<img src="data:image/svg+xml;base64,{BASE64}">',
        MINIFIED,
        '{"a":"b","c":[1,2,{"d":null}]},' * 100,
        "a" * 20_000,
    ],
    ids=["base64", "hex", "image", "definition", "html", "javascript", "json", "repeated"],
)
def test_encoded_and_minified_lines_are_found(line):
    assert find_blob_lines(f"text\n{line}\nmore") == {1}


def test_many_lines_of_base64_are_found():
    lines = [BASE64[at : at + 76] for at in range(0, 760, 76)]
    text = "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----"])
    assert find_blob_lines(text) == set(range(1, 11))


def test_lines_behind_quote_marks_are_found_too():
    lines = [f"> {BASE64[at : at + 76]}" for at in range(0, 760, 76)]
    assert find_blob_lines("\n".join(lines)) == set(range(10))


@pytest.mark.parametrize(
    "line",
    [
        "All happy families are alike; each unhappy family is unhappy in its own way. " * 100,
        "한국어로 쓴 아주 긴 문단은 띄어쓰기가 적어도 글이다." * 200,
        "日本語の長い段落には空白がない。" * 300,
        "a" * 5_000,
        "abc/def_" * 500,
        "| " + "cell | " * 2_000,
        "https://example.org/?q=" + "%ED%95%9C%EA%B8%80" * 60,
        "word," * 2_000,
        "0123456789" * 3,
    ],
    ids=["prose", "Korean", "Japanese", "one letter", "paths", "table", "URL", "words", "short"],
)
def test_text_is_no_data(line):
    assert find_blob_lines(f"{line}\n{line}") == set()


def test_a_line_that_is_mostly_text_is_kept():
    assert find_blob_lines(f"{'Some words. ' * 50}{BASE64[:400]}") == set()


def test_a_few_lines_of_base64_are_kept():
    lines = [BASE64[at : at + 76] for at in range(0, 380, 76)]
    assert find_blob_lines("\n".join(lines)) == set()


@pytest.mark.timeout(10)
@pytest.mark.parametrize("part", ["data:", "%41", "a=", "=" * 9, "{}", "> ", "A1b2C3d4"])
def test_long_lines_take_linear_time(part):
    find_blob_lines(part * (1_000_000 // len(part)))
    find_blob_lines(f"{part}\n" * 50_000)


def test_lines_know_their_indents():
    lines = Lines("a\n\tb\n\n  c\nd")

    assert lines.indents == [0, 8, -1, 2, 0]
    assert lines.find_dedent(1, 5, 2) == 4
    assert lines.find_blank(0, 5) == 2
    assert lines.skip_blank(2, 5) == 3


def test_fields_become_metadata():
    assert read_metadata(
        {
            "title": "T",
            "author": "A B, C D",
            "tags": "x; y",
            "language": "ko_KR",
            "date": "2024-05-01",
        }
    ) == Metadata(title="T", tags=("x", "y"), lang="ko", authors=("A B", "C D"), date="2024-05-01")
    assert read_metadata({"filetags": ":work:home:"}).tags == ("work", "home")


def test_parts_become_markdown_with_blocks():
    builder = TextBuilder()
    builder.add_heading(2, "Title\nof two lines")
    builder.add_paragraph("One\nparagraph.")
    builder.add_list([(0, "first"), (1, "second"), (0, "3. third")])
    builder.add_table([["a", "b|c"], ["1", ""]])
    builder.add_code("x = 1\n", "python")
    builder.add_quote("said")
    document = builder.build("a.html")
    assert document.text == (
        "## Title of two lines\n\nOne\nparagraph.\n\n- first\n  - second\n3. third\n\n"
        "| a | b\\|c |\n|---|---|\n| 1 |  |\n\n```python\nx = 1\n```\n\n> said"
    )
    kinds = [block.kind.value for block in document.blocks]
    assert kinds == ["heading", "paragraph", "list", "table", "code", "quote"]
    assert document.title == "a"
    for block in document.blocks:
        assert document.text[block.start : block.end].strip()


def test_places_begin_at_their_first_block_and_empty_ones_are_dropped():
    builder = TextBuilder()
    builder.begin_place(Place(0, 1, of=3))
    builder.add_paragraph("one")
    builder.begin_place(Place(0, 2, of=3))
    builder.add_paragraph("  \n")
    builder.begin_place(Place(0, 3, of=3))
    builder.add_paragraph("three")
    document = builder.build("a.pdf", title="Paper")
    assert document.places == (Place(0, 1, of=3), Place(5, 3, of=3))
    assert document.title == "Paper"


def test_blocks_of_a_document_are_added_with_their_kinds():
    builder = TextBuilder()
    builder.add_paragraph("first")
    builder.add_blocks(MarkdownParser().parse(b"# H\n- a\n", "a.md"))
    document = builder.build("a.x")
    assert document.text == "first\n\n# H\n\n- a"
    assert [(block.kind, block.level, block.label) for block in document.blocks] == [
        ("paragraph", 0, ""),
        ("heading", 1, "H"),
        ("list", 0, ""),
    ]


HEADINGS = [
    Block(BlockKind.PARAGRAPH, 0, 1),
    Block(BlockKind.HEADING, 2, 3, 1, ""),
    Block(BlockKind.HEADING, 4, 5, 2, "Heading"),
]


def test_front_matter_comes_first():
    assert choose_title(Metadata(title="Front"), HEADINGS, "a/stem.md") == "Front"


def test_the_first_heading_of_the_top_level_comes_second():
    top = Block(BlockKind.HEADING, 6, 7, 1, "Top")

    assert choose_title(Metadata(), [HEADINGS[0], HEADINGS[1], top], "a/stem.md") == "Top"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/Cards view.md", "Cards view"),
        ("a/weekly-review_notes.md", "weekly review notes"),
        ("2024-03-01.md", "2024-03-01"),
        ("2024-03-01-budget.md", "2024-03-01 budget"),
        ("Tide 0123456789abcdef0123456789abcdef.md", "Tide"),
        ("guides/README.md", "guides/README"),
    ],
)
def test_a_heading_of_a_section_is_no_title(path, title):
    top = Block(BlockKind.HEADING, 6, 7, 1, "Top")

    assert choose_title(Metadata(), [*HEADINGS, top], path) == title


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/stem.md", "stem"),
        ("a.b.c.md", "a.b.c"),
        (".hidden", ".hidden"),
        ("e\u0301.md", "\u00e9"),
        ("new\nline\x1b.md", "new line"),
        ("-", "-"),
        ("", "untitled"),
    ],
)
def test_the_stem_comes_last(path, title):
    assert choose_title(Metadata(), [], path) == title


def test_a_long_title_is_cut():
    title = choose_title(Metadata(title="word " * 100), [], "a.md")
    assert len(title) <= MAX_TITLE_CHARS
    assert title.endswith("word…")


def test_a_builder_leaves_out_encoded_data_and_says_so():
    builder = TextBuilder()
    builder.add_paragraph(f"before\n{BASE64}\nafter")
    builder.add_paragraph(BASE64)
    document = builder.build("a.html")
    assert document.text == "before\nafter"
    noise = "left out as encoded, minified or repeated data: 8,000 characters"
    assert document.warnings == (noise,)


def test_lines_of_data_in_text_make_no_block():
    document = build_line_document(decode(f"a\n{BASE64}\nb".encode()), "a.txt", (), Metadata())
    assert [document.text[one.start : one.end] for one in document.blocks] == ["a", "b"]
    noise = "left out as encoded, minified or repeated data: 4,000 characters"
    assert document.warnings == (noise,)

import base64
import random

import pytest

from kebab.core.documents import Block, BlockKind, Metadata
from kebab.parse.blocks import TextBuilder, find_blob_lines
from kebab.parse.metadata import choose_title
from kebab.parse.text.markdown import MarkdownParser

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


def test_a_few_lines_of_base64_are_kept():
    lines = [BASE64[at : at + 76] for at in range(0, 380, 76)]
    assert find_blob_lines("\n".join(lines)) == set()


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


def test_a_builder_leaves_out_encoded_data_and_says_so():
    builder = TextBuilder()
    builder.add_paragraph(f"before\n{BASE64}\nafter")
    builder.add_paragraph(BASE64)
    document = builder.build("a.html")
    assert document.text == "before\nafter"
    noise = "left out as encoded, minified or repeated data: 8,000 characters"
    assert document.warnings == (noise,)


def test_lines_of_code_are_one_block_until_a_list_begins():
    builder = TextBuilder()
    for line in ("a", "b"):
        builder.add_code_line(line)
    builder.add_item(0, "c")
    builder.end_run()
    assert builder.build("a.odt", Metadata()).text == "```\na\nb\n```\n\n- c"

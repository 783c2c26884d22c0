import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import MAX_CHARS, LeadFinder, split_document
from kebab.core.chunks import build_embed_text
from kebab.core.documents import Block, BlockKind
from kebab.parse.data import DataParser
from kebab.parse.markdown import MarkdownParser

ROWS = "\n".join(f"| option_{n} | {n} | What option {n} does for the service |" for n in range(80))
TABLE = f"# Options\n\n| Name | Default | Meaning |\n|---|---|---|\n{ROWS}\n"


def split(text, limit=80):
    budget = Budget(limit=limit)
    document = MarkdownParser().parse(text.encode(), "a.md")
    return budget, document.title, split_document(document, budget)


def test_every_passage_inside_a_table_has_its_header_row():
    _, _, chunks = split(TABLE)
    assert len(chunks) > 5
    assert chunks[0].context == ""
    assert {chunk.context for chunk in chunks[1:]} == {"| Name | Default | Meaning |"}


def test_the_context_counts_against_the_limit():
    budget, title, chunks = split(TABLE, limit=60)
    texts = [build_embed_text(title, one.heading_path, one.text, one.context) for one in chunks]
    assert max(budget.measure(texts)) <= 60


def test_a_passage_that_holds_its_header_has_no_context():
    _, _, chunks = split("| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert [chunk.context for chunk in chunks] == [""]


@pytest.mark.parametrize(
    ("table", "header"),
    [
        ("a,b\n1,2\n3,4", "a,b"),
        ("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |", "| a | b |"),
        ("=====  ====\n-----  ----\n1      2", ""),
    ],
)
def test_the_header_is_the_first_of_two_lines_that_is_no_rule(table, header):
    finder = LeadFinder(table, [Block(BlockKind.TABLE, 0, len(table))], Budget())
    assert finder.find(len(table) - 1) == header
    assert finder.find(0) == ""


def test_the_label_of_a_table_is_its_header_unless_the_passage_begins_with_it():
    text = "name,default\na,1\nb,2\nc,3"
    second = text.index("b,2")
    blocks = [
        Block(BlockKind.TABLE, 0, second - 1, label="name,default"),
        Block(BlockKind.TABLE, second, len(text), label="name,default"),
    ]
    finder = LeadFinder(text, blocks, Budget())

    starts = [0, text.index("a,1"), second, text.index("c,3")]
    assert [finder.find(start) for start in starts] == ["", *["name,default"] * 3]


def test_every_passage_of_a_csv_file_stands_with_its_header():
    rows = "".join(f"option_{n},{n},What option {n} does\n" for n in range(80))
    quoted = 'last,"two\nlines",end\n'
    document = DataParser("table").parse(f"name,default,meaning\n{rows}{quoted}".encode(), "a.csv")
    first, *others = split_document(document, Budget(limit=80))

    assert first.context == ""
    assert {chunk.context for chunk in others} == {"name,default,meaning"}


def test_the_rest_of_a_function_has_its_signature():
    text = "def store(row, *, force=False):\n    first()\n    second()"
    split_at = text.index("    first")
    blocks = [
        Block(BlockKind.HEADING, 0, split_at - 1, 1, "store"),
        Block(BlockKind.CODE, split_at, len(text)),
    ]
    finder = LeadFinder(text, blocks, Budget())
    assert finder.find(text.index("    second")) == "def store(row, *, force=False):"
    assert finder.find(split_at) == ""


def test_a_heading_that_is_its_label_is_no_signature():
    text = "# Setup\n\n```\na\nb\n```"
    blocks = [
        Block(BlockKind.HEADING, 0, 7, 1, "Setup"),
        Block(BlockKind.CODE, 9, len(text)),
    ]
    assert LeadFinder(text, blocks, Budget()).find(text.index("b")) == ""


def test_a_list_has_no_context():
    items = "\n".join(f"- item {n} with some words that fill the line" for n in range(40))
    _, _, chunks = split(f"Before you start, check that:\n\n{items}\n")
    assert len(chunks) > 2
    assert {chunk.context for chunk in chunks} == {""}


def test_a_long_header_is_cut_at_a_word():
    table = f"| {' | '.join(f'column{n}' for n in range(60))} |\n|---|\n| 1 |"
    lead = LeadFinder(table, [Block(BlockKind.TABLE, 0, len(table))], Budget()).find(len(table) - 1)
    assert len(lead) <= MAX_CHARS
    assert lead.endswith("|")


@pytest.mark.parametrize("noise", ["{" * 500, "! " * 300, "x" * 400])
def test_a_header_of_noise_leaves_the_room_to_the_rows(noise):
    rows = "\n".join(f"| value {n} | {n} |" for n in range(60))
    _, _, chunks = split(f"| {noise} | b |\n|---|---|\n{rows}\n", limit=120)
    assert max(len(chunk.context) for chunk in chunks) <= 120
    assert len(chunks) < 30

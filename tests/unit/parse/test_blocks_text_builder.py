from kebab.core.chunks import Place
from kebab.parse.blocks import TextBuilder
from kebab.parse.markdown import MarkdownParser


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
    assert document.title == "Title of two lines"
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

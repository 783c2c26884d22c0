from kebab.rag.layout import Kind, layout


def kinds(text):
    return [(block.kind, text[block.start : block.end]) for block in layout(text).blocks]


def test_every_line_is_of_the_kind_that_it_looks_like():
    text = "# Top\nwords\nmore\n\n- item\n  of it\n| a |\n```py\nx = 1\n\ny\n```\nend"
    assert kinds(text) == [
        (Kind.HEADING, "# Top"),
        (Kind.PROSE, "words\nmore"),
        (Kind.ITEM, "- item\n  of it"),
        (Kind.ROW, "| a |"),
        (Kind.CODE, "x = 1"),
        (Kind.CODE, "y"),
        (Kind.PROSE, "end"),
    ]


def test_signs_are_blanked_in_their_place():
    text = "> - [ ] a\n## b\n---\n1. c"
    assert layout(text).plain == "        a\n   b\n   \n   c"


def test_a_quotation_ends_where_a_deeper_one_begins():
    assert kinds("> a\n> b\n> > c") == [(Kind.PROSE, "> a\n> b"), (Kind.PROSE, "> > c")]


def test_an_empty_text_has_no_blocks():
    assert layout("").blocks == ()


def test_the_row_that_heads_a_table_is_a_heading():
    assert [kind for kind, _ in kinds("| a | b |\n|---|:-:|\n| 1 | 2 |\n")] == [
        Kind.HEADING,
        Kind.ROW,
    ]

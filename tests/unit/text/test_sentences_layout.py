from kebab.text.sentences import LayoutKind, build_layout


def kinds(text):
    return [(block.kind, text[block.start : block.end]) for block in build_layout(text).blocks]


def test_every_line_is_of_the_kind_that_it_looks_like():
    text = "# Top\nwords\nmore\n\n- item\n  of it\n| a |\n```py\nx = 1\n\ny\n```\nend"
    assert kinds(text) == [
        (LayoutKind.HEADING, "# Top"),
        (LayoutKind.PROSE, "words\nmore"),
        (LayoutKind.ITEM, "- item\n  of it"),
        (LayoutKind.ROW, "| a |"),
        (LayoutKind.CODE, "x = 1"),
        (LayoutKind.CODE, "y"),
        (LayoutKind.PROSE, "end"),
    ]


def test_markdown_signs_are_replaced_by_spaces():
    text = "> - [ ] a\n## b\n---\n1. c"
    assert build_layout(text).plain == "        a\n   b\n   \n   c"


def test_a_quotation_ends_where_a_deeper_one_begins():
    assert kinds("> a\n> b\n> > c") == [(LayoutKind.PROSE, "> a\n> b"), (LayoutKind.PROSE, "> > c")]


def test_an_empty_text_has_no_blocks():
    assert build_layout("").blocks == ()


def test_the_row_that_heads_a_table_is_a_heading():
    assert [kind for kind, _ in kinds("| a | b |\n|---|:-:|\n| 1 | 2 |\n")] == [
        LayoutKind.HEADING,
        LayoutKind.ROW,
    ]


def test_labels_are_no_content():
    text = "(serve-configure)=\n.. _serve:\n{#serve}\n<a name='serve'></a>\nThe text (of it) = all."
    assert kinds(text) == [(LayoutKind.PROSE, "The text (of it) = all.")]

from kebab.parse.blocks import TextBuilder
from kebab.parse.rtf import RtfWriter


def build(*steps):
    builder = TextBuilder()
    writer = RtfWriter(builder)
    for step in steps:
        step(writer)
    writer.finish()
    return builder.build("a.rtf").text


def add(text, **properties):
    def step(writer):
        for name, value in properties.items():
            setattr(writer.paragraph, name, value)
        writer.add_text(text)
        writer.end_paragraph()

    return step


def test_styles_make_headings_by_name_or_level():
    text = build(
        lambda writer: writer.add_style(1, 0, "heading 2;"),
        lambda writer: writer.add_style(2, 0, "\uac1c\uc694 3;"),
        lambda writer: writer.add_style(3, 1, "Chapter;"),
        lambda writer: writer.add_style(4, 0, "Title;"),
        lambda writer: writer.add_style(5, 0, "Normal;"),
        add("a", style=1),
        add("b", style=2),
        add("c", style=3),
        add("d", style=4),
        add("e", style=5),
        add("f", style=5, level=2),
        add("body", style=5, level=10),
    )

    assert text == "## a\n\n### b\n\n# c\n\n# d\n\ne\n\n## f\n\nbody"


def test_markers_make_lists():
    text = build(add("a", marker=["1.\t"]), add("b", marker=["\u00b7"], depth=1), add("c", depth=0))

    assert text == "1. a\n  - b\n\nc"


def test_cells_and_rows_make_tables():
    def cells(*texts):
        def step(writer):
            for text in texts:
                writer.add_text(text)
                writer.end_cell()
            writer.end_row()

        return step

    def leave(writer):
        writer.paragraph.in_table = False

    assert build(cells("a", "b"), cells("c", "d")) == "| a | b |\n|---|---|\n| c | d |"
    assert build(cells("a", "1"), cells("c", "d")) == "| a | 1 |\n| c | d |"
    assert build(cells("a"), cells("b"), leave, add("c")) == "a\n\nb\n\nc"


def test_footnotes_stand_at_the_end():
    def note(writer):
        writer.add_text("text")
        writer.begin_note()
        writer.add_text("note")
        writer.end_note()
        writer.add_text(" goes on")

    assert build(note) == "text^1 goes on\n\n1. note"


def test_a_heading_as_long_as_a_page_is_a_paragraph():
    assert build(add("word " * 100, level=1)).startswith("word")

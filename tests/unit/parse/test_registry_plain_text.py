from kebab.core.documents import BlockKind
from kebab.parse.registry import TextParser


def test_paragraphs_stand_between_blank_lines():
    document = TextParser().parse(b"\n\nfirst\nline\n \t\n# second\n---\n", "a.txt")
    assert [document.text[block.start : block.end] for block in document.blocks] == [
        "first\nline",
        "# second\n---",
    ]
    assert {block.kind for block in document.blocks} == {BlockKind.PARAGRAPH}


def test_the_title_is_the_name_of_the_file():
    assert TextParser().parse(b"# no title", "dir/notes.txt").title == "notes"


def test_markup_is_text():
    document = TextParser().parse(b"---\ntitle: x\n---\n", "a.txt")
    assert document.metadata.title is None
    assert len(document.blocks) == 1

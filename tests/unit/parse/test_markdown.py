import json
from pathlib import Path

import pytest

from kebab.parse.markdown import MarkdownParser

CASES = Path(__file__).parents[2] / "cases" / "markdown"


@pytest.mark.parametrize("note", sorted(CASES.glob("*.md")), ids=lambda note: note.stem)
def test_a_note_is_parsed_as_its_case_expects(note):
    document = MarkdownParser().parse(note.read_bytes(), note.name)

    def line(at):
        return document.text.count("\n", 0, at) + 1

    found = {
        "title": document.title,
        "tags": list(document.metadata.tags),
        "lang": document.lang,
        "warnings": list(document.warnings),
        "blocks": [
            [block.kind.value, line(block.start), line(block.end), block.level, block.label]
            for block in document.blocks
        ],
    }
    assert found == json.loads(note.with_suffix(".json").read_text("utf-8"))


def test_the_language_of_the_front_matter_wins():
    data = "---\nlang: en\n---\n한국어로 쓴 글이다.\n".encode()
    assert MarkdownParser().parse(data, "a.md").lang == "en"


def test_front_matter_is_found_behind_a_byte_order_mark():
    document = MarkdownParser().parse(b"\xef\xbb\xbf---\ntitle: T\n---\nx\n", "a.md")
    assert document.title == "T"
    assert document.text[document.blocks[0].start :] == "x\n"


def test_losses_of_decoding_are_warned_of():
    document = MarkdownParser().parse("한글 글자 \xff".encode() + b"\xff", "a.md")
    assert document.warnings == ("characters that are not utf-8 were replaced: 1",)

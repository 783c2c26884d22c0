import base64
import json
import random
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


def parse(text, path="a.md"):
    return MarkdownParser().parse(text.encode(), path)


def list_texts(document):
    return [document.text[block.start : block.end] for block in document.blocks]


def test_noise_is_in_no_block_and_lines_stay_those_of_the_file():
    text = (
        "# A\n\n<!-- c -->\n\n{{< note >}}\nMind\n{{< /note >}}\n\n<div>\n</div>\n\n%% x %%\nend\n"
    )
    document = parse(text)
    assert document.text == text
    assert list_texts(document) == ["# A", "Mind", "end"]


def test_text_of_components_stays():
    text = "import Tabs from '@theme/Tabs';\n\n# T\n\n<Tabs>\n  <TabItem value='a'>\n\nRun it.\n\n"
    text += "  </TabItem>\n</Tabs>\n"
    assert list_texts(parse(text, "a.mdx")) == ["# T", "Run it."]


def test_a_table_in_a_shortcode_is_a_table():
    document = parse("{{< table >}}\na | b\n--|--\n1 | 2\n{{< /table >}}\n")
    assert [block.kind.value for block in document.blocks] == ["table"]


def test_encoded_data_is_cut_out_of_its_block_with_a_warning():
    data = base64.b64encode(random.Random(2).randbytes(900)).decode()
    document = parse(f"- a\n- ![x](data:image/png;base64,{data})\n- b\n")
    assert list_texts(document) == ["- a", "- b"]
    assert document.warnings == ("lines of encoded or minified data were left out: 1",)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (
            "#work and #work/project-x, #2024/plan #한글",
            ["work", "work/project-x", "2024/plan", "한글"],
        ),
        ("- [ ] call #Jane_Doe\n> quote #q", ["Jane_Doe", "q"]),
        ("#123 #1a2b3c x#no http://a.b/#no (#no) \\#no &#35;no", []),
        ("`#no`\n\n```\n#no\n```\n\n# no #no\n\n<p>#no</p>\n", []),
        ("*#no* **x**#no ##no", []),
        ("%% #no %%\n\n#yes", ["yes"]),
        ("---\ntags: [front]\n---\n#inline\n", ["front", "inline"]),
        ("tags:: page, other\n\n- #inline\n", ["page", "other", "inline"]),
    ],
)
def test_inline_tags_are_added_to_those_of_the_note(text, tags):
    assert list(parse(text).metadata.tags) == tags


def test_properties_of_a_page_are_metadata_and_text():
    document = parse(
        "title:: T\nalias:: A, B\nauthor:: Jane Doe\ndate:: [[Mar 1st, 2024]]\n\n- text\n"
    )
    assert document.title == "T"
    assert document.metadata.aliases == ("A", "B")
    assert document.metadata.authors == ("Jane Doe",)
    assert document.metadata.date == "2024-03-01"
    assert "alias:: A, B" in list_texts(document)[0]


def test_callouts_tasks_fields_and_block_ids_are_text():
    text = "> [!note] Mind\n> the gap\n\n- [x] done ^id-1\n\n[due:: tomorrow] paid:: no\n"
    assert list_texts(parse(text)) == text.strip().split("\n\n")


def test_links_in_left_out_text_do_not_count():
    assert parse("[[a]]\n\n<!-- [[b]] -->\n\n%% [[c]] %%\n").links == ("a",)

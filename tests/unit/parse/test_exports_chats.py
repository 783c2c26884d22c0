import json

import pytest

from kebab.core.media import CHAT, detect_media_type
from kebab.errors.catalog import ParseFailed
from kebab.parse.exports import ChatExportParser
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats" / "chats"


def parse(content, path="conversations.json"):
    return ChatExportParser().parse(json.dumps(content).encode(), path)


def read_sample(name):
    return ChatExportParser().parse((SAMPLES / name).read_bytes(), name)


CHATGPT = """# Tides (2024-03-01)

**user:** When is high tide?

**assistant:** At six.

Why

The moon.

```python
x = 1
```"""
CLAUDE = """# Beds (2024-03-02)

**human:** What grows north?

**assistant:** Carrots."""
SLACK = """# general 2024-03-01

**Ada Gray:** 회의는 세 시에.

**U2:** Fine."""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("chatgpt/conversations.json", CHATGPT),
        ("claude/conversations.json", CLAUDE),
        ("general/2024-03-01.json", SLACK),
    ],
)
def test_conversations_are_sections_with_their_speakers(name, text):
    document = read_sample(name)
    assert document.text.replace("## Why", "Why") == text
    assert [block.label for block in document.blocks if block.level] == [
        line[2:] for line in text.split("\n") if line.startswith("# ")
    ]


def test_one_conversation_names_the_document_and_several_do_not():
    one = {"name": "One", "chat_messages": [{"sender": "human", "text": "a"}]}
    assert parse([one]).title == "One"
    assert parse([one, one | {"name": "Two"}], "claude/conversations.json").title == (
        "claude/conversations.json"
    )


def test_the_thoughts_of_a_model_are_left_out():
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}]
    document = parse([{"name": "One", "chat_messages": [{"sender": "a", "content": content}]}])
    assert document.text == "# One\n\n**a:** Yes."
    assert [one.text for one in document.omissions] == ["hm"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"ts": "1", "username": "Bot", "attachments": [{"title": "Card"}]}, "**Bot:** Card"),
        ({"ts": "1", "user": "U1", "blocks": [{"e": [{"text": "Block"}]}]}, "**U1:** Block"),
        ({"ts": "1", "user": "U1", "files": [{"name": "a", "preview": "b"}]}, "**U1:** a\n\nb"),
        ({"ts": "1", "user": "U1", "text": "At <!date^1^x|noon> <!here>"}, "**U1:** At noon @here"),
    ],
)
def test_a_message_of_slack_has_what_its_program_shows(said, text):
    assert parse([said], "c/2024-03-01.json").text.partition("\n\n")[2] == text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"result": "Page"}, "Page"),
        ({"parts": ["Yes\ue200cite\ue202x\ue201."]}, "Yes."),
        ({"parts": ['{"name": "N", "content": "C"}']}, "N\n\nC"),
    ],
)
def test_a_message_of_chatgpt_has_what_its_program_shows(content, text):
    said = {"message": {"author": {"role": "tool"}, "content": content}}
    assert parse([{"title": "T", "mapping": {"a": said}}]).text == f"# T\n\n**tool:** {text}"


@pytest.mark.parametrize(
    "content",
    [
        {"passed": 3, "failed": 0},
        [1, 2],
        [{"mapping": {"a": 1}, "current_node": "a"}],
        [{"mapping": {"a": {"parent": "a", "message": 1}}, "current_node": "a"}],
        [{"mapping": [], "title": 3}],
        [{"chat_messages": 3}],
        [{"ts": 1, "text": None}],
    ],
)
def test_json_of_another_shape_is_read_as_data(content):
    assert parse(content).text == json.dumps(content)


def test_a_time_out_of_range_is_no_day():
    said = {"author": {"role": "user"}, "content": {"parts": ["a"]}, "create_time": 1e300}
    content = [{"mapping": {"a": {"message": said}}, "current_node": "a", "title": "T"}]
    assert parse(content).title == "T"


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ParseFailed, match="binary data"):
        ChatExportParser().parse(bytes(range(256)) * 4, "conversations.json")


@pytest.mark.parametrize(
    "name", ["conversations.json", "a/CONVERSATIONS.json", "general/2024-03-01.json"]
)
def test_the_files_of_exports_are_known_by_their_names(name):
    assert detect_media_type(name) == CHAT
    assert detect_media_type(f"{name}.json") == "application/json"

import json

import pytest

from kebab.cli.commands.review import MAX_BYTES, read_older_items
from kebab.errors.catalog import InvalidInput, IoError, TooLarge
from tests.fakes.console import standard_input

ITEM = {"key": "spelling", "severity": "error", "message": "why", "evidence": "teh"}
FIXED = {**ITEM, "suggestion": "the"}


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "items"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_older_items(str(path))

    return read_text


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([ITEM, FIXED]),
        json.dumps({"version": "v1", "items": [ITEM, FIXED]}, indent=2),
        f"{json.dumps(ITEM)}\n\n{json.dumps(FIXED)}\r\n",
        "\ufeff" + json.dumps([ITEM, FIXED]),
    ],
    ids=["list", "object", "lines", "byte order mark"],
)
def test_items_are_a_list_or_in_an_object_or_on_lines(read, text):
    assert [item.suggestion for item in read(text)] == [None, "the"]


def test_a_file_may_hold_one_item_or_none(read):
    assert len(read(json.dumps(ITEM, indent=1))) == 1
    assert read("") == []
    assert read("[]") == []


def test_items_come_from_stdin():
    with standard_input(json.dumps([ITEM]).encode()):
        assert read_older_items("-")[0].evidence == "teh"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (json.dumps([ITEM, {**ITEM, "severity": 3}]), "$[1].severity"),
        (json.dumps({"items": [{**ITEM, "more": 1}]}), "$.items[0]"),
        (json.dumps({"other": []}), "$"),
        ("3", "$"),
        (f"{json.dumps(ITEM)}\n{{}}\n", "$[1]"),
        (f"{json.dumps(ITEM)}\nnot JSON\n", "$[1]"),
        (b"\xff\xfe\x00", "$[0]"),
        (b"[" * 100_000, "$[0]"),
    ],
)
def test_another_shape_is_refused_with_its_path(read, text, field):
    with pytest.raises(InvalidInput) as caught:
        read(text)
    assert caught.value.field == field


def test_a_missing_file_and_a_large_one_are_refused(read, tmp_path):
    with pytest.raises(IoError):
        read_older_items(str(tmp_path / "missing"))
    with pytest.raises(IoError):
        read_older_items(str(tmp_path))
    with pytest.raises(TooLarge):
        read(b" " * (MAX_BYTES + 1))

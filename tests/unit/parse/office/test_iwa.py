import pytest

from kebab.parse.office.iwa import Message
from kebab.parse.office.iwork import PagesParser
from tests.unit.parse.office.iwork_files import build_iwork, message, pack


def test_fields_are_read_by_their_numbers():
    found = Message(message({1: [5, 300], 2: {1: {3: "text"}}, 4: b"\x01\xac\x02"}) + b"\x2dabcd")

    assert (found.list_numbers(1), found.get_number(1), found.get_number(9)) == ([5, 300], 300, 0)
    assert (found.get_message(2, 1).get_text(3), found.get_message(7, 1).get_text(3)) == (
        "text",
        "",
    )
    assert (found.list_numbers(4), found.get_bytes(5)) == ([1, 300], b"abcd")


@pytest.mark.parametrize("data", [b"\x0b", b"\x0a\x05a", b"\x08" + b"\xff" * 10 + b"\1", b"\x08"])
def test_what_is_no_message_is_refused(data):
    with pytest.raises((ValueError, IndexError)):
        Message(data)


@pytest.mark.parametrize("part", [b"\0\5\0\0\xff", pack(b"x" * 99)[:-9], pack(b"x", 1 << 21)])
def test_a_damaged_part_costs_itself(part):
    objects = {1: (10000, {4: {1: 2}}), 2: (2001, {3: "text"})}
    data = build_iwork(objects, files={"Index/Tables/Tile.iwa": part})
    document = PagesParser().parse(data, "a")

    assert document.text == "text"
    assert document.warnings == ("`Index/Tables/Tile.iwa` is damaged: its objects are left out",)

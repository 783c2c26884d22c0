import base64

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from kebab.cli.channels import OutputChannel
from kebab.cli.picker import Selection, pick_hit
from kebab.cli.render.canvas import Canvas
from kebab.errors.catalog import InvalidInput, StoreCorrupt
from tests.fakes import replies

CANVAS = Canvas(width=60)
DOWN, ESCAPE, CTRL_C = "\x1b[B", "\x1b", "\x03"


def hits(count):
    return [
        replies.hit(rank, citation=replies.line_citation(start=rank, end=rank + 1))
        for rank in range(1, count + 1)
    ]


@pytest.fixture
def queries():
    return []


@pytest.fixture
def opened():
    return []


@pytest.fixture
def sent():
    """The control sequences that the terminal got."""
    return []


class Screen(DummyOutput):
    def __init__(self, sent):
        self.sent = sent

    def write_raw(self, data):
        self.sent.append(data)


@pytest.fixture
def search(queries):
    """Return twelve hits for every query but a few."""

    def run(query):
        queries.append(query)
        if query == "broken":
            raise StoreCorrupt(path="/kb", cause="damaged")
        if query == "-x":
            raise InvalidInput(field="$.query", cause="only exclusions")
        return replies.response(*hits(12), query=query)

    return run


@pytest.fixture
def pick(search, opened, sent):
    """Choose a hit with these keys."""

    def run(keys, query="backup", *, opens=False):
        with create_pipe_input() as keyboard:
            keyboard.send_text(keys)
            channel = OutputChannel(2, "<stderr>")
            devices = (keyboard, Screen(sent))

            def open_hit(hit, _):
                opened.append(hit.rank)
                keyboard.send_text(ESCAPE if opens else "\r")

            selection = Selection(search, open_hit, opens)
            return pick_hit(selection, query, channel, color=False, devices=devices)

    return run


@pytest.mark.parametrize(
    ("keys", "rank"), [("\r", 1), (DOWN + DOWN + "\r", 3), ("\x0e\x0e\x10\r", 2)]
)
def test_enter_chooses_the_marked_hit(pick, keys, rank):
    assert pick(keys).rank == rank


def test_examples_are_shown_without_hits(search):
    selection = Selection(search)
    for query, note in (("", ""), ("-x", "only exclusions")):
        selection.update(query)
        assert "  how do I restore a backup" in selection.draw_preview(CANVAS)
        assert note in selection.note


def test_where_no_shell_waits_for_the_reference_enter_opens_the_hit(pick, opened):
    assert pick(DOWN + "\r", opens=True) is None
    assert opened == [2]


def test_a_reference_is_sent_to_the_clipboard_of_the_terminal(pick, sent):
    assert pick("\x19" + ESCAPE) is None
    (code,) = [base64.b64decode(one[7:-1]) for one in sent if one.startswith("\x1b]52;c;")]
    assert code == b"ops/backup.md:1-2"


def test_the_list_marks_the_chosen_hit(search):
    selection = Selection(search)
    selection.update("x")
    selection.move(9)

    lines = selection.draw_list(CANVAS)

    assert lines[0].split()[:2] == ["0.83", "strong"]
    assert [line for line in lines if line.startswith("> ")] == [
        line for line in lines if "backup.md:10" in line
    ]


def test_the_preview_is_the_passage_and_can_be_scrolled(search):
    selection = Selection(search)
    selection.update("x")

    shown = selection.draw_preview(CANVAS)
    assert shown[1:] == [
        "    Backups > Restoring",
        "    Stop the writer, then restore the snapshot.",
    ]
    selection.turn(1)
    assert selection.draw_preview(CANVAS) == shown[1:]

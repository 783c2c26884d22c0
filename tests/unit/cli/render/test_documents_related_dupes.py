from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_duplicates
from tests.fakes import replies

TERMINAL = Canvas(width=60)


def drawn(reply, canvas=TERMINAL, next_page=""):
    return list(render_duplicates(reply, canvas, next_page))


def test_a_terminal_gets_groups_with_their_locations():
    reply = replies.duplicates(replies.duplicate_group())

    assert drawn(reply) == [
        "2 near copies of a passage  Backups",
        "    Stop the writer, then restore the snapshot.",
        "    same  ops/backup.md:12",
        "    0.83  old/backup.md:4",
        "",
        "1 group among 12 passages",
    ]


def test_a_pipe_gets_fields_between_tabs():
    first, second = drawn(replies.duplicates(replies.duplicate_group()), Canvas())

    assert first.split("\t")[:4] == ["1", "passage", "exact", "1.00"]
    assert second.split("\t")[2:] == [
        "near",
        "0.83",
        replies.DOC,
        replies.CHUNK,
        "old/backup.md:4",
    ]


def test_documents_are_named_by_their_path():
    member = replies.duplicate_member(chunk_id=None)
    group = replies.duplicate_group(unit="document", kind="exact", members=[member, member])

    title, _, first, *_ = drawn(replies.duplicates(group))

    assert title.startswith("2 copies of a document")
    assert first == "    same  ops/backup.md"


def test_the_command_for_more_groups_is_shown():
    reply = replies.duplicates(replies.duplicate_group(), has_more=True, next_cursor="C", total=9)

    assert drawn(reply, next_page="kebab dupes --cursor C")[-2:] == [
        "9 groups among 12 passages",
        "more: kebab dupes --cursor C",
    ]


def test_no_copies_are_reported_with_suggestions():
    assert drawn(replies.duplicates()) == [
        "no copies among 12 passages",
        "lower the threshold: kebab dupes --threshold 0.5",
    ]
    assert drawn(replies.duplicates(exact=True))[1] == "look for near copies too: kebab dupes"
    assert "drop a filter" in drawn(replies.duplicates(compared=0))[1]
    assert drawn(replies.duplicates(), Canvas()) == []


def test_text_of_a_file_cannot_control_the_terminal():
    member = replies.duplicate_member(title="\x1b[2J\u202e")
    group = replies.duplicate_group(snippet="\x1b[2Jgone", members=[member, member])

    text = "\n".join(
        [*drawn(replies.duplicates(group)), *drawn(replies.duplicates(group), Canvas())]
    )

    assert "\x1b" not in text
    assert "\u202e" not in text

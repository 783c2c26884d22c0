from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.documents import (
    render_chunk,
    render_document,
    render_document_list,
    render_duplicates,
    render_removed_documents,
    render_reset,
    render_reset_plan,
)
from tests.fakes import replies

TERMINAL = Canvas(width=60)


def test_columns_fit_the_terminal():
    documents = [
        replies.summary(doc_path="notes/" * 20 + "백업.md", title="아주 긴 제목 " * 10),
        replies.summary(freshness="changed", chunk_count=1234),
    ]

    lines = list(render_document_list(replies.doc_list(*documents), TERMINAL))

    assert all(measure_width(line) <= 60 for line in lines)
    assert lines[0].split() == ["document", "title", "passages", "date"]
    assert "/notes/백업.md" in lines[1]
    assert lines[2].endswith("changed")
    assert "1,234" in lines[2]


def test_the_date_is_that_of_the_document_else_that_of_its_file():
    reply = replies.doc_list(
        replies.summary(doc_path="a.md", date="2024-03-02"),
        replies.summary(modified_at="2025-01-31T09:00:00Z"),
    )

    _, dated, plain, *_ = render_document_list(reply, TERMINAL)

    assert "2024-03-02" in dated
    assert "2025-01-31" in plain
    assert "\t2024-03-02\t" in next(render_document_list(reply, Canvas()))


def test_a_file_and_the_documents_within_it_are_one_line_on_a_terminal(tmp_path):
    (tmp_path / "box.mbox").write_text("")
    names = ("box.mbox!/1.eml", "box.mbox!/2.eml", "dir!/a.md", "dir!/b.md")
    documents = [replies.summary(source=str(tmp_path), doc_path=name) for name in names]
    reply = replies.doc_list(*documents)

    _, box, *rest = render_document_list(reply, TERMINAL)
    whole = list(render_document_list(reply, TERMINAL, whole=True))

    assert box.split()[0] == "box.mbox"
    assert box.endswith("2 documents")
    assert [line.split()[0] for line in rest[:2]] == ["dir!/a.md", "dir!/b.md"]
    assert len(whole) == 7


def test_a_document_is_shown_with_its_passages():
    reply = replies.doc_inspection(
        warnings=["bad front matter"], chunks=[replies.brief(vector="pending")]
    )

    lines = list(render_document(reply, Canvas()))

    assert lines[0] == "Backups"
    assert "note: bad front matter" in lines
    assert lines[-2] == "1 passage"
    assert lines[-1].endswith("ops/backup.md:12  Backups > Restoring  41 characters  (pending)")


def test_a_passage_is_shown_with_its_neighbours_and_its_text():
    lines = list(render_chunk(replies.chunk_inspection(), Canvas()))

    assert "vector    committed (fastembed-minilml6-384-v1)" in lines
    assert f"next      {'e' * 32}" in lines
    assert not [line for line in lines if line.startswith("previous")]
    assert lines[-2:] == ["Stop the writer,", "then restore."]


def test_a_terminal_gets_the_passages_as_columns():
    lines = list(render_document(replies.doc_inspection(), Canvas(width=60)))

    heads = next(number for number, line in enumerate(lines) if "characters" in line)
    assert lines[heads].split() == ["id", "place", "headings", "characters"]
    assert lines[heads + 1].split()[1] == "12-13"
    assert all(len(line) <= 60 for line in lines)


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


def test_removed_documents_and_their_return_are_reported():
    lines = list(render_removed_documents(replies.remove_report(), Canvas()))

    assert lines[:2] == [
        "ops/backup.md  Backups",
        "1 document and 3 passages taken out of the index",
    ]
    assert "the next ingest reads them again" in lines[2]


def test_a_plan_lists_deletions_and_what_stays():
    lines = list(render_reset_plan(replies.reset_report(models_removed=True), Canvas()))

    assert lines[0] == "this deletes 12.3 kB from /home/ada/.local/share/kebab:"
    assert any(line.startswith("ask sessions") for line in lines)
    assert "model weights are deleted too" in lines
    assert lines[-1] == "your own files stay as they are"


def test_a_reset_lists_deleted_and_foreign_files():
    assert list(render_reset(replies.reset_report(), Canvas())) == [
        "deleted  kebab.db",
        "deleted  vectors",
        "kept     mine.txt",
        "12.3 kB freed",
    ]


def test_with_nothing_to_delete_it_is_noted():
    reply = replies.reset_report(removed=[], kept=[], bytes_freed=0)

    assert list(render_reset(reply, Canvas())) == [
        "nothing to delete in /home/ada/.local/share/kebab"
    ]
